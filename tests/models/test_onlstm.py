"""The ON-LSTM: its cell against published numbers, its softmax, its trees, its folder."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from models_for_tests import TEXT, onlstm
from torch import nn
from training_for_tests import learn

from syntagm.cli import main
from syntagm.core import ModelError, UsageError, seal
from syntagm.models import AdaptiveSoftmax, Dropout, OnLstmNetwork, Softmax, names, of_distances
from syntagm.models.onlstm.model import Layer
from syntagm.training import trees as _trees

SENTENCES = ["The boat was new .", "The boat was sold .", "The boat", "No one knows who the painter admired ."]
# h1, h2, c1, c2, d_f after each input, and d_i; the other half of h and c is 0.
STEPS = [
    ((1, -0.5), (0.0203751, 0.1409152), (0.0327449, 0.3058429), 0.3112297, 0.3970648),
    ((0.25, 2), (0.0600431, -0.1893902), (0.0737984, -0.3740753), 0.1279772, 0.4681545),
    ((-1.5, 0.75), (0.2029374, -0.2439614), (0.3158210, -0.3926417), 0.0817637, 0.2974738),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained model's folder."""
    place = tmp_path_factory.mktemp("onlstm")
    (place / "text.txt").write_text(TEXT, encoding="utf-8")
    learn("onlstm", place / "model", place / "text.txt")
    return place / "model"


def filled(layer: Layer) -> Layer:
    """The weights of the check values."""
    for linear in (layer.input, layer.recurrent):
        row, column = torch.arange(len(linear.weight))[:, None], torch.arange(linear.in_features)
        with torch.no_grad():
            linear.weight.copy_(((7 * row + 3 * column) % 11 - 5) / 10)
            linear.bias.copy_(((5 * row[:, 0]) % 7 - 3) / 10)
    return layer


def test_a_cell_has_the_numbers_of_the_original() -> None:
    layer = filled(Layer(2, 4, 2).double())
    hidden = cell = torch.zeros(1, 4, dtype=torch.double)
    for inputs, wanted_hidden, wanted_cell, wanted_forget, wanted_input in STEPS:
        gates = layer.input(torch.tensor([inputs], dtype=torch.double)) + layer.recurrent(hidden)
        hidden, cell, distance = layer.cell(gates, cell)
        assert hidden[0].tolist() == pytest.approx([*wanted_hidden, 0, 0], abs=1e-7)
        assert cell[0].tolist() == pytest.approx([*wanted_cell, 0, 0], abs=1e-7)
        assert distance.tolist() == pytest.approx([wanted_forget], abs=1e-7)
        assert float((1 - gates.detach()[:, :2].softmax(1).cumsum(1)).mean()) == pytest.approx(wanted_input, abs=1e-7)


def test_the_last_chunk_stays_zero_whatever_is_read() -> None:
    torch.manual_seed(2)
    layer = Layer(3, 20, 5).double()
    hidden = cell = torch.zeros(4, 20, dtype=torch.double)
    for _ in range(50):
        hidden, cell, _ = layer.cell(layer.input(9 * torch.randn(4, 3).double()) + layer.recurrent(hidden), cell)
    assert float(hidden[:, :15].detach().abs().min()) > 1e-9
    assert float(hidden[:, 15:].detach().abs().max()) < 1e-12
    assert float(cell[:, 15:].detach().abs().max()) < 1e-12


@pytest.mark.parametrize(("words", "millions"), [(24_000 + 68, 30.9), (170_000 + 74, 89.4)])
def test_parameter_counts_are_those_of_hu_et_al(words: int, millions: float) -> None:
    with torch.device("meta"):
        network = OnLstmNetwork(words, 400, 1150, 3, 10)
    count = sum(parameter.numel() for parameter in network.parameters())
    assert count == words * 401 + 21_222_180
    assert round(count / 1e6, 1) == millions


def test_reading_at_once_and_word_by_word_are_the_same() -> None:
    model = onlstm()
    for answer in model.score(SENTENCES):
        ids = [0, *model.vocabulary.ids(answer.text.split())]
        with torch.no_grad():
            outputs, _ = model.network(torch.tensor(ids)[:, None], model.network.fresh(1))
            logs = model.network.decoder(outputs[:, 0]).double().log_softmax(1)
        wanted = [-float(logs[place, word]) / math.log(2) for place, word in enumerate(ids[1:])]
        np.testing.assert_allclose(answer.bits, wanted, rtol=0, atol=1e-5)


@pytest.mark.parametrize("share", ["yes", "no"])
def test_a_shared_prefix_is_read_once(monkeypatch: pytest.MonkeyPatch, share: str) -> None:
    read: list[int] = []
    step = OnLstmNetwork.step
    monkeypatch.setattr(OnLstmNetwork, "step", lambda self, ids, state: read.append(len(ids)) or step(self, ids, state))
    list(onlstm(sharing=share).score(["The boat was new", "The boat was sold", "The baker"]))
    assert read == ([1, 1, 2 - 1, 1] if share == "yes" else [3, 3, 2, 2])


