"""Links in the place of files and folders that Syntagm writes: what they lead to is never changed."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from toy_runs import agreement, interrupt, toy_run

from syntagm.cli import main
from syntagm.core import Progress, RunError, atomic, lock
from syntagm.papers import Cell, Design
from syntagm.papers.experiment import experiment
from syntagm.runs import open_run

TEXT = "The farmer sees the dog.\nThe dog sees the farmer.\nThe sailor likes the farmer.\n"
# What may lie outside: a file with content, an empty one, none.
OUTSIDE: Mapping[str, bytes | None] = {"full": b"precious\n", "empty": b"", "missing": None}


def outside(folder: Path) -> dict[str, bytes | None]:
    return {name: path.read_bytes() if (path := folder / name).exists() else None for name in OUTSIDE}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the files of `OUTSIDE`, and an empty folder `in` in it."""
    (tmp_path / "in").mkdir()
    for name, content in OUTSIDE.items():
        if content is not None:
            (tmp_path / name).write_bytes(content)
    return tmp_path


def _replacing(path: Path) -> None:
    with atomic.replacing(path) as written:
        written.write_bytes(b"new\n")


WRITERS: Mapping[str, Callable[[Path], None]] = {
    "write": lambda path: atomic.write(path, b"new\n"),
    "write_parts": lambda path: atomic.write_parts(path, [b"new", b"\n"]),
    "write_all": lambda path: atomic.write_all({path: b"new\n"}),
    "replacing": _replacing,
}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("target", OUTSIDE)
def test_a_link_is_replaced_by_the_file(writer: str, target: str, place: Path) -> None:
    (path := place / "in" / "file").symlink_to(place / target)
    WRITERS[writer](path)
    assert path.read_bytes() == b"new\n"
    assert not path.is_symlink()
    assert outside(place) == OUTSIDE
    assert [each.name for each in path.parent.iterdir()] == ["file"]


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("to", ["/dev/null", "a pipe", "a folder"])
def test_a_link_to_something_else_than_a_file_is_refused(writer: str, to: str, place: Path) -> None:
    """It may be /dev/stdout."""
    os.mkfifo(place / "a pipe")
    (place / "a folder").mkdir()
    (path := place / "in" / "file").symlink_to(place / to)
    with pytest.raises(
        RunError, match=r"is (not a regular file|a folder); expected the name of a file\. Choose another"
    ):
        WRITERS[writer](path)
    assert path.readlink() == place / to


@pytest.mark.parametrize("target", OUTSIDE)
@pytest.mark.parametrize("hard", [False, True])
def test_lines_are_appended_to_a_copy(target: str, hard: bool, place: Path) -> None:
    path, content = place / "in" / "file", OUTSIDE[target]
    if hard and content is not None:
        os.link(place / target, path)
    elif not hard:
        path.symlink_to(place / target)
    atomic.append(path, "one")
    atomic.append(path, "two")
    assert path.read_bytes() == (content or b"") + b"one\ntwo\n"
    assert outside(place) == OUTSIDE


@pytest.mark.parametrize("target", OUTSIDE)
def test_a_link_is_no_lock(target: str, place: Path) -> None:
    (place / "in" / "lock").symlink_to(place / target)
    with pytest.raises(RunError, match="lock: a link; expected the lock of a folder"), lock.held(place / "in"):
        pass
    assert outside(place) == OUTSIDE
    assert (place / "in" / "lock").is_symlink()


@pytest.mark.parametrize("target", ["full", "empty"])
def test_a_lock_with_a_second_name_is_replaced(target: str, place: Path) -> None:
    os.link(place / target, place / "in" / "lock")
    with lock.held(place / "in"):
        assert (place / "in" / "lock").read_text().startswith("process ")
        with pytest.raises(RunError, match="in use by process"), lock.held(place / "in"):
            pass
    assert outside(place) == OUTSIDE


def test_a_file_of_the_users_is_no_lock(place: Path) -> None:
    (place / "in" / "lock").write_text("my notes")
    with pytest.raises(RunError, match="something else than a lock"), lock.held(place / "in"):
        pass
    assert (place / "in" / "lock").read_text() == "my notes"
    # The lock of a killed process names it.
    (place / "in" / "lock").write_text("process 12345 on host\n")
    with lock.held(place / "in"):
        assert f"process {os.getpid()} " in (place / "in" / "lock").read_text()


def test_a_folder_behind_a_link_is_one_that_the_user_named(place: Path) -> None:
    (place / "there").mkdir()
    (place / "in" / "run").symlink_to(place / "there")
    toy_run(place / "in" / "run", agreement())
    assert open_run(place / "there").done


@pytest.mark.slow
@pytest.mark.parametrize("finished", [True, False])
def test_each_file_of_a_run_behind_a_link_stays_as_it_is(finished: bool, tmp_path: Path) -> None:
    """The run goes on in a file of its own."""
    toy_run(tmp_path / "first", agreement())
    names = [path.relative_to(tmp_path / "first") for path in (tmp_path / "first").rglob("*") if path.is_file()]
    assert len(names) >= 6
    for name in names:
        run = tmp_path / name.name
        toy_run(run, agreement())
        if not finished:
            interrupt(run, 0)
        (run / name).rename(moved := tmp_path / "moved")
        (run / name).symlink_to(moved)
        before = moved.read_bytes()
        if name.name == "lock":
            with pytest.raises(RunError, match="a link"):
                toy_run(run, agreement())
        else:
            assert toy_run(run, agreement()).done
            assert main(["integrity", str(run)]) == 0
        assert moved.read_bytes() == before, name


