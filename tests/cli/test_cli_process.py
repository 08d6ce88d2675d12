"""What the command line changes in a process of its own, and leaves alone in one of somebody else."""

import atexit
import gc
from collections.abc import Callable

import pytest

from syntagm.cli import main


def test_garbage_is_collected_less_often_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    before, registered = gc.get_threshold(), list[Callable[[], object]]()
    monkeypatch.setattr(atexit, "register", registered.append)
    monkeypatch.setattr("sys.argv", ["syntagm", "models"])
    try:
        gc.set_threshold(*(usual := (700, 10, 10)))  # tests/conftest.py has others
        main(["models"])
        assert (gc.get_threshold(), registered) == (usual, [])
        main()
        assert gc.get_threshold()[0] > usual[0]
        assert gc.get_threshold()[1:] == usual[1:]
        assert registered == [gc.freeze]
        assert gc.isenabled()
    finally:
        gc.set_threshold(*before)
