"""Locks of folders."""

import os
from pathlib import Path
from typing import Any

import pytest

from syntagm.errors import RunError
from syntagm.io import lock


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
