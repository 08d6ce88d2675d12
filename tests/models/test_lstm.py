"""The LSTM: its numbers against plain PyTorch, its policies, its folder."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from models_for_tests import BFLOAT16, TEXT, lstm
from safetensors.torch import load_file, save_file
from torch import nn

from syntagm.core import ModelError, Progress, UsageError, seal
from syntagm.models import Lstm, LstmNetwork, names, surprisals
from syntagm.models.recurrent.model import HEAD_ROWS
from syntagm.training import Lstm as Learner, LstmSettings, OnePass, Settings, Size, Steps, Words, loop
from syntagm.training.lstm.train import train
from syntagm.training.recurrent import ROWS

SENTENCES = ["The boat was new .", "The boat was sold .", "The boat", "No one knows who the painter admired ."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained model's folder."""
    place = tmp_path_factory.mktemp("lstm")
    (place / "text.txt").write_text(TEXT * 3, encoding="utf-8")
    corpus = [str(place / "text.txt")]
    settings = LstmSettings(Size(8, 8, 2, 0.0), Words(threshold=4), Steps(batch=2, window=7), Settings(1, "sgd", 5.0))
    train(corpus, corpus, place / "model", settings)
    return place / "model"


def plain(model: Lstm, ids: list[int]) -> list[float]:
    """Bits of each id but the first, by `nn.LSTM` and `log_softmax`."""
    with torch.no_grad():
        outputs, _ = model.network(torch.tensor(ids)[:, None], model.network.fresh(1))
        logs = model.network.decoder(outputs[:, 0]).double().log_softmax(1)
    return [-float(logs[place, word]) / math.log(2) for place, word in enumerate(ids[1:])]


@pytest.mark.parametrize("eos", ["yes", "no"])
@pytest.mark.parametrize("bos", ["yes", "no"])
def test_numbers_are_those_of_plain_pytorch(bos: str, eos: str) -> None:
    model = lstm(bos=bos, eos=eos)
    for answer in model.score(SENTENCES):
        ids = [0] * (bos == "yes") + model.vocabulary.ids(answer.text.split()) + [0] * (eos == "yes")
        wanted = [math.nan] * (bos == "no") + plain(model, ids)
        np.testing.assert_allclose(answer.bits, wanted, rtol=0, atol=1e-5)


def test_the_start_symbol_is_the_end_symbol() -> None:
    model = lstm()
    assert (model.bos, model.eos) == ("</s>", None)
    assert (lstm(bos="no").bos, lstm(eos="yes").eos) == (None, "</s>")


def test_unknown_words_are_read_as_their_class_and_marked() -> None:
    model = lstm()
    [answer] = model.score(["The zebra was"])
    assert answer.in_vocabulary.tolist() == [True, False, True]
    classed = model.vocabulary.words[model.vocabulary.ids(["zebra"])[0]]
    assert classed == "UNK-LC"
    # The class itself, if it stands in a text, has the same number; it is not known either.
    [written] = model.score([f"The {classed} was"])
    np.testing.assert_array_equal(answer.bits, written.bits)


def test_tokens_are_divided_as_saved_or_as_asked() -> None:
    [blanks] = lstm().score(["The boat was new."])
    [treebank] = lstm(tokens="treebank").score(["The boat was new."])
    assert (len(blanks.bits), len(treebank.bits)) == (4, 5)
    assert lstm().fingerprint != lstm(tokens="treebank").fingerprint


def test_sharing_prefixes_and_batches_change_nothing() -> None:
    texts = [f"{start} {end}" for start in SENTENCES for end in ("a b", "a c d", "e")]
    wanted = [answer.bits for answer in lstm(sharing="no").score(texts)]
    for options in ({}, {"batch": "1"}, {"batch": "9"}):
        for found, bits in zip(lstm(**options).score(texts), wanted, strict=True):
            np.testing.assert_allclose(found.bits, bits, rtol=0, atol=1e-5)


def test_a_shared_prefix_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    step = LstmNetwork.step
    monkeypatch.setattr(LstmNetwork, "step", lambda self, ids, state: read.append(len(ids)) or step(self, ids, state))
    network = LstmNetwork(9, 4, 4, 1).eval()
    list(surprisals(network, [[0, 1, 2, 3], [0, 1, 2, 4], [0, 1, 5]], 100))
    # After 0; after 0 1; after 0 1 2: a node each. The last numbers are never read.
    assert read == [1, 1, 1]
    read.clear()
    list(surprisals(network, [[0, 1, 2, 3], [0, 1, 2, 4], [0, 1, 5]], 100, share=False))
    assert read == [3, 3, 2]


