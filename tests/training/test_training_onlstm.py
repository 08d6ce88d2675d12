"""The training of ON-LSTMs: steps of different lengths, regularisation, averaging, and the choice of the softmax."""

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from models_for_tests import TEXT
from torch import nn
from training_for_tests import ONLSTM, learn

from syntagm.core import InputError, Progress, UsageError
from syntagm.models import names
from syntagm.training import AveragedSGD, OnLstm, OnLstmSettings, OnLstmSize, Regularisation, Settings, Steps, loop
from syntagm.training.onlstm import train

SMALL = OnLstmSettings(OnLstmSize(8, 12, 2, 4), Regularisation(*[0.0] * 5), steps=Steps(2, 9), loop=ONLSTM)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "text.txt").write_text(TEXT * 2, encoding="utf-8")
    return tmp_path / "text.txt"


def learner(corpus: Path, settings: OnLstmSettings = SMALL) -> OnLstm:
    torch.manual_seed(1)
    return OnLstm([str(corpus)], [str(corpus)], settings)


def test_steps_vary_in_length_and_the_rate_follows(corpus: Path) -> None:
    model = learner(corpus, replace(SMALL, steps=Steps(2, 70)))
    starts = np.array(model.starts(200_000, 0))
    lengths = np.diff(starts)
    assert starts[0] == 0
    assert lengths.min() >= 1
    assert abs(float(np.mean(lengths < 53)) - 0.05) < 0.015
    assert abs(float(lengths[lengths > 52].mean()) - 69.5) < 0.5
    assert list(starts) != list(model.starts(200_000, 1)), "epochs differ"
    assert list(starts) == list(model.starts(200_000, 0))
    assert len(starts) == len(model.starts(200_000, 1)), "the number of steps is known before"
    steps = model.batches(0, 0, 1)
    # The last row of a step is the first of the next, so that each word is predicted once.
    assert sum(len(step) - 1 for step in steps) == len(model.stream) // 2 - 1
    assert all(torch.equal(step[-1], after[0]) for step, after in zip(steps, list(steps)[1:], strict=False))
    assert model.rate_factor(torch.zeros(36, 2)) == 0.5


def test_the_loss_is_the_cross_entropy_and_both_terms(corpus: Path) -> None:
    model = learner(corpus)
    batch = model.batches(0, 0, 1)[0]
    loss, tokens, _ = model.loss(batch, model.carried())
    outputs, _ = model.module(batch[:-1], model.module.fresh(2))
    wanted = nn.functional.cross_entropy(model.module.decoder(outputs).flatten(0, 1), batch[1:].flatten())
    wanted = wanted + 2 * outputs.square().mean() + (outputs[1:] - outputs[:-1]).square().mean()
    torch.testing.assert_close(loss, wanted)
    assert tokens == batch[1:].numel()


def test_a_step_scales_the_rate_after_clipping_and_decays_weights(corpus: Path, tmp_path: Path) -> None:
    model = learner(corpus, replace(SMALL, loop=replace(ONLSTM, clip=0.05, decay=0.01)))
    before = [parameter.detach().clone() for parameter in model.module.parameters()]
    batch = model.batches(0, 0, 1)[0]
    model.loss(batch, model.carried())[0].backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(model.module.parameters(), 0.05)
    rate = 60.0 * (len(batch) - 1) / 9
    wanted = [
        weight - rate * (parameter.grad + 0.01 * weight)  # type: ignore[operator]
        for weight, parameter in zip(before, model.module.parameters(), strict=True)
    ]
    steps = loop._Training(model, model.settings.loop, tmp_path, {}, Progress(), 0, 1)
    steps.carried = model.carried()
    steps._step(batch, 9)
    for parameter, expected in zip(model.module.parameters(), wanted, strict=True):
        torch.testing.assert_close(parameter.detach(), expected)


def test_averages_are_means_of_the_weights_after_each_step() -> None:
    weight = nn.Parameter(torch.tensor([1.0, 2.0]))
    steps = AveragedSGD([weight], lr=0.5)
    seen = []
    for number in range(5):
        weight.grad = torch.tensor([1.0, -float(number)])
        steps.step()
        if number == 1:
            steps.average()
        if number > 1:
            seen.append(weight.detach().clone())
    with steps.averaged():
        torch.testing.assert_close(weight.detach(), torch.stack(seen).mean(0))
    assert torch.equal(weight.detach(), seen[-1])


