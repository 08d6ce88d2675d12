"""Lines that are beginnings of sentences, each a row of its own among those of the stream."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from training_for_tests import GPT2

from syntagm.cli import main
from syntagm.errors import InputError
from syntagm.training import _lengths, gpt2
from syntagm.training._rows import NOTHING, cut

WINDOW = 6
SIZE = gpt2.Size(1, 8, 2, 32, 0.0)
TEXT = gpt2.Text(vocabulary=280, window=WINDOW, batch=2, lines=4)


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    path = tmp_path / "corpus.txt"
    path.write_text("The dog barked at the cats on the mat.\n" * 9, encoding="utf-8")
    return str(path)


@pytest.fixture
def lines(tmp_path: Path) -> str:
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"{number} sat {'on the cat ' * (number % 5)}\n" for number in range(23)), encoding="utf-8")
    return str(path)


@pytest.fixture
def learner(corpus: str, lines: str, tmp_path: Path) -> Any:
    torch.manual_seed(1)
    tokenizer = gpt2._tokenizer([corpus], tmp_path / "m", TEXT)
    return gpt2.Gpt2([corpus], [corpus], tokenizer, SIZE, TEXT, GPT2, "f32", "", [lines])


def test_each_line_is_the_symbol_and_its_first_tokens(learner: Any, lines: str) -> None:
    expected = {
        (learner.symbol, *learner.tokenizer(line)["input_ids"][:WINDOW])
        for line in Path(lines).read_text(encoding="utf-8").splitlines()
    }
    for epoch in range(2):
        batches = [batch for batch in learner.batches(epoch, 0, 1) if len(batch) == TEXT.lines]
        assert len(batches) == 5
        rows = [tuple(token for token in row if token != NOTHING) for batch in batches for row in batch.tolist()]
        assert len(set(rows)) == len(rows) == 20
        assert set(rows) <= expected
        # Padding stands at the end.
        assert all(not (np.diff(batch == NOTHING) < 0).any() for batch in (one.numpy() for one in batches))


def test_both_kinds_of_steps_are_all_there_in_an_order_of_each_epoch(learner: Any) -> None:
    orders = []
    for epoch in range(4):
        batches = learner.batches(epoch, 0, 1)
        kinds = [len(batches[index]) for index in range(len(batches))]
        alone = len(cut(learner.starts, len(learner.stream), WINDOW, np.random.default_rng([1, epoch])))
        assert kinds.count(TEXT.lines) == 5
        assert kinds.count(TEXT.batch) == alone // TEXT.batch
        orders.append(kinds)
    assert any(order != orders[0] for order in orders[1:])


@torch.no_grad()
def test_the_loss_is_the_mean_over_the_tokens_of_the_lines(learner: Any) -> None:
    learner.module.eval()
    batch = max(learner.batches(0, 0, 1), key=lambda one: int((one == NOTHING).sum()))
    loss, tokens, _ = learner.loss(batch, {})
    nats = []
    for row in batch:
        ids = row[row != NOTHING]
        logits = learner.module(ids[None, :-1]).logits[0].log_softmax(-1)
        nats += (-logits[torch.arange(len(ids) - 1), ids[1:]]).tolist()
    assert (batch == NOTHING).any()
    assert tokens == len(nats)
    assert float(loss) == pytest.approx(np.mean(nats), abs=1e-5)


def test_a_training_with_beginnings_gives_the_same_model_twice_and_another_than_without(
    corpus: str, lines: str, tmp_path: Path
) -> None:
    files = []
    for name, further in (("a", [lines]), ("b", [lines]), ("c", [])):
        gpt2.train([corpus], [corpus], tmp_path / name, SIZE, TEXT, GPT2, beginnings=further)
        files.append(load_file(tmp_path / name / "model.safetensors"))
    assert all(torch.equal(files[0][name], files[1][name]) for name in files[0])
    assert not all(torch.equal(files[0][name], files[2][name]) for name in files[0])


def test_the_command_takes_them_and_refuses_to_go_on_with_others(
    corpus: str, lines: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ["train", "gpt2", "--corpus", corpus, "--valid", corpus, "-o", str(tmp_path / "m"), "--layers", "1"]
    common += [
        "--width",
        "8",
        "--heads",
        "2",
        "--positions",
        "32",
        "--vocabulary",
        "280",
        "--window",
        "6",
        "--batch",
        "2",
    ]
    common += ["--epochs", "1", "--warmup", "1", "--lines", "4"]
    assert main([*common, "--beginnings", lines]) == 0
    assert main([*common, "--beginnings", lines]) == 0
    assert main(common) == 2
    assert "another training, with beginnings" in capsys.readouterr().err


def test_too_few_lines_for_a_step_are_refused_rather_than_left_out(corpus: str, lines: str, tmp_path: Path) -> None:
    many = gpt2.Text(vocabulary=280, window=WINDOW, batch=2, lines=24)
    with pytest.raises(InputError, match="23 lines; expected at least 24"):
        gpt2.train([corpus], [corpus], tmp_path / "m", SIZE, many, GPT2, beginnings=[lines])


def test_batches_hold_rows_of_like_length_and_share_them_among_processes() -> None:
    lengths = np.random.default_rng(3).integers(1, 40, 1003)
    shares = [_lengths.batches(lengths, 5, rank, 2, np.random.default_rng(8)) for rank in range(2)]
    assert [share.shape for share in shares] == [(100, 5), (100, 5)]
    assert len(np.unique(np.concatenate(shares))) == 1000
    assert np.ptp(lengths[np.concatenate(shares)], axis=1).max() <= 3
    assert len(_lengths.batches(lengths[:9], 5, 0, 2, np.random.default_rng(8))) == 0
