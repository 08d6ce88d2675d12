"""Kills, full disks, damaged files, two writers: nothing lost, nothing twice, no wrong number."""

import errno
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from toy_runs import agreement, interrupt, pairs, sentence, toy_run

from syntagm.core import RunError, atomic
from syntagm.models import load
from syntagm.runs import ledger, open_run, run_suites as run
from syntagm.suites import Item, Suite

NOUNS = ("dog", "cat", "bird", "cats", "dogs")

# A run that takes a while: eight suites, slowed down so that a kill falls inside.
# Where a program that a test starts finds the tests' modules.
TESTS = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
SLOW_RUN = """
import sys, time
sys.path[:0] = {tests!r}
from test_faults import many_suites
from syntagm.models import load
from syntagm.runs import run_suites as run
model = load("toy")
score = model.score
def slowly(texts, done=None):
    for answer in score(texts, done):
        time.sleep({pause})
        yield answer
model.score = slowly
print("ready", flush=True)
run(model, many_suites(), {folder!r})
"""


def many_suites() -> list[Suite]:
    suites = []
    for number in range(8):
        nouns = [f"{noun}{number}" for noun in NOUNS]
        items = tuple(
            Item(str(k), {"good": sentence(f"The {noun}", "barks"), "bad": sentence(f"The {noun}", "bark")})
            for k, noun in enumerate(nouns)
        )
        suites.append(Suite(f"suite{number}", items, agreement().predictions))
    return suites


def content(folder: Path) -> dict[str, str]:
    """The hash of every result and answer file: what must not depend on kills."""
    files = [folder / "results.csv", *sorted((folder / "shards").glob("*.parquet"))]
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
        if not file.name.startswith("damaged")
    }


def kill_and_go_on(folder: Path, kills: int, seed: int) -> None:
    draw = random.Random(seed)
    script = SLOW_RUN.format(tests=TESTS, pause=0.002, folder=str(folder))
    for _ in range(kills):
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(draw.uniform(0, 0.3))
        process.kill()
        process.communicate()
    run(load("toy"), many_suites(), folder)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("undisturbed")
    run(load("toy"), many_suites(), folder)
    return content(folder)


@pytest.mark.slow
def test_a_killed_run_goes_on_and_has_every_row_once(tmp_path: Path, undisturbed: dict[str, str]) -> None:
    kill_and_go_on(tmp_path, 3, seed=1)
    assert content(tmp_path) == undisturbed
    results = open_run(tmp_path).results()
    assert results.height == 8 * 5 * 2
    assert results.select("suite", "item", "measure").is_unique().all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_many_kills(tmp_path: Path, undisturbed: dict[str, str], seed: int) -> None:
    kill_and_go_on(tmp_path, 6, seed)
    assert content(tmp_path) == undisturbed