class Judge(Progress):
    """Notes the history of evaluations."""

    def __init__(self) -> None:
        self.rows: list[Mapping[str, float]] = []

    def evaluated(self, row: Mapping[str, float]) -> None:
        self.rows.append(row)


@pytest.mark.slow
def test_averaging_begins_when_the_last_evaluations_are_no_better(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The eighth is worse than the best of all but the five before it, and better than those.
    bits = [5.0, 4.0, 4.5, 4.4, 4.3, 4.2, 4.1, 4.05, 3.9]
    judged, weights = iter(bits), []

    def held_out(model: OnLstm) -> tuple[float, int]:
        weights.append(model.module.decoder.bias.detach().clone())
        return next(judged) * float(np.log(2)), 1

    monkeypatch.setattr(OnLstm, "held_out", held_out)
    progress = Judge()
    learn("onlstm", tmp_path / "m", corpus, replace(ONLSTM, epochs=9, every=0, lr=1.0), progress, batch=8)
    made = json.loads((tmp_path / "m" / "training.json").read_text())
    assert made["averaged_after"] == progress.rows[7]["step"]
    assert made["history"][-1]["bits_per_word"] == pytest.approx(3.9)
    # What is judged after that are averages, which move less.
    moves = [float((after - before).norm()) for before, after in pairwise(weights)]
    assert moves[-1] < min(moves[:-1])


def test_patience_that_ends_training_before_averaging_is_refused() -> None:
    with pytest.raises(UsageError, match="patience: 5 with the optimiser asgd; expected 0, or more than 5"):
        replace(ONLSTM, patience=5)
    replace(ONLSTM, patience=6)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"chunk": 3}, "embedding: 400; expected a multiple of chunk, 3"),
        ({"chunk": 0}, "chunk: 0; expected at least 1"),
        ({"hidden": 1151}, "hidden: 1151; expected a multiple of chunk, 10"),
    ],
)
def test_sizes_are_checked(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        OnLstmSize(**changes)
    with pytest.raises(UsageError, match="dropout_words: 1; expected from 0 to less than 1"):
        Regularisation(dropout_words=1)
    with pytest.raises(UsageError, match="activation: -1; expected at least 0"):
        Regularisation(activation=-1)


def test_a_softmax_is_adaptive_only_where_memory_says_so(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = learner(corpus)
    words = 100_000
    assert not model._adaptive(words, on_cpu=True)
    # Logits, their log-softmax and its gradient: 12 bytes for each of 2 x 9 words and each word of the vocabulary.
    needed = 12 * 18 * words
    for memory, adaptive in ((2 * needed, False), (2 * needed - 1, True)):
        monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _, m=memory: SimpleNamespace(total_memory=m))
        assert model._adaptive(words, on_cpu=False) is adaptive
    assert not model._adaptive(2800, on_cpu=False), "no tail"
    adaptive = replace(SMALL, size=replace(SMALL.size, softmax="adaptive"))
    with pytest.raises(InputError, match=r"softmax: adaptive, for a vocabulary of \d+ words; expected more than 2,800"):
        learner(corpus, adaptive)


@pytest.mark.slow
def test_an_adaptive_softmax_is_trained_recorded_and_scored(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train, "CUTOFFS", (7, 12, 10_000))
    settings = replace(SMALL, size=replace(SMALL.size, softmax="adaptive"), loop=Settings(2, "asgd", 5.0, "constant"))
    history = train.train([str(corpus)], [str(corpus)], tmp_path / "m", settings)
    assert history[-1]["loss"] < history[0]["loss"]
    assert json.loads((tmp_path / "m" / "model.json").read_text())["cutoffs"] == [7, 12]
    assert json.loads((tmp_path / "m" / "training.json").read_text())["cutoffs"] == [7, 12]
    model = names.load(f"{tmp_path / 'm'}?eos=yes")
    assert model.record["softmax"] == "adaptive 7, 12"
    answers = list(model.score((TEXT * 2).splitlines()))
    bits = sum(float(answer.bits.sum()) for answer in answers) / sum(len(answer.text.split()) + 1 for answer in answers)
    assert bits == pytest.approx(min(row["bits_per_word"] for row in history), abs=1e-5)
