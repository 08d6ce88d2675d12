"""Benchmark of the LSTM: training compared with plain PyTorch, and scoring with and without shared prefixes.

Goal: 1.3 times the tokens per CPU-second of the plain program, with the same loss within 1 % after the same tokens.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import DATA
from benchmarks.samples import SAMPLES
from benchmarks.scoring import ONE_THREAD

CORPUS = DATA / "corpora" / "brown.train.txt"
STEPS, GOAL, SENTENCES = 80, 1.3, 4_000
PROGRAMS = ("timed_lstm_baseline", "timed_lstm", "timed_lstm bf16")
SIZE = {"embedding": 256, "hidden": 256, "layers": 2, "dropout": 0.3}
BATCH = {"batch": 20, "window": 35}


def lstm(rounds: int, cap: int | None) -> str:
    """Run the benchmark and return the results as Markdown."""
    return "\n".join([*_training(rounds, min(STEPS, cap or STEPS)), "", *_scoring(rounds, cap), ""])


def _training(rounds: int, steps: int) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        task = Path(folder) / "task.json"
        settings = _task(steps)
        timings: list[dict[str, Any]] = []
        for number in range(rounds):
            # Each round begins with another program.
            shift = number % len(PROGRAMS)
            timed = {name: _timed(name, settings, task) for name in (*PROGRAMS[shift:], *PROGRAMS[:shift])}
            timings.append(timed)
    lines = [
        "## LSTM, training", "",
        f"{SIZE['layers']} x {SIZE['hidden']}, {settings['words']:,} words, batch {BATCH['batch']}, window {BATCH['window']}, "
        f"dropout {SIZE['dropout']}, Brown; steps 3 to {steps}; medians of {rounds} rounds.", "",
        "| | tokens / CPU-second | times the plain program | mean loss of the last ten steps, nats | differs by |",
        "|---|---|---|---|---|",
    ]  # fmt: skip
    plain_loss = _loss(timings[0][PROGRAMS[0]])
    for name in PROGRAMS:
        speed = median(timed[name]["tokens"] / timed[name]["cpu"] for timed in timings)
        ratios = [timed[PROGRAMS[0]]["cpu"] / timed[name]["cpu"] for timed in timings]
        loss = _loss(timings[0][name])
        spread = f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        lines.append(f"| {name} | {speed:,.0f} | {spread} | {loss:.4f} | {abs(loss / plain_loss - 1):.3%} |")
        if name == "timed_lstm":
            reached = median(ratios) >= GOAL and abs(loss / plain_loss - 1) < 0.01
    return [*lines, "", f"Goal {GOAL} in float32 with the loss within 1 %: {'reached' if reached else '**missed**'}"]


def _task(steps: int) -> dict[str, Any]:
    from syntagm.training import Lstm, LstmSettings, Size, Steps, Words

    corpus = [str(CORPUS)]
    learner = Lstm(corpus, corpus, LstmSettings(Size(1, 1, 1), Words("blanks"), Steps(**BATCH)))
    text = {"ids": learner.stream.tolist(), "words": len(learner.vocabulary), "corpus": corpus, "steps": steps}
    return text | SIZE | BATCH


def _timed(name: str, settings: dict[str, Any], task: Path) -> dict[str, Any]:
    program, _, dtype = name.partition(" ")
    task.write_text(json.dumps(settings | {"dtype": dtype or "f32"}))
    path = Path(__file__).with_name(f"{program}.py")
    done = subprocess.run(
        [sys.executable, path, task], capture_output=True, text=True, check=True, env={**os.environ, **ONE_THREAD}
    )
    timing: dict[str, Any] = json.loads(done.stdout)
    return timing


def _loss(timed: dict[str, Any]) -> float:
    last = timed["losses"][-10:]
    return float(sum(last) / len(last))


def _scoring(rounds: int, cap: int | None) -> list[str]:
    lines = [
        "## LSTM, scoring", "",
        f"A random model of the same size; medians of {rounds} rounds.", "",
        "| | sentences | sentences / CPU-second, prefixes shared | not shared | times |", "|---|---|---|---|---|",
    ]  # fmt: skip
    models = {sharing: _model(sharing) for sharing in ("yes", "no")}
    for name, sample in SAMPLES.items():
        if not (DATA / name).is_dir():
            lines.append(f"| {name} | skipped: not there | | | |")
            continue
        sentences = sample(cap).sentences[:SENTENCES]
        timings = [{sharing: _seconds(model, sentences) for sharing, model in models.items()} for _ in range(rounds)]
        speeds = {sharing: len(sentences) / median(timing[sharing] for timing in timings) for sharing in models}
        times = median(timing["no"] / timing["yes"] for timing in timings)
        lines.append(f"| {name} | {len(sentences):,} | {speeds['yes']:,.0f} | {speeds['no']:,.0f} | {times:.2f} |")
    return lines


def _model(sharing: str) -> Any:
    import torch

    from syntagm.models import Lstm, LstmNetwork, build
    from syntagm.training import corpus

    torch.set_num_threads(1)
    torch.manual_seed(1)
    vocabulary = build(corpus.sentences([CORPUS]))
    network = LstmNetwork(len(vocabulary), SIZE["embedding"], SIZE["hidden"], SIZE["layers"])
    return Lstm(network, vocabulary, "treebank", "random", {"sharing": sharing})


def _seconds(model: Any, sentences: Sequence[str]) -> float:
    list(model.score(sentences[:64]))
    start = time.process_time()
    list(model.score(sentences))
    return time.process_time() - start