def test_more_prefixes_than_rows_of_the_head_at_a_time() -> None:
    network = LstmNetwork(7, 4, 4, 1).eval()
    drawn = np.random.default_rng(1).integers(0, 7, (HEAD_ROWS, 6)).tolist()
    together = dict(surprisals(network, drawn, 10**6))
    for index in (0, 1, HEAD_ROWS // 2, HEAD_ROWS - 1):
        [(_, alone)] = surprisals(network, [drawn[index]], 10**6)
        np.testing.assert_allclose(together[index], alone, rtol=0, atol=1e-6)


@pytest.mark.parametrize("tokens", [3, ROWS, ROWS + 1, 2 * ROWS + 5])
def test_the_loss_and_its_gradients_are_those_of_plain_pytorch(tokens: int) -> None:
    torch.manual_seed(1)
    layer, hidden = nn.Linear(6, 50), torch.randn(tokens, 6, requires_grad=True)
    targets = torch.randint(0, 50, (tokens,))
    weights = [hidden, layer.weight, layer.bias]
    loss = nn.functional.cross_entropy(layer(hidden), targets)
    wanted = torch.autograd.grad(2 * loss, weights)
    ours = OnePass(layer).loss(hidden, targets)
    (2 * ours).backward()
    assert abs(float(ours.detach() - loss.detach())) < 1e-6
    for weight, gradient in zip(weights, wanted, strict=True):
        assert weight.grad is not None
        torch.testing.assert_close(weight.grad, gradient, rtol=1e-5, atol=1e-7)


def test_logits_far_beyond_the_range_of_exp_give_finite_losses() -> None:
    layer = nn.Linear(1, 2)
    with torch.no_grad():
        layer.weight[:], layer.bias[:] = torch.tensor([[1000.0], [-1000.0]]), torch.zeros(2)
    # log(exp(1000) + exp(-1000)) - (-1000) = 2000
    assert float(OnePass(layer).loss(torch.ones(1, 1, requires_grad=True), torch.tensor([1])).detach()) == 2000


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("optimiser", ["sgd", "adamw"])
def test_a_step_is_that_of_plain_pytorch_with_clipping(tmp_path: Path, optimiser: Any, tied: bool) -> None:
    """Whether the gradient of the embeddings comes in rows or whole, and alone or with that of the output layer."""
    (tmp_path / "text.txt").write_text(TEXT * 2, encoding="utf-8")
    corpus = [str(tmp_path / "text.txt")]
    settings = Settings(1, optimiser, 2.0, "constant", clip=0.05)
    torch.manual_seed(3)
    learner = Learner(corpus, corpus, LstmSettings(Size(6, 6, 2, 0.0, tied), steps=Steps(2, 5), loop=settings))
    torch.manual_seed(3)
    network = LstmNetwork(len(learner.vocabulary), 6, 6, 2, 0.0, tied)
    plain = torch.optim.SGD if optimiser == "sgd" else torch.optim.Adam
    choices = {} if optimiser == "sgd" else {"betas": (0.9, 0.95), "eps": 1e-8}
    steps = plain(network.parameters(), lr=2.0, **choices)
    loop_ = loop._Training(learner, settings, tmp_path, {}, Progress(), 0, 1)
    loop_.carried = learner.carried()
    state = network.fresh(2)
    for rows in list(learner.batches(0, 0, 1))[:3]:
        outputs, (hidden, cell) = network(rows[:-1], state)
        state = (hidden.detach(), cell.detach())
        steps.zero_grad()
        nn.functional.cross_entropy(network.decoder(outputs).flatten(0, 1), rows[1:].flatten()).backward()
        assert float(nn.utils.clip_grad_norm_(network.parameters(), 0.05)) > 0.05
        steps.step()
        loop_._step(rows, 9)
    # Adam divides by the size of a gradient: where one is all but 0, its rounding shows.
    close = 1e-5 if optimiser == "sgd" else 1e-2
    for ours, wanted in zip(learner.module.parameters(), network.parameters(), strict=True):
        torch.testing.assert_close(ours, wanted, rtol=close, atol=close)


def test_batches_are_columns_of_one_stream(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("a b c\nd e f\ng h\ni j k l\n")
    corpus, settings = [str(tmp_path / "text.txt")], LstmSettings(Size(2, 2, 1, 0.0), Words(threshold=1), Steps(2, 3))
    learner = Learner(corpus, corpus, settings)
    # a b c . d e f . | g h . i j k l . : 16 numbers, 8 a column
    words = [
        [learner.vocabulary.words[number] for number in row] for batch in learner.batches(0, 0, 1) for row in batch
    ]
    end = "</s>"
    first = [["a", "g"], ["b", "h"], ["c", end], [end, "i"]]
    second = [[end, "i"], ["d", "j"], ["e", "k"], ["f", "l"]]
    assert words == [*first, *second, ["f", "l"], [end, end]]
    # Two processes with a column each read the same two columns.
    halves = Learner(corpus, corpus, replace(settings, steps=Steps(1, 3)))
    for index, batch in enumerate(learner.batches(0, 0, 1)):
        parts = [halves.batches(0, rank, 2)[index] for rank in (0, 1)]
        assert torch.cat(parts, 1).tolist() == batch.tolist()


def test_held_out_nats_are_those_of_scoring(folder: Path) -> None:
    history = json.loads((folder / "training.json").read_text())["history"]
    model = names.load(f"{folder}?eos=yes")
    answers = list(model.score(TEXT.splitlines() * 3))
    # A word stands between blanks, and an end is one.
    words = sum(len(answer.text.split()) + 1 for answer in answers)
    bits = sum(float(answer.bits.sum()) for answer in answers) / words
    assert abs(bits - history[-1]["bits_per_word"]) < 1e-5


def test_a_plain_folder_says_its_family(folder: Path, tmp_path: Path) -> None:
    plain_name, full = names.load(str(folder)), names.load(f"lstm:{folder}")
    assert plain_name.name == full.name
    assert plain_name.fingerprint == full.fingerprint
    assert full.name.startswith("lstm:model@")
    (tmp_path / "model.json").write_text('{"family": "nonsense"}')
    with pytest.raises(ModelError, match="no family 'nonsense'"):
        names.parse(str(tmp_path))
    (tmp_path / "model.json").write_text("{}")
    with pytest.raises(ModelError, match="no family"):
        names.parse(str(tmp_path))
    (tmp_path / "model.json").write_text("[]")
    with pytest.raises(ModelError, match="a list; expected"):
        names.parse(str(tmp_path))


def copied(folder: Path, target: Path) -> Path:
    target.mkdir()
    for name in ("model.json", "model.safetensors", "vocabulary.txt"):
        (target / name).write_bytes((folder / name).read_bytes())
    return target


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("format", 2, "format 2"),
        ("hidden", "8", "hidden = '8'"),
        ("hidden", 9, "of shape"),
        ("layers", 0, "layers = 0"),
        ("layers", 1, "missing or unexpected"),
        ("layers", 10**6, "the arrays of 1000000 layers"),
        ("hidden", 10**6, "of shape"),
        ("embedding", 10**9, "embedding = 1000000000"),
        ("tied", 1, "tied = 1"),
        ("tied", True, "missing or unexpected"),
        ("tokens", "letters", "tokens = 'letters'"),
        ("embedding", None, "embedding = None"),
    ],
)
def test_wrong_folders_are_refused(folder: Path, tmp_path: Path, key: str, value: object, message: str) -> None:
    place = copied(folder, tmp_path / "copy")
    shown = json.loads((place / "model.json").read_text()) | {key: value}
    (place / "model.json").write_text(json.dumps(shown))
    seal.write(place)
    with pytest.raises(ModelError, match=message):
        names.load(f"lstm:{place}")