def test_a_damaged_file_of_a_run_behind_a_link_is_replaced(place: Path) -> None:
    for name in ("results.csv", "results.parquet", "ledger.jsonl"):
        run = place / name
        toy_run(run, agreement())
        (run / name).unlink()
        (run / name).symlink_to(place / "full")
        assert toy_run(run, agreement()).done
        assert not (run / name).is_symlink()
    assert outside(place) == OUTSIDE


def _inside_a_model(folder: Path, name: str) -> None:
    (corpus := folder.parent / "corpus.txt").write_text(TEXT)
    (folder / name).symlink_to(folder.parent / "elsewhere")
    family = {"unfinished": ["ngram", "--order=2", "--discount-fallback"], "state": ["lstm", "--valid", str(corpus)]}
    assert main(["train", *family[name], "--corpus", str(corpus), "-o", str(folder)]) == 2


def _shards(folder: Path) -> None:
    (folder / "shards").symlink_to(folder.parent / "elsewhere")
    with pytest.raises(RunError, match=r"shards: a link to .*elsewhere; expected a folder that Syntagm wrote"):
        toy_run(folder, agreement())


def _sweep(folder: Path) -> None:
    (folder / "toy").symlink_to(folder.parent / "elsewhere")
    assert main(["run", "toy", "random", "--suite", "hu2020/mvrr", "-o", str(folder), "--no-report", "-q"]) == 2


def _of_study(name: str, work: Callable[[Design, Cell], None]) -> Callable[[Path], None]:
    def attempt(folder: Path) -> None:
        (corpus := folder.parent / "corpus.txt").write_text(TEXT)
        texts = [str(corpus)]
        design = Design(folder, texts, texts, texts, {"xs": 5}, [1], {"ngram": {}}, ["hu2020/mvrr"])
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).symlink_to(folder.parent / "elsewhere")
        with pytest.raises(RunError, match=f"{name}: a link to"):
            work(design, design.cells()[0])

    return attempt


def _draw(design: Design, cell: Cell) -> None:
    from syntagm.papers import record

    record.begin(design, Progress())
    record.draw_subsets(design, Progress())


def _lock(design: Design, cell: Cell) -> None:
    with experiment.locked(design, cell, Progress()):
        pass


INSIDE: Mapping[str, Callable[[Path], None]] = {
    "the tables of a run": _shards,
    "a model of a sweep": _sweep,
    "an n-gram model in training": lambda folder: _inside_a_model(folder, "unfinished"),
    "the state of a training": lambda folder: _inside_a_model(folder, "state"),
    "the subsets of a study": _of_study("corpora", _draw),
    "the models of a study": _of_study("models", lambda design, cell: experiment.train_model(design, cell, Progress())),
    "a model of a study": _of_study(
        "models/ngram-xs", lambda design, cell: experiment.train_model(design, cell, Progress())
    ),
    "the lock of a model of a study": _of_study("models/ngram-xs", _lock),
    "the runs of a study": _of_study("runs", lambda design, cell: experiment.score_model(design, cell, Progress())),
    "a run of a study": _of_study(
        "runs/ngram-xs", lambda design, cell: experiment.score_model(design, cell, Progress())
    ),
}


@pytest.mark.parametrize("name", INSIDE)
def test_a_folder_inside_of_one_that_syntagm_writes_is_no_link(name: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "folder").mkdir()
    INSIDE[name](tmp_path / "folder")
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("line", [["export", "--as", "results", "-o"], ["report", "-o"]])
@pytest.mark.parametrize("target", ["empty.csv", "missing.csv"])
def test_a_link_that_the_user_names_stands_for_its_file(line: list[str], target: str, tmp_path: Path) -> None:
    toy_run(tmp_path / "run", agreement())
    (tmp_path / "empty.csv").touch()
    (link := tmp_path / "link.csv").symlink_to(tmp_path / target)
    command, *options = line
    assert main([command, str(tmp_path / "run"), *options, str(link)]) == 0
    assert link.is_symlink()
    assert (tmp_path / target).stat().st_size > 100


def test_a_report_beside_a_run_follows_no_link(place: Path) -> None:
    toy_run(place / "in", agreement())
    (place / "in" / "report.html").symlink_to(place / "empty")
    assert main(["report", str(place / "in")]) == 0
    assert outside(place) == OUTSIDE


def test_a_link_to_a_device_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    toy_run(tmp_path / "run", agreement())
    (link := tmp_path / "link.csv").symlink_to("/dev/null")
    assert main(["export", str(tmp_path / "run"), "--as", "results", "-o", str(link), "--force"]) == 2
    assert "a link to something else than a file" in capsys.readouterr().err
    assert link.is_symlink()
