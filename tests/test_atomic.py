"""Files that are written whole: also by processes that have the same number, as in two containers."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from syntagm.io import atomic

WRITER = """
import os, sys
os.getpid = lambda: 1
from pathlib import Path
from syntagm.io import atomic
letter, path = sys.argv[1], Path(sys.argv[2])
for _ in range(150):
    atomic.write_parts(path, (letter.encode() * 1000 for _ in range(50)))
"""


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