def test_damaged_weights_are_refused(folder: Path, tmp_path: Path) -> None:
    place = copied(folder, tmp_path / "copy")
    whole = (place / "model.safetensors").read_bytes()
    (place / "model.safetensors").write_bytes(whole[:-100])
    seal.write(place)
    with pytest.raises(ModelError, match=r"model\.safetensors: can't be read"):
        names.load(f"lstm:{place}")
    weights = load_file(folder / "model.safetensors")
    weights["decoder.bias"][0] = math.nan
    save_file(weights, place / "model.safetensors")
    seal.write(place)
    with pytest.raises(ModelError, match="not a number"):
        names.load(f"lstm:{place}")
    with pytest.raises(ModelError, match="no such folder"):
        names.load("lstm:nowhere")


def test_options_are_checked() -> None:
    for options in ({"bos": "auto"}, {"batch": "0"}, {"tokens": "letters"}, {"bias": "no"}):
        with pytest.raises(UsageError):
            lstm(**options)
    for size in ({"hidden": 0}, {"dropout": 1.0}, {"tied": True, "embedding": 4, "hidden": 5}):
        with pytest.raises(UsageError):
            Size(**size)


def test_without_precisions_of_products_bfloat16_is_refused_and_float32_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends, "mkldnn", object())  # as before PyTorch 2.9
    layer = nn.Linear(4, 6)
    assert math.isfinite(float(OnePass(layer).loss(torch.ones(1, 4), torch.tensor([1]))))
    with pytest.raises(UsageError, match=r"--dtype bf16: PyTorch .*; expected 2.9 or newer"):
        OnePass(layer, rounded=True)


@pytest.mark.slow
@BFLOAT16
def test_bfloat16_comes_to_about_the_same(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(TEXT * 8, encoding="utf-8")
    corpus, found = [str(tmp_path / "text.txt")], {}
    small = LstmSettings(Size(16, 16, 2, 0.0), steps=Steps(batch=2, window=9))
    for settings in (Settings(2, "sgd", 5.0), Settings(2, "sgd", 5.0, dtype="bf16")):
        [*_, row] = train(corpus, corpus, tmp_path / settings.dtype, replace(small, loop=settings))
        found[settings.dtype] = row["bits_per_word"]
    assert found["bf16"] != found["f32"]
    assert abs(found["bf16"] / found["f32"] - 1) < 0.05
