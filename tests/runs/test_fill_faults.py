"""Kills, full disks and long runs of blanks: nothing lost, nothing twice, no wrong number, no more memory."""

import errno
import hashlib
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fill_for_tests import Drawn
from toy_runs import pairs

from syntagm.core import RunError, atomic
from syntagm.evaluation.gaps import task
from syntagm.runs import fill, open_run
from syntagm.suites import Suite, WordList, WordRow

FORMS = [(f"{verb}s", verb) for verb in ("bark", "sing", "nap", "run", "sit")]
WORDS = WordList("five", ("singular", "plural"), tuple(WordRow(forms[1], forms) for forms in FORMS))
VOCABULARY = [form for forms in FORMS for form in forms] + list("abcdefgh")

# Where a program that a test starts finds the tests' modules.
TESTS = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
SLOW_RUN = """
import sys, time
sys.path[:0] = {tests!r}
import test_fill_faults as here
from syntagm.evaluation.gaps import task
task.SIZE = 4
model = here.Drawn(here.VOCABULARY)
fill = model.fill
def slowly(blanks, done=None):
    for answer in fill(blanks, done):
        time.sleep(0.002)
        yield answer
model.fill = slowly
print("ready", flush=True)
here.fill(model, here.many_suites(), here.WORDS, {folder!r}, top=(0.5,))
"""

# Prints the peak memory in KiB after a run over so many contexts.
MEASURED = """
import resource, sys
sys.path[:0] = {tests!r}
import test_fill_faults as here
from syntagm.suites import WordList, WordRow
rows = tuple(WordRow(f"v{{k}}", (f"v{{k}}s", f"v{{k}}")) for k in range(3562))
words = WordList("many", ("singular", "plural"), (*here.WORDS.rows, *rows))
vocabulary = [form for row in words.rows for form in row.forms]
model = here.Drawn(vocabulary)
suites = (here.suite(f"suite{{k}}", 200) for k in range({suites}))
here.fill(model, list(suites), words, {folder!r})
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def suite(name: str, items: int = 20) -> Suite:
    """Items with a context of their own, but for every tenth, which has that of the first of all suites."""
    nouns = [f"{name} dog{k}" if k % 10 else "dog" for k in range(items)]
    return pairs(
        name,
        *(
            (f"The {noun} {good} {k}.", f"The {noun} {bad} {k}.")
            for k, noun in enumerate(nouns)
            for good, bad in FORMS[:1]
        ),
    )


def many_suites() -> list[Suite]:
    return [suite(f"suite{number}") for number in range(5)]


def content(folder: Path) -> dict[str, str]:
    """The hash of every result and table: what must not depend on kills."""
    files = [folder / "results.csv", *sorted((folder / "shards").glob("*.parquet"))]
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
        if not file.name.startswith("damaged")
    }


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "SIZE", 4)


@pytest.fixture
def undisturbed(tmp_path_factory: pytest.TempPathFactory, small_shards: None) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("undisturbed")
    fill(Drawn(VOCABULARY), many_suites(), WORDS, folder, top=(0.5,))
    return content(folder)


def kill_and_go_on(folder: Path, kills: int, seed: int) -> int:
    draw, finished = random.Random(seed), 0
    script = SLOW_RUN.format(tests=TESTS, folder=str(folder))
    for _ in range(kills):
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(draw.uniform(0.1, 0.8))
        process.kill()
        process.communicate()
        ledger = folder / "ledger.jsonl"
        finished = len(ledger.read_text().splitlines()) if ledger.exists() else 0
    fill(Drawn(VOCABULARY), many_suites(), WORDS, folder, top=(0.5,))
    return finished


@pytest.mark.slow
def test_a_killed_run_goes_on_and_has_every_row_once(tmp_path: Path, undisturbed: dict[str, str]) -> None:
    kill_and_go_on(tmp_path, 3, seed=2)
    assert content(tmp_path) == undisturbed
    results = open_run(tmp_path).results()
    # 20 items a suite with tse; of the contexts 18 + 1 a suite, with two weights, with and without a cut-off.
    assert results.height == 5 * (20 + 19 * 2 * 2)
    assert results.select("suite", "item", "measure").is_unique().all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_many_kills(tmp_path: Path, undisturbed: dict[str, str], seed: int) -> None:
    kill_and_go_on(tmp_path, 6, seed)
    assert content(tmp_path) == undisturbed


@pytest.mark.slow
def test_every_write_may_fail_once(tmp_path: Path, small_shards: None, monkeypatch: pytest.MonkeyPatch) -> None:
    original, left = os.replace, 0

    def failing(*arguments: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        original(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(atomic.os, "replace", failing)
    expected: dict[int, dict[str, str]] = {}
    for n in range(1, 60):
        left = n
        try:
            fill(Drawn(VOCABULARY), many_suites()[:1], WORDS, tmp_path / str(n))
        except RunError as error:
            assert "same command again" in str(error)
        else:
            assert left > 0, "a failure was swallowed"
            break
        left = 0
        fill(Drawn(VOCABULARY), many_suites()[:1], WORDS, tmp_path / str(n))
        expected[n] = content(tmp_path / str(n))
    # 5 shards of 3 files, words.csv, run.json twice, results.csv.
    assert n == 5 * 3 + 5 + 1
    assert len({tuple(one.items()) for one in expected.values()}) == 1


@pytest.mark.slow
def test_memory_does_not_grow_with_the_contexts(tmp_path: Path) -> None:
    """8 times the contexts, each with 3,567 lemmas: within 25 MB, where kept answers would take 500 MB."""
    peaks = []
    for suites in (2, 16):
        script = MEASURED.format(tests=TESTS, folder=str(tmp_path / str(suites)), suites=suites)
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout.split()[-1]) / 1024)
    assert peaks[1] - peaks[0] < 25, peaks
