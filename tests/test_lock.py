"""Locks of folders."""

import os
from pathlib import Path
from typing import Any

import pytest

from syntagm.core import RunError, atomic, lock


def test_a_lock_that_was_deleted_while_it_was_opened_is_taken_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process before us deletes its lock at its end: a lock on the deleted file would keep nobody out."""
    opened, remaining = os.open, [1]

    def late(path: Any, *given: Any) -> int:
        descriptor = opened(path, *given)
        if remaining and Path(path).name == "lock":
            remaining.pop()
            os.unlink(path)
        return descriptor

    monkeypatch.setattr(os, "open", late)
    with lock.held(tmp_path / "m"), pytest.raises(RunError, match="in use by process"), lock.held(tmp_path / "m"):
        pass
    with lock.held(tmp_path / "m"):
        pass


def test_a_folder_that_was_deleted_before_its_lock_was_opened_is_created_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, remaining = os.open, [1]

    def late(path: Any, *given: Any) -> int:
        if remaining and Path(path).name == "lock":
            remaining.pop()
            Path(path).parent.rmdir()
        return opened(path, *given)

    monkeypatch.setattr(os, "open", late)
    with lock.held(tmp_path / "m"):
        assert (tmp_path / "m" / "lock").read_text().startswith("process ")


def test_a_folder_and_a_lock_that_vanish_before_the_lock_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process that wrote nothing ends at this moment; what we create again is ours to delete."""
    make_folder, others = atomic.make_folder, [lock.held(tmp_path / "m")]
    others[0].__enter__()

    def late(folder: Path) -> list[Path]:
        new = make_folder(folder)
        if others:
            others.pop().__exit__(None, None, None)
        return new

    monkeypatch.setattr(atomic, "make_folder", late)
    with lock.held(tmp_path / "m"):
        assert (tmp_path / "m" / "lock").exists()
    assert not list(tmp_path.glob("m/*"))


def test_work_that_writes_nothing_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    for folder in ("new/inner", "old"):
        with pytest.raises(KeyError), lock.held(tmp_path / folder):
            raise KeyError
    assert [path.name for path in tmp_path.rglob("*")] == ["old"]
    for folder in ("new/inner", "old"):
        with lock.held(tmp_path / folder):
            (tmp_path / folder / "result").touch()
        assert {path.name for path in (tmp_path / folder).iterdir()} == {"lock", "result"}
