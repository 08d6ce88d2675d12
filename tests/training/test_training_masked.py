"""A BERT from scratch: what is masked, what is held out, what comes out."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from models_for_tests import TEXT
from training_for_tests import GPT2, learn

from syntagm.core import RunError, UsageError
from syntagm.models import names
from syntagm.training import Bert, MaskedSettings, MaskedText, TransformerSize
from syntagm.training.masked.train import SYMBOLS, masked, word_pieces


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "text.txt"
    path.write_text(TEXT * 4, encoding="utf-8")
    return path


def bert(corpus: Path, tmp_path: Path, **text: object) -> Bert:
    rows = replace(MaskedText(200, window=16, batch=4), **text)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=word_pieces([str(corpus)], rows), mask_token="[MASK]", pad_token="[PAD]"
    )
    return Bert([str(corpus)], [str(corpus)], tokenizer, MaskedSettings(TransformerSize(1, 8, 2, 32), rows, GPT2))


def test_of_the_chosen_tokens_eight_in_ten_are_masked_and_one_in_ten_is_another() -> None:
    rows = [np.array([2, *range(5, 95), 3])] * 500
    generator = np.random.Generator(np.random.PCG64(1))
    ids, real, targets = masked(rows, (4, 5, 100), generator, 0.15, mixed=True)
    chosen = targets >= 0
    # 45,000 tokens: standard errors are 0.002 of all, 0.004 of those chosen.
    assert float(chosen[:, 1:-1].float().mean()) == pytest.approx(0.15, abs=0.008)
    assert not chosen[:, [0, -1]].any()
    assert real.all()
    truth = torch.from_numpy(np.stack(rows))
    assert (targets[chosen] == truth[chosen]).all()
    assert (ids[~chosen] == truth[~chosen]).all()
    seen, right = ids[chosen], truth[chosen]
    assert float((seen == 4).float().mean()) == pytest.approx(0.8, abs=0.02)
    # One of the 95 entries put in at random is the right one now and then.
    assert float((seen == right).float().mean()) == pytest.approx(0.1 + 0.1 / 95, abs=0.016)
    assert int(seen[seen != 4].min()) >= 5


def test_held_out_text_is_all_masks_and_padding_is_never_chosen() -> None:
    rows = [np.array([2, 5, 6, 3]), np.array([2, 7, 3])]
    for seed in range(20):
        generator = np.random.Generator(np.random.PCG64(seed))
        ids, real, targets = masked(rows, (4, 5, 9), generator, 0.3, mixed=False)
        assert real.tolist() == [[1, 1, 1, 1], [1, 1, 1, 0]]
        chosen = targets >= 0
        assert chosen.any()
        assert (ids[chosen] == 4).all()
        assert not chosen[1, 3]


def test_a_batch_is_a_function_of_its_index_and_epochs_differ(corpus: Path, tmp_path: Path) -> None:
    learner = bert(corpus, tmp_path)
    one, again, other = (learner.batches(epoch, 0, 1) for epoch in (0, 0, 1))
    assert all(torch.equal(a, b) for a, b in zip(one[3], again[3], strict=True))
    assert [batch[2].tolist() for batch in one] != [batch[2].tolist() for batch in other]
    # Two processes share the rows of one, each with as many batches.
    shares = [learner.batches(0, rank, 2) for rank in (0, 1)]
    assert len(shares[0]) == len(shares[1]) == len(one) // 2
    places = np.concatenate([share.places.ravel() for share in shares])
    assert len(set(places.tolist())) == len(places)


def test_the_held_out_estimate_is_the_loss_at_the_masks_over_their_share(corpus: Path, tmp_path: Path) -> None:
    learner = bert(corpus, tmp_path)
    nats, words = learner.held_out()
    assert words == 4 * sum(len(line.split()) for line in TEXT.splitlines())
    generator = np.random.Generator(np.random.PCG64(20))
    ids, real, targets = masked(learner.sentences, learner._masks, generator, 0.15, mixed=False)
    with torch.no_grad():
        logits = learner.module(input_ids=ids, attention_mask=real).logits
    chosen = targets >= 0
    total = torch.nn.functional.cross_entropy(logits[chosen], targets[chosen], reduction="sum")
    tokens = sum(len(sentence) - 2 for sentence in learner.sentences)
    assert nats == pytest.approx(float(total) * tokens / int(chosen.sum()), rel=1e-5)
    # Before any training every entry is about as likely.
    assert nats / tokens == pytest.approx(np.log(len(learner.tokenizer)), rel=0.05)


def test_the_same_text_gives_the_same_vocabulary(corpus: Path) -> None:
    one, two = (word_pieces([str(corpus)], MaskedText(200, lower=True)) for _ in range(2))
    assert one.to_str() == two.to_str()
    assert one.encode("The ROSES naïve [MASK]").tokens[1] == "the"
    assert [one.token_to_id(symbol) for symbol in SYMBOLS] == [0, 1, 2, 3, 4]
    with pytest.raises(UsageError, match="symbols and characters"):
        word_pieces([str(corpus)], MaskedText(20))


@pytest.mark.slow
def test_what_comes_out_is_a_checkpoint_that_masked_takes_by_its_folder_alone(corpus: Path, tmp_path: Path) -> None:
    history = learn("masked", tmp_path / "m", corpus)
    assert history[-1]["bits_per_word"] < history[0]["bits_per_word"]
    model = names.load(str(tmp_path / "m"))
    assert model.name.startswith("masked:m@")
    [answer] = model.score(["The old gardener watered the roses."])
    assert np.isfinite(answer.bits).all()
    assert json.loads((tmp_path / "m" / "config.json").read_text())["architectures"] == ["BertForMaskedLM"]
    plain = transformers.AutoTokenizer.from_pretrained(tmp_path / "m")
    assert plain("The old").input_ids[0] == plain.cls_token_id


@pytest.mark.slow
def test_a_damaged_tokenizer_of_a_training_is_named(corpus: Path, tmp_path: Path) -> None:
    learn("masked", tmp_path / "m", corpus)
    (tmp_path / "m" / "tokenizer.json").write_text("{")
    with pytest.raises(RunError, match="damaged tokenizer"):
        learn("masked", tmp_path / "m", corpus)


def test_odd_options_are_refused() -> None:
    for odd in ({"mask_prob": 0.0}, {"mask_prob": 1.0}, {"window": 2}, {"batch": 0}):
        with pytest.raises(UsageError):
            MaskedText(**odd)
    with pytest.raises(UsageError, match="positions"):
        MaskedSettings(TransformerSize(1, 8, 2, 16), MaskedText(window=17))
