"""Cloze lines, each a row of its own among those of the stream."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from training_for_tests import GPT2

from syntagm.cli import main
from syntagm.core import InputError
from syntagm.training import Gpt2, Gpt2Settings, Gpt2Text, TransformerSize, hugging_face as _lengths
from syntagm.training.gpt2.train import (
    NOTHING,
    encoded_stream,
    load_or_train_tokenizer,
    load_tokenizer,
    row_starts,
    train,
)

WINDOW = 16
SIZE = TransformerSize(1, 8, 2, 32, 0.0)
TEXT = Gpt2Text(vocabulary=280, window=WINDOW, batch=2, lines=4)


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    path = tmp_path / "corpus.txt"
    path.write_text("The dog barked at the cats on the mat.\n" * 40, encoding="utf-8")
    return str(path)


@pytest.fixture
def lines(tmp_path: Path) -> str:
    path = tmp_path / "lines.txt"
    text = "".join(
        f"{number} sat {'on the ' * (number % 3)}{'cat' if number % 2 else 'barked'}\n" for number in range(23)
    )
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.fixture
def learner(corpus: str, lines: str, tmp_path: Path) -> Any:
    torch.manual_seed(1)
    tokenizer = load_or_train_tokenizer([corpus], tmp_path / "m", TEXT)
    return Gpt2([corpus], [corpus], tokenizer, Gpt2Settings(SIZE, TEXT, GPT2, cloze=(lines,)))


def test_of_each_line_the_last_word_alone_is_learnt(learner: Any, lines: str) -> None:
    expected = set()
    for line in Path(lines).read_text(encoding="utf-8").splitlines():
        before, word = line.rstrip().rsplit(" ", 1)
        expected.add(
            (learner.symbol, *learner.tokenizer(before)["input_ids"], *learner.tokenizer(f" {word}")["input_ids"])
        )
    assert all(row in expected for row in (tuple(line.ids.tolist()) for line in learner.cloze))
    for epoch in range(2):
        batches = [batch for batch in learner.batches(epoch, 0, 1) if len(batch[0]) == TEXT.lines]
        assert len(batches) == 5
        found = []
        for inputs, targets in batches:
            assert inputs.shape == targets.shape
            for row, wanted in zip(inputs.tolist(), targets.tolist(), strict=True):
                learnt = [place for place, token in enumerate(wanted) if token != NOTHING]
                assert learnt == list(range(learnt[0], learnt[-1] + 1))
                word = learner.tokenizer.decode([wanted[place] for place in learnt])
                assert word in (" cat", " barked")
                found.append((*row[: learnt[0] + 1], *(wanted[place] for place in learnt)))
        assert len(set(found)) == len(found) == 20
        assert set(found) <= expected


def test_both_kinds_of_steps_are_all_there_in_an_order_of_each_epoch(learner: Any) -> None:
    orders = []
    for epoch in range(4):
        batches = learner.batches(epoch, 0, 1)
        kinds = [len(batches[index][0]) for index in range(len(batches))]
        alone = len(row_starts(learner.starts, len(learner.stream), WINDOW, np.random.default_rng([1, epoch])))
        assert kinds.count(TEXT.lines) == 5
        assert kinds.count(TEXT.batch) == alone // TEXT.batch
        orders.append(kinds)
    assert any(order != orders[0] for order in orders[1:])


@torch.no_grad()
def test_the_loss_is_the_mean_over_the_tokens_of_last_words(learner: Any) -> None:
    learner.module.eval()
    for batch in (batch for batch in learner.batches(0, 0, 1) if len(batch[0]) == TEXT.lines):
        loss, tokens, _ = learner.loss(batch, {})
        nats = []
        for inputs, targets in zip(*batch, strict=True):
            # Without its padding.
            end = int((targets != NOTHING).nonzero()[-1]) + 1
            logits = learner.module(inputs[None, :end]).logits[0].log_softmax(-1)
            nats += [-float(logits[place, token]) for place, token in enumerate(targets[:end]) if token != NOTHING]
        assert tokens == len(nats)
        assert float(loss) == pytest.approx(np.mean(nats), abs=1e-5)


@pytest.mark.slow
def test_a_training_with_cloze_lines_gives_the_same_model_twice_and_another_than_without(
    corpus: str, lines: str, tmp_path: Path
) -> None:
    files = []
    for name, further in (("a", (lines,)), ("b", (lines,)), ("c", ())):
        train([corpus], [corpus], tmp_path / name, Gpt2Settings(SIZE, TEXT, GPT2, cloze=further))
        files.append(load_file(tmp_path / name / "model.safetensors"))
    assert all(torch.equal(files[0][name], files[1][name]) for name in files[0])
    assert not all(torch.equal(files[0][name], files[2][name]) for name in files[0])


def test_the_command_takes_them_and_refuses_to_go_on_with_others(
    corpus: str, lines: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    size = "--layers 1 --width 8 --heads 2 --positions 32 --vocabulary 280 --window 16 --batch 2 --lines 4"
    common = ["train", "gpt2", "--corpus", corpus, "--valid", corpus, "-o", str(tmp_path / "m"), *size.split()]
    common += ["--epochs", "1", "--warmup", "1"]
    assert main([*common, "--cloze", lines]) == 0
    assert main([*common, "--cloze", lines]) == 0
    assert main(common) == 2
    assert "another training run, with cloze" in capsys.readouterr().err


def test_too_few_lines_for_a_step_are_refused_rather_than_left_out(corpus: str, lines: str, tmp_path: Path) -> None:
    many = Gpt2Text(vocabulary=280, window=WINDOW, batch=2, lines=24)
    with pytest.raises(InputError, match="cloze lines: 23; expected at least 24"):
        train([corpus], [corpus], tmp_path / "m", Gpt2Settings(SIZE, many, GPT2, cloze=(lines,)))


def test_a_line_beyond_the_window_is_refused_rather_than_cut(corpus: str, lines: str, tmp_path: Path) -> None:
    short = Gpt2Text(vocabulary=280, window=5, batch=2, lines=4)
    with pytest.raises(InputError, match="tokens; expected at most 5, the window"):
        train([corpus], [corpus], tmp_path / "m", Gpt2Settings(SIZE, short, GPT2, cloze=(lines,)))


def test_batches_hold_rows_of_like_length_and_share_them_among_processes() -> None:
    lengths = np.random.default_rng(3).integers(1, 40, 1003)
    shares = [_lengths.batches(lengths, 5, rank, 2, np.random.default_rng(8)) for rank in range(2)]
    assert [share.shape for share in shares] == [(100, 5), (100, 5)]
    assert len(np.unique(np.concatenate(shares))) == 1000
    assert np.ptp(lengths[np.concatenate(shares)], axis=1).max() <= 3
    assert len(_lengths.batches(lengths[:9], 5, 0, 2, np.random.default_rng(8))) == 0


def test_a_text_of_not_one_batch_is_refused_with_cloze_lines_too(corpus: str, lines: str, tmp_path: Path) -> None:
    settings = Gpt2Settings(SIZE, replace(TEXT, batch=1000), replace(GPT2, epochs=1), cloze=(lines,))
    with pytest.raises(InputError, match=r"too short for one batch: .* rows of 16; expected at least 1,000 rows"):
        train([corpus], [corpus], tmp_path / "m", settings)


def test_of_a_short_text_no_epoch_is_without_a_batch() -> None:
    # Ten sentences of four tokens and the end; a row has eight and the one after them, so that the last begins at 32.
    starts = np.arange(0, 40, 4)

    def firsts(least: int) -> set[tuple[int, int]]:
        """Where the first row begins, which is drawn among eight, and how many rows there are then."""
        rows = [row_starts(starts, 41, 8, np.random.default_rng(seed), least) for seed in range(40)]
        return {(int(found[0]), len(found)) for found in rows}

    enough = {(0, 5), (4, 4), (8, 4), (12, 3), (16, 3), (20, 2), (24, 2)}
    assert firsts(least=1) == enough | {(28, 1)}
    assert firsts(least=2) == enough
    assert firsts(least=4) == {(0, 5), (4, 4), (8, 4)}
    # The loop says so.
    assert firsts(least=6) == {(0, 5)}


def test_the_symbol_in_a_text_is_refused(corpus: str, tmp_path: Path) -> None:
    (odd := tmp_path / "odd.txt").write_text("A dog .\n<|endoftext|>\n", encoding="utf-8")
    paths = [([str(odd)], [corpus], ()), ([corpus], [str(odd)], ()), ([corpus], [corpus], (str(odd),))]
    for units in ("bpe", "words"):
        for training, held_out, cloze in paths:
            settings = Gpt2Settings(SIZE, replace(TEXT, units=units), GPT2, cloze=cloze)
            with pytest.raises(InputError, match=r"the symbol <\|endoftext\|>; .* sentences end at line ends"):
                train(training, held_out, tmp_path / "m", settings)


def test_a_given_tokenizer_neither_cuts_nor_fills_up(corpus: str, tmp_path: Path) -> None:
    load_or_train_tokenizer([corpus], tmp_path / "m", TEXT).save_pretrained(tmp_path / "given")
    texts, path = ["The dog barked at the cats.", "The mat."], tmp_path / "given" / "tokenizer.json"
    expected, _ = encoded_stream(Tokenizer.from_file(str(path)), texts, 0)
    spoilt = Tokenizer.from_file(str(path))
    spoilt.enable_truncation(3)
    spoilt.enable_padding(length=9)
    spoilt.save(str(path))
    stream, _ = encoded_stream(load_tokenizer(str(tmp_path / "given")).backend_tokenizer, texts, 0)
    assert stream.tolist() == expected.tolist()