@pytest.mark.slow
def test_every_write_may_fail_once(
    tmp_path: Path, undisturbed: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fail the n-th fsync or rename with a full disk, n = 1, 2, ...: each time one clear error, and the next call goes on."""
    original_fsync, original_replace = os.fsync, os.replace
    left = 0

    def failing(original):  # type: ignore[no-untyped-def]
        def call(*arguments):  # type: ignore[no-untyped-def]
            nonlocal left
            left -= 1
            if left == 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            return original(*arguments)

        return call

    monkeypatch.setattr(atomic.os, "fsync", failing(original_fsync))
    monkeypatch.setattr(atomic.os, "replace", failing(original_replace))
    suites = many_suites()[:3]
    expected = None
    for n in range(1, 200):
        folder = tmp_path / str(n)
        left = n
        try:
            run(load("toy"), suites, folder)
        except RunError as error:
            assert "no space" in str(error)
            assert "same command again" in str(error)
        else:
            assert left > 0, "a failure was swallowed"
            expected = content(folder)
            break
        assert not list(folder.rglob("*.tmp"))
        left = 0
        run(load("toy"), suites, folder)
        assert open_run(folder).results().height == 3 * 5 * 2
    assert expected is not None, "200 writes and no end"
    assert n > 20
    shards = {name for name in expected if name.endswith(".parquet")}
    assert all(expected[name] == undisturbed[name] for name in shards)


@pytest.mark.slow
def test_a_full_disk_is_one_error_and_loses_nothing(tmp_path: Path, undisturbed: dict[str, str]) -> None:
    """A real limit of the system on the size of files, raised until the run succeeds."""
    script = (
        f"import sys, resource; sys.path[:0] = {TESTS!r}; from test_faults import many_suites\n"
        "from syntagm.core.errors import RunError; from syntagm.models.names import load\n"
        "from syntagm.runs.evaluate import run_suites as run\n"
        "model, suites = load('toy'), many_suites()\n"
        "for limit in (0, 300, 2000, 3000, 5000, 20000, 10**6):\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))\n"
        f"    try: run(model, suites, {str(tmp_path)!r}); print('done', limit, flush=True); break\n"
        "    except RunError as error: print(error, flush=True)\n"
    )
    # Standard output is a pipe: no limit on it.
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    *errors, last = done.stdout.strip().splitlines()
    assert last.startswith("done"), done.stdout + done.stderr
    assert errors, "the limit never bit"
    assert all("no space" in error for error in errors), errors
    assert content(tmp_path) == undisturbed


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RunError, match="can't be written"):
        toy_run(tmp_path / "file" / "run", agreement())


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_read_only_folder_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(RunError, match="can't be written"):
        toy_run(tmp_path / "run", agreement())


def test_a_second_process_is_refused_by_name(tmp_path: Path) -> None:
    with ledger.locked(tmp_path), pytest.raises(RunError, match=f"in use by process {os.getpid()}"):
        toy_run(tmp_path, agreement())
    with ledger.locked(tmp_path):
        (tmp_path / "lock").write_bytes(b"process \xff\xfe")
        with pytest.raises(RunError, match="in use by process \ufffd"):
            toy_run(tmp_path, agreement())
    toy_run(tmp_path, agreement())


@pytest.mark.parametrize("kind", ["parquet", "results.parquet"])
def test_a_damaged_shard_is_seen_and_computed_again(tmp_path: Path, kind: str) -> None:
    run = toy_run(tmp_path, agreement())
    before = content(tmp_path)
    file = tmp_path / "shards" / f"{run.suites[0].shards[0]}.{kind}"
    flipped = bytearray(file.read_bytes())
    flipped[len(flipped) // 2] ^= 16
    file.write_bytes(flipped)
    with pytest.raises(RunError, match="damaged"):
        open_run(tmp_path).results() if kind == "results.parquet" else open_run(tmp_path).sentences("agreement")
    toy_run(tmp_path, agreement())
    assert content(tmp_path) == before
    assert len(list((tmp_path / "shards").glob("damaged-*"))) == 2
    # The line of the damaged unit is replaced by that of the new one.
    assert (tmp_path / "ledger.jsonl").read_text().count("\n") == 1


def test_a_torn_ledger_line_is_no_entry(tmp_path: Path) -> None:
    toy_run(tmp_path, *many_suites())
    before = content(tmp_path)
    interrupt(tmp_path)
    ledger = tmp_path / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes()[:-25])
    assert open_run(tmp_path).results().height == 7 * 5 * 2
    toy_run(tmp_path, *many_suites())
    assert content(tmp_path) == before
    assert open_run(tmp_path).results().height == 8 * 5 * 2


@pytest.mark.parametrize("record", ["", "{", '{"format": 99}', "[]", "null"])
def test_a_damaged_record_is_named(tmp_path: Path, record: str) -> None:
    toy_run(tmp_path, agreement())
    (tmp_path / "run.json").write_text(record)
    with pytest.raises(RunError, match=r"run\.json"):
        toy_run(tmp_path, agreement())


def test_another_run_is_refused(tmp_path: Path) -> None:
    toy_run(tmp_path, agreement())
    with pytest.raises(RunError, match=r"toy:12-sentences\?eos=yes"):
        toy_run(tmp_path, agreement(), model="toy?eos=yes")
    with pytest.raises(RunError, match="other suites"):
        toy_run(tmp_path, agreement(nouns=("dog",)))
    with pytest.raises(RunError, match="a run with align"):
        run(load("toy"), [agreement()], tmp_path, align="start")
    assert toy_run(tmp_path, agreement()).results().height == 6


def test_suites_are_cut_into_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five items of two sentences, four sentences a shard: 2 + 2 + 1 items, and the same results as in one piece."""
    whole = toy_run(tmp_path / "whole", many_suites()[0])
    monkeypatch.setattr("syntagm.evaluation.items.MAX_SENTENCES", 4)
    parts = toy_run(tmp_path / "parts", many_suites()[0])
    assert len(parts.suites[0].shards) == 3
    assert parts.results().equals(whole.results())
    assert parts.tokens("suite0").equals(whole.tokens("suite0"))


def test_results_without_a_number_are_counted(tmp_path: Path) -> None:
    model = load("toy")

    class Broken(type(model)):  # type: ignore[misc]
        def score(self, texts, done=None):  # type: ignore[no-untyped-def]
            for answer in super().score(texts, done):
                answer.bits[1 if "cat" in answer.text else slice(0, 0)] = float("nan")
                yield answer

    model.__class__ = Broken
    broken = run(model, [agreement()], tmp_path)
    values = dict(broken.results().filter(measure="full_sentence").select("item", "value").iter_rows())
    assert values["1"] == 1.0
    assert values["2"] != values["2"]
    assert sum(broken.undefined.values()) == 1
    assert "nan" in (tmp_path / "results.csv").read_text()


@pytest.mark.slow
def test_interrupting_keeps_what_is_finished(tmp_path: Path) -> None:
    """A real Ctrl-C on the real command line: exit code 130, and the same line finishes the run."""
    suites = tmp_path / "suites"
    suites.mkdir()
    for number in range(6):
        lines = [{"sentence_good": f"The dog {k} barks.", "sentence_bad": f"The dog {k} bark."} for k in range(1200)]
        (suites / f"s{number}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    command = [
        sys.executable,
        "-m",
        "syntagm",
        "run",
        "toy",
        "--suite",
        str(suites),
        "-o",
        str(tmp_path / "run"),
        "--no-report",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "run" / "ledger.jsonl").exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, shown = process.communicate(timeout=60)
    assert process.returncode == 130, shown
    assert "run the same command again to continue" in shown
    assert json.loads((tmp_path / "run" / "run.json").read_text())["status"] == "interrupted"
    finished = len(open_run(tmp_path / "run").results())
    assert 0 < finished < 7200
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"{2 * finished:,} of them already finished" in done.stderr
    assert open_run(tmp_path / "run").results().height == 7200


def test_two_suites_of_one_name_are_refused(tmp_path: Path) -> None:
    from syntagm.core import UsageError

    with pytest.raises(UsageError, match="two suites with this name"):
        toy_run(tmp_path, agreement(), agreement())


def test_malformed_suites_are_refused(tmp_path: Path) -> None:
    from syntagm.core import InputError

    twice = pairs("twice", ("The dog barks", "The dog bark"))
    broken = Suite("twice", (twice.items[0], twice.items[0]), twice.predictions)
    with pytest.raises(InputError, match="E201"):
        toy_run(tmp_path, broken)


@pytest.mark.parametrize(("alone", "kept"), [(False, 0), (True, 5)])
def test_an_error_inside_a_portion_keeps_answers_that_were_computed_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alone: bool, kept: int
) -> None:
    from evaluation import evaluate

    from syntagm.core import ModelError
    from syntagm.models import Toy
    from syntagm.runs.cache import AnswerCache

    monkeypatch.setattr(Toy, "worth_caching", True)
    monkeypatch.setattr(Toy, "one_by_one", alone)
    score, cache = Toy.score, AnswerCache(tmp_path / "answers.sqlite", pytest.fail)

    def dying(model: Toy, texts: Sequence[str], done: Any = None) -> Iterator[Any]:
        yield from islice(score(model, texts, done), 5)
        raise ModelError("server", "no connection", "an answer")

    monkeypatch.setattr(Toy, "score", dying)
    with pytest.raises(ModelError, match="no connection"):
        evaluate(many_suites()[0], load("toy"), cache=cache)
    monkeypatch.setattr(Toy, "score", score)
    assert evaluate(many_suites()[0], load("toy"), cache=cache).cached == kept


@pytest.mark.slow
def test_a_stop_inside_a_shard_keeps_the_finished_portions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten texts in portions of four: stopped in the second portion, the first is not asked again."""
    from evaluation import evaluate

    from syntagm.core import Interrupted
    from syntagm.runs.cache import AnswerCache

    monkeypatch.setattr("syntagm.evaluation.predictions.Predictions.portion", 4)
    model, suite = load("demo"), many_suites()[0]
    cache = AnswerCache(tmp_path / "answers.sqlite", pytest.fail)
    asked = 0

    def stop_at_five(texts: int) -> None:
        nonlocal asked
        asked += texts
        if asked > 4:
            raise Interrupted

    with pytest.raises(Interrupted):
        evaluate(suite, model, cache=cache, hear=stop_at_five)
    again = evaluate(suite, model, cache=cache)
    assert again.cached == 4
    assert again.bits == evaluate(suite, model).bits
