"""Folders that are held: what is left of them when nothing came of it, and that no two ever hold one."""

import subprocess
import sys
from pathlib import Path

import pytest
from fill_for_tests import Drawn
from toy_runs import agreement, pairs, toy_run

from syntagm import durable
from syntagm.blanks.recording import fill
from syntagm.cli import main
from syntagm.errors import InputError, RunError, UsageError
from syntagm.ledger import claim
from syntagm.suite import Suite
from syntagm.word_list import WordList, WordRow

WORDS = WordList("one", ("singular", "plural"), (WordRow("bark", ("barks", "bark")),))
TWICE = pairs("twice", ("The dog barks", "The dog bark"))
BROKEN = Suite("twice", (TWICE.items[0], TWICE.items[0]), TWICE.predictions)

# Takes the folder and lets it go until the time is up; says when the file of another holder stood there.
TAKER = """
import sys, time
from pathlib import Path
from syntagm import durable
from syntagm.errors import RunError
folder, other = Path(sys.argv[1]), Path(sys.argv[2])
taken = clashes = 0
print("ready", flush=True)
sys.stdin.readline()
until = time.monotonic() + 1.0
while time.monotonic() < until:
    try:
        with durable.held(folder):
            try:
                other.touch(exist_ok=False)
            except FileExistsError:
                clashes += 1
            else:
                taken += folder.is_dir()
                other.unlink()
    except RunError as error:
        assert "in use by" in str(error), error
print(taken, clashes)
"""


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_refused_run_leaves_nothing(tmp_path: Path) -> None:
    place = tmp_path / "runs" / "new"
    with pytest.raises(InputError, match="E201"):
        toy_run(place, BROKEN)
    with pytest.raises(InputError, match="E201"):
        fill(Drawn(["barks", "bark"]), [BROKEN], WORDS, place)
    with pytest.raises(UsageError, match="--eligible"):
        fill(Drawn(["barks", "bark"]), [TWICE], WORDS, place, eligible="some")  # type: ignore[arg-type]
    assert everything(tmp_path) == []


@pytest.mark.parametrize(
    "line",
    [
        ["run", "toy?shape=round", "--suite", "suite.tsv"],
        ["fill", "toy?shape=round", "--suite", "suite.tsv", "--words", "verbs"],
        ["fill", "toy", "--suite", "suite.tsv", "--words", "verbs", "--top", "90"],
    ],
)
def test_a_refused_command_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite.tsv").write_text("good\tbad\nThe dog barks.\tThe dog bark.\n")
    assert main([*line, "-o", "runs/new"]) == 2
    assert everything(tmp_path) == ["suite.tsv"]


def test_what_was_there_before_stays(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "used" / "shards").mkdir(parents=True)
    (tmp_path / "used" / "notes.txt").write_text("mine")
    (tmp_path / "used" / "lock").touch()
    before = everything(tmp_path)
    for name in ("empty", "used"):
        with pytest.raises(InputError, match="E201"):
            toy_run(tmp_path / name, BROKEN)
    assert everything(tmp_path) == before


def test_what_others_put_there_meanwhile_stays(tmp_path: Path) -> None:
    with claim(tmp_path / "a" / "b"):
        (tmp_path / "a" / "b" / "notes.txt").write_text("mine")
    with claim(tmp_path / "c" / "d"):
        (tmp_path / "c" / "notes.txt").write_text("mine")
    assert everything(tmp_path) == ["a", "a/b", "a/b/lock", "a/b/notes.txt", "c", "c/notes.txt"]


def test_a_run_that_began_stays(tmp_path: Path) -> None:
    toy_run(tmp_path / "run", agreement())
    before = everything(tmp_path)
    with pytest.raises(RunError, match="on other suites"):
        toy_run(tmp_path / "run", agreement("other"))
    assert everything(tmp_path) == before
    assert {"run/lock", "run/run.json", "run/shards"} <= set(before)


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    with durable.held(tmp_path / "run"):
        with pytest.raises(RunError, match="in use by"):
            toy_run(tmp_path / "run", agreement())
        assert everything(tmp_path) == ["run", "run/lock"]
    assert everything(tmp_path) == []


def test_a_lock_whose_file_was_taken_away_holds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between opening the file and locking it, its holder goes and takes folder and file away: another is made and held."""
    flock, place = durable.fcntl.flock, tmp_path / "run"

    def late(lock: int, how: int) -> None:
        monkeypatch.setattr(durable.fcntl, "flock", flock)
        (place / "lock").unlink()
        place.rmdir()
        flock(lock, how)

    monkeypatch.setattr(durable.fcntl, "flock", late)
    with durable.held(place), pytest.raises(RunError, match="in use by"), durable.held(place):
        pass
    assert everything(tmp_path) == []


def test_a_folder_that_can_never_be_made_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(RunError, match="can't be written"):
        toy_run(Path("run"), agreement())


def test_no_two_processes_ever_hold_one_folder(tmp_path: Path) -> None:
    command = [sys.executable, "-c", TAKER, str(tmp_path / "runs" / "new"), str(tmp_path / "taken")]
    takers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    for one in takers:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    said = []
    for one in takers:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    for one in takers:
        out, err = one.communicate()
        assert one.returncode == 0, err
        said.append([int(number) for number in out.split()])
    assert all(taken > 10 for taken, _ in said), said
    assert [clashes for _, clashes in said] == [0, 0, 0]