def test_dropout_drops_the_same_neurons_at_all_steps_and_scales_the_others() -> None:
    network = OnLstmNetwork(9, 4, 8, 2, 4, dropout=Dropout(0.5, 0.5, 0.5, 0.5, 0.5)).train()
    dropped = network.dropped(torch.ones(6, 3, 400), 0.25)
    assert dropped.unique().tolist() == pytest.approx([0, 4 / 3])
    assert torch.equal(dropped, dropped[:1].expand(6, 3, 400))
    assert 0.6 < float(dropped.count_nonzero() / dropped.numel()) < 0.9
    assert not torch.equal(dropped[0, 0], dropped[0, 1]), "columns differ"
    layer = network.layers[0]
    weight = network._recurrent(layer)
    kept = weight != 0
    # Recurrent weights are dropped without scaling, and scaled down afterwards.
    assert torch.equal(weight[kept], layer.recurrent.weight[kept])
    assert 0.3 < float(kept.float().mean()) < 0.7
    torch.testing.assert_close(network.eval()._recurrent(layer), layer.recurrent.weight / 2)


def test_the_stored_weights_are_those_of_a_network_without_dropout() -> None:
    torch.manual_seed(1)
    trained = OnLstmNetwork(9, 4, 8, 2, 4, dropout=Dropout(0.1, 0.2, 0.3, 0.4, 0.45)).eval()
    stored = OnLstmNetwork(9, 4, 8, 2, 4).eval()
    with torch.no_grad():
        for name, parameter in stored.named_parameters():
            parameter.copy_(trained.stored()[name])
        ids = torch.tensor([[0, 1], [3, 4], [8, 2]])
        for wanted, found in zip(trained(ids, trained.fresh(2))[1], stored(ids, stored.fresh(2))[1], strict=True):
            assert torch.equal(wanted, found)


def test_all_occurrences_of_a_dropped_word_are_dropped() -> None:
    torch.manual_seed(4)
    network = OnLstmNetwork(30, 4, 4, 1, 2, dropout=Dropout(words=0.5)).train()
    seen: list[torch.Tensor] = []
    network.layers[0].input.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
    network.raw(torch.arange(30).repeat(2, 1).T.reshape(6, 10), network.fresh(10))
    rows = seen[0].reshape(30, 2, 4)
    assert torch.equal(rows[:, 0], rows[:, 1])
    gone = (rows[:, 0] == 0).all(1)
    assert 5 < int(gone.sum()) < 25
    torch.testing.assert_close(rows[~gone, 0], 2 * network.encoder.weight[~gone])


def test_an_adaptive_softmax_sums_to_one_and_its_parts_agree() -> None:
    torch.manual_seed(1)
    layer, hidden = AdaptiveSoftmax(6, 50, (10, 20, 35)).double(), torch.randn(7, 6).double()
    nn.init.normal_(layer.weight)
    logs = layer.logits(hidden)
    torch.testing.assert_close(logs.exp().sum(1), torch.ones(7).double())
    rows, targets = torch.randint(0, 7, (40,)), torch.randint(0, 50, (40,))
    [nats] = layer.nats([(hidden, targets, rows)])
    torch.testing.assert_close(nats, -logs[rows, targets])
    # A tail by hand: word 25 is the sixth of the second tail.
    scores = hidden[0] @ layer.weight.T + layer.bias
    head = torch.cat([scores[:10], hidden[0] @ layer.tails.weight.T + layer.tails.bias]).log_softmax(0)
    torch.testing.assert_close(logs[0, 25], head[11] + scores[20:35].log_softmax(0)[5])


@pytest.mark.parametrize("layer", [Softmax(6, 50), AdaptiveSoftmax(6, 50, (10, 20, 35))], ids=["full", "adaptive"])
def test_output_layers_give_one_surprisal_in_three_ways(layer: Softmax | AdaptiveSoftmax) -> None:
    torch.manual_seed(1)
    hidden, words = torch.randn(7, 6), torch.randint(0, 50, (7,))
    expected = -layer.logits(hidden).log_softmax(1)[torch.arange(7), words]
    with torch.no_grad():
        # The later portion is the smaller one, and its rows are in another order.
        portions = (hidden[:5], words[:5], torch.arange(5)), (hidden[5:], words[5:].flip(0), torch.tensor([1, 0]))
        first, second = layer.nats(portions)
    torch.testing.assert_close(torch.cat([first, second.flip(0)]), expected)
    torch.testing.assert_close(layer.loss(hidden, words), expected.mean())
    assert (layer.plain is layer) == (type(layer) is Softmax)


