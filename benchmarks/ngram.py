"""Benchmark of the n-gram model on Brown: estimation compared with lmplz (if its path is given), queries with kenlm.

Goals: estimation with at most lmplz's CPU-seconds and memory (measured: 2.2 s and 232 MiB), and at least as many queries per
second as the package kenlm. A query is the log-probability of one word in its sentence. Both sides get texts, so splitting
them into words is included.
"""

import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import DATA, ROOT
from benchmarks.scoring import ONE_THREAD

ORDER, SECONDS, MEBIBYTES = 5, 2.2, 232


def ngram(rounds: int, lmplz: str | None) -> str:
    """Run the benchmark and return the results as Markdown."""
    text = DATA / "corpora" / "brown.train.txt"
    if not text.exists():
        return "## N-grams\n\nSkipped: Brown is not at ../shared/data/corpora.\n"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = [*_estimation(text, folder, rounds, lmplz), *_queries(folder / "model-0", rounds)]
    return "\n".join(["## N-grams", "", f"Order {ORDER}, Brown, 1,045,389 words, every word kept.", "", *lines, ""])


def _estimation(text: Path, folder: Path, rounds: int, lmplz: str | None) -> list[str]:
    ours, theirs = [], []
    for number in range(rounds):
        place = folder / f"model-{number}"
        ours.append(_measured([sys.executable, "-m", "benchmarks.timed_ngram", str(text), str(place)]))
        if lmplz:
            command = [lmplz, "-o", str(ORDER), "-S", "1G", "-T", str(folder), "--text", str(text)]
            theirs.append(_measured([*command, "--arpa", str(folder / "lmplz.arpa")]))
    lines = [f"* estimated and saved, reading included: {_spelled(ours)}"]
    lines.append(
        f"* lmplz, its ARPA file written: {_spelled(theirs)}" if theirs else "* lmplz: no path given (--lmplz)"
    )
    peer = theirs or [(SECONDS, MEBIBYTES)]
    for kind, index in (("CPU-seconds", 0), ("memory", 1)):
        mine, other = (statistics.median(row[index] for row in rows) for rows in (ours, peer))
        lines.append(f"* {kind} at most lmplz's{'' if theirs else ' as cited'}: {_verdict(mine <= other)}")
    return lines


def _measured(command: Sequence[str]) -> tuple[float, float]:
    """Run a command and return its CPU-seconds and peak memory in MiB."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **ONE_THREAD}, stdout=log, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        log.seek(0)
        if process.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{log.read().decode()[-4000:]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def _spelled(rows: Sequence[tuple[float, float]]) -> str:
    seconds, memory = zip(*rows, strict=True)
    spread = f"{statistics.median(seconds):.2f} CPU-seconds ({min(seconds):.2f} to {max(seconds):.2f})"
    return f"{spread}, {statistics.median(memory):.0f} MiB"


def _verdict(reached: bool) -> str:
    return "reached" if reached else "**missed**"


def _queries(folder: Path, rounds: int) -> list[str]:
    """Measure the queries per second of both in interleaved rounds."""
    import syntagm as sg
    from syntagm.models import BackOff, arpa

    model = sg.load_model(f"ngram:{folder}?eos=yes")
    assert isinstance(model, BackOff)
    texts = (DATA / "corpora" / "brown.test.txt").read_text("utf-8").splitlines()
    start = model.ngrams.start
    numbers = np.array([n for text in texts for n in (start, *model.vocabulary.ids(text.split()), 0)], np.int32)
    programs: dict[str, Callable[[], Any]] = {
        "ours, word by word": lambda: list(model.score(texts)),
        "ours, arrays alone": lambda: model.ngrams.logs(numbers),
    }
    if importlib.util.find_spec("kenlm"):
        import kenlm

        arpa.write(model.ngrams, folder / "model.arpa")
        peer = kenlm.Model(str(folder / "model.arpa"))
        programs["kenlm, word by word (full_scores)"] = lambda: [list(peer.full_scores(text)) for text in texts]
        programs["kenlm, totals only (score)"] = lambda: [peer.score(text) for text in texts]
    queries = sum(len(text.split()) + 1 for text in texts)
    speeds: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(rounds + 1):
        for name, ask in programs.items():
            before = time.process_time()
            ask()
            speeds[name].append(queries / (time.process_time() - before))
    # The first round warms up.
    medians = {name: statistics.median(measured[1:]) for name, measured in speeds.items()}
    lines = [f"* queries / CPU-second, {name}: {speed / 1e6:.2f} million" for name, speed in medians.items()]
    if "kenlm" not in sys.modules:
        return [*lines, "* kenlm: not installed here (pip install kenlm)"]
    mine, _, words, _ = medians.values()
    return [*lines, f"* at least as many as kenlm, word by word: {mine / words:.2f}, {_verdict(mine >= words)}"]
