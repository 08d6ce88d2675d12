"""Benchmark of everything but the model: 67 paradigms of BLiMP's size with the `toy` model, from reading to the report.

Goals: 60 seconds and 1 GB.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.scoring import ONE_THREAD

PARADIGMS, PAIRS = 67, 1_000
SECONDS, GIGABYTES = 60, 1.0
NOUNS = [
    "author",
    "baker",
    "cousin",
    "doctor",
    "farmer",
    "guest",
    "judge",
    "pilot",
    "sailor",
    "teacher",
    "waiter",
    "writer",
]
ADVERBS = ["often", "rarely", "always", "never", "sometimes", "usually", "seldom"]
VERBS = (("admires", "admire"), ("finds", "find"), ("greets", "greet"), ("helps", "help"), ("sees", "see"))
PLACES = [
    "in the garden",
    "near the old bridge",
    "behind the station",
    "at the market",
    "on the stairs",
]


def spine(pairs: int = PAIRS) -> str:
    """Run the benchmark and return the results as Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        suites = Path(folder) / "suites"
        suites.mkdir()
        for number in range(PARADIGMS):
            write(suites / f"paradigm_{number:02}.jsonl", number, pairs)
        command = [sys.executable, "-m", "syntagm", "run", "toy", "--suite", str(suites), "-o", f"{folder}/run"]
        seconds, cpu, peak = measure(command)
    return "\n".join([
        "## From reading to reporting, toy model", "",
        f"{PARADIGMS} paradigms, {PARADIGMS * pairs:,} pairs.", "",
        f"* {seconds:.1f} s wall, {cpu:.1f} CPU-seconds; goal {SECONDS} s: {'reached' if seconds <= SECONDS else '**missed**'}",
        f"* {peak:.2f} GB at most; goal {GIGABYTES} GB: {'reached' if peak <= GIGABYTES else '**missed**'}", "",
    ])  # fmt: skip


def write(path: Path, number: int, pairs: int) -> None:
    """Write artificial agreement pairs as a file in BLiMP's format, with the fields of the one-prefix method.

    Arguments:
        path: the file.
        number: the seed of the pairs.
        pairs: the number of pairs.
    """
    draw = random.Random(number)
    with path.open("w", encoding="utf-8") as file:
        for index in range(pairs):
            subject, friend = draw.sample(NOUNS, 2)
            good, bad = draw.choice(VERBS)
            place, adverb = draw.choice(PLACES), draw.choice(ADVERBS)
            row: dict[str, object] = {
                f"sentence_{kind}": f"The {subject} {adverb} {verb} the {friend} {place}."
                for kind, verb in (("good", good), ("bad", bad))
            }
            row |= {"one_prefix_method": True, "one_prefix_prefix": f"The {subject} {adverb}"}
            row |= {"one_prefix_word_good": good, "one_prefix_word_bad": bad}
            tags = {"field": "syntax", "linguistics_term": "agreement", "UID": path.stem, "pairID": str(index)}
            file.write(json.dumps(row | tags) + "\n")


def measure(command: list[str]) -> tuple[float, float, float]:
    """Run a command and return its wall-clock seconds, CPU-seconds and peak resident memory in GB."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, env={**os.environ, **ONE_THREAD}, stdout=log, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - start
        log.seek(0)
        if process.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{log.read().decode()[-4000:]}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e9
