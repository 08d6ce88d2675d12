"""Files that are written whole: also by processes that have the same number, as in two containers."""

import contextlib
import errno
import itertools
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from syntagm.core import RunError, atomic

WRITER = """
import os, sys
os.getpid = lambda: 1
from pathlib import Path
from syntagm.core import RunError
from syntagm.core import atomic
letter, path = sys.argv[1], Path(sys.argv[2])
for _ in range(150):
    atomic.write_parts(path, (letter.encode() * 1000 for _ in range(50)))
"""


@pytest.mark.slow
def test_processes_of_one_number_do_not_tear_each_others_files(tmp_path: Path) -> None:
    target = tmp_path / "export.csv"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, letter, str(target)]) for letter in "ab"]
    torn = set()
    while any(writer.poll() is None for writer in writers):
        if target.exists():
            content = target.read_bytes()
            torn |= {content} if content not in (b"a" * 50_000, b"b" * 50_000) else set()
    assert [writer.returncode for writer in writers] == [0, 0]
    assert not torn
    assert [path.name for path in tmp_path.iterdir()] == ["export.csv"]


def test_threads_do_not_either(tmp_path: Path) -> None:
    def write(letter: str) -> None:
        for _ in range(50):
            atomic.write_parts(tmp_path / "x", (letter.encode() * 1000 for _ in range(20)))

    threads = [threading.Thread(target=write, args=(letter,)) for letter in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set((tmp_path / "x").read_bytes()) <= set(b"abc")
    assert len(set((tmp_path / "x").read_bytes())) == 1


def test_nothing_stays_behind_an_error(tmp_path: Path) -> None:
    def parts() -> object:
        yield b"a"
        raise ValueError("stopped")

    with pytest.raises(ValueError, match="stopped"):
        atomic.write_parts(tmp_path / "x", parts())  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


# Writes to a folder, in the middle of which its process is killed, or waits for a line of input.
STOPPED = """
import os, signal, sys
from pathlib import Path
from syntagm.core import RunError
from syntagm.core import atomic
folder = Path(sys.argv[1])
def stop():
    print("writing", flush=True)
    if sys.argv[2] == "wait":
        sys.stdin.readline()
    else:
        os.kill(os.getpid(), signal.SIGKILL)
def parts():
    yield b"x" * 100_000
    stop()
    yield b"y"
if sys.argv[3] == "folder":
    with atomic.replacing(folder / "results.csv") as written:
        written.write_bytes(b"x" * 100_000)
        stop()
        written.write_bytes(b"y")
else:
    atomic.write_parts(folder / "results.csv", parts())
"""


def _stopped(folder: Path, how: str, what: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", STOPPED, str(folder), how, what]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "writing\n"
    return process


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_a_killed_process_left_is_deleted_and_what_a_living_one_writes_is_not(tmp_path: Path, what: str) -> None:
    _stopped(tmp_path, "die", what).communicate()
    [left] = tmp_path.iterdir()
    living = _stopped(tmp_path, "wait", what)
    [of_the_living] = tmp_path.iterdir()
    assert of_the_living != left, "the later process deletes what the killed one left"
    atomic.write(tmp_path / "other", b"")
    assert {path.name for path in tmp_path.iterdir()} == {of_the_living.name, "other"}
    living.communicate("\n")
    assert living.returncode == 0
    assert {path.name for path in tmp_path.iterdir()} == {"results.csv", "other"}


@pytest.mark.slow
@pytest.mark.parametrize("left", [False, True], ids=["at the end", "after a kill"])
def test_a_folder_is_deleted_though_others_still_write_there(tmp_path: Path, left: bool) -> None:
    """As the workers of a command that has ended: they learn of the end only when the folder is gone."""

    def write(folder: Path, many: threading.Event) -> None:
        for number in itertools.count():
            try:
                (folder / str(number)).touch()
            except FileNotFoundError:
                return
            if number == 500:
                many.set()

    for _ in range(3):
        with contextlib.ExitStack() as stack:
            if left:
                _stopped(tmp_path, "die", "folder").communicate()
                [folder] = tmp_path.iterdir()
                stack.callback(atomic.sweep, tmp_path)
            else:
                folder = stack.enter_context(atomic.scratch(tmp_path / "work"))
            writer = threading.Thread(target=write, args=(folder, many := threading.Event()))
            writer.start()
            many.wait()
        writer.join(60)
        assert not list(tmp_path.iterdir())


def test_files_that_belong_together_are_replaced_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk at the second file leaves the first one as it was."""
    first, second = tmp_path / "a.csv", tmp_path / "a.svg"
    atomic.write_all({first: b"old", second: b"old"})
    calls = 0

    def full(descriptor: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(RunError, match=r"a\.svg: no space for 3 bytes"):
        atomic.write_all({first: b"new", second: b"new"})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.csv": b"old", "a.svg": b"old"}


def test_what_was_abandoned_is_deleted_as_far_as_it_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a network file system, a worker of a killed command may still write, or have deleted what is listed."""
    (folder := tmp_path / ".work.0123456789abcdef.syntagm").mkdir()
    for number in range(5):
        (folder / f"file{number}").touch()
    unlink, calls = os.unlink, []

    def failing(path: str, **options: int) -> None:
        calls.append(path)
        if len(calls) == 1:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        unlink(path, **options)

    monkeypatch.setattr("os.unlink", failing)
    atomic.sweep(tmp_path)
    [folder] = tmp_path.iterdir()
    assert len(list(folder.iterdir())) == 1