def test_the_record_says_which_softmax() -> None:
    adaptive, full = onlstm((7, 12)), onlstm()
    assert (adaptive.record["softmax"], full.record["softmax"]) == ("adaptive 7, 12", "full")
    assert len({adaptive.fingerprint, full.fingerprint, onlstm((7, 13)).fingerprint}) == 3


def split_greedily(words: list[str], distances: list[float]) -> str:
    """The algorithm of Shen et al. 2018, recursively."""
    if len(words) == 1:
        return words[0]
    at = int(np.argmax(distances))
    before = [split_greedily(words[:at], distances[:at])] if at else []
    after = [split_greedily(words[at + 1 :], distances[at + 1 :])] if at + 1 < len(words) else []
    right = f"(X {words[at]} {after[0]})" if before and after else " ".join([words[at], *after])
    return f"(X {' '.join([*before, right])})"


def test_trees_are_those_of_the_recursive_algorithm() -> None:
    random = np.random.default_rng(3)
    for length in range(2, 40):
        # Many distances are equal.
        distances = random.integers(0, 8, length) / 8
        text_words = [f"w{number}" for number in range(length)]
        tree = of_distances(text_words, distances)
        assert tree == split_greedily(text_words, distances.tolist())
        assert _trees.words(next(_trees.parse([tree]))) == text_words


def test_a_long_text_has_a_tree() -> None:
    assert of_distances(["a"] * 20_000, np.arange(20_000.0)).count("(X") == 19_999


def test_trees_of_prefixes_and_odd_texts() -> None:
    model = onlstm(tokens="treebank")
    odd = ["The boat (was) new.", "", "Porto", "☃ 雪人 קרח \U0001f468‍\U0001f469‍\U0001f467", " two  blanks\t."]
    together = list(model.parse(odd * 2))
    assert together[: len(odd)] == together[len(odd) :] == [next(iter(model.parse([text]))) for text in odd]
    trees = together[0]
    assert [len(_trees.words(next(_trees.parse([tree])))) for tree in trees] == [1, 2, 3, 4, 5, 6, 7]
    assert _trees.words(next(_trees.parse(trees[-1:]))) == ["The", "boat", "-LRB-", "was", "-RRB-", "new", "."]
    assert together[1] == ()
    assert together[2] == ("(X Porto)",)


@pytest.mark.slow
def test_the_layer_changes_trees_and_no_numbers() -> None:
    trees, fingerprints, named = set(), set(), set()
    for options in ({}, {"layer": "1"}, {"layer": "2"}, {"layer": "3"}):
        model = onlstm(**options)
        trees.add(tuple(tree[-1] for tree in model.parse([TEXT.replace("\n", " ")])))
        fingerprints.add(model.fingerprint)
        named.add(model.name)
    assert (len(trees), len(fingerprints), len(named)) == (3, 1, 1)
    assert onlstm(layers=1).parse(["The boat was"])
    with pytest.raises(UsageError, match="model option layer: 4; expected at most 3"):
        onlstm(layer="4")


@pytest.mark.slow
def test_parse_prints_trees_without_labels_and_compares_spans(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = tmp_path / "some.trees"
    gold.write_text("(S (NP (D The) (N boat)) (VP (V was) (A new)))\n", encoding="utf-8")
    assert main(["parse", str(folder), "--file", str(gold)]) == 0
    shown = capsys.readouterr()
    assert _trees.words(next(_trees.parse([shown.out]))) == ["The", "boat", "was", "new"]
    assert shown.err.startswith("unlabelled: precision ")
    assert len(shown.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("format", 2, "format 2"),
        ("chunk", 0, "chunk = 0"),
        ("chunk", 3, "embedding = 8; expected a multiple of chunk, 3"),
        ("hidden", 16, "of shape"),
        ("layers", 10**6, "the arrays of 1000000 layers"),
        ("cutoffs", [3], "missing or unexpected"),
        ("cutoffs", [10**6], r"cutoffs = \[1000000\]"),
        ("cutoffs", [5, 3], r"cutoffs = \[5, 3\]"),
        ("cutoffs", [True], r"cutoffs = \[True\]"),
        ("cutoffs", None, "cutoffs = None"),
        ("tokens", "letters", "tokens = 'letters'"),
        ("family", "lstm", "a model of another family"),
    ],
)
def test_wrong_folders_are_refused(folder: Path, tmp_path: Path, key: str, value: object, message: str) -> None:
    place = tmp_path / "copy"
    place.mkdir()
    for name in ("model.json", "model.safetensors", "vocabulary.txt"):
        (place / name).write_bytes((folder / name).read_bytes())
    shown = json.loads((place / "model.json").read_text()) | {key: value}
    (place / "model.json").write_text(json.dumps(shown))
    seal.write(place)
    with pytest.raises(ModelError, match=message):
        names.load(f"onlstm:{place}")
