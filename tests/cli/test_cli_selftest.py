"""`syntagm selftest`: what is well in this installation, and what is said where something is not."""

import re
from pathlib import Path

import pytest

from syntagm.cli import main, selftest
from syntagm.core import RunError, lock


@pytest.mark.slow
def test_this_installation_is_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["selftest", str(tmp_path)])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["ok"] * len(selftest.CHECKS) + [str(len(selftest.CHECKS))], lines
    assert code == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_another_number_is_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = {name: selftest.CHECKS[name] for name in ("versions", "numbers", "weights", "write access", "locks")}
    monkeypatch.setattr(selftest, "CHECKS", chosen)
    monkeypatch.setitem(selftest.BITS, "The keys to the cabinet are here.", 83.0)
    assert main(["selftest", str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["ok", "failed", "ok", "ok", "ok", "1"]
    assert re.search(r"83\.2294\d bits; expected 83\.00000 bits", lines[1])
    assert lines[-1].startswith("1 of 5 checks failed")


def test_whatever_a_broken_library_raises_is_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Path) -> str:
        raise ImportError("undefined symbol: \x1b[31m_ZN2at")

    monkeypatch.setattr(selftest, "CHECKS", {"weights": broken, "write access": selftest._writing})
    assert main(["selftest", str(tmp_path)]) == 1
    shown = capsys.readouterr().out
    assert "failed  weights       ImportError: undefined symbol" in shown
    assert "\x1b" not in shown


def test_locks_that_keep_nobody_out_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a disk without locks: the second process comes in."""
    program = selftest.sys.executable
    monkeypatch.setattr(selftest.sys, "executable", "/bin/true")
    with pytest.raises(RunError, match="a second process got the same lock"):
        selftest._locks(tmp_path)
    monkeypatch.setattr(selftest.sys, "executable", program)
    assert "refused" in selftest._locks(tmp_path)
    with lock.held(tmp_path / "locked"):
        pass


def test_a_folder_that_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["selftest", "/proc"]) == 2
    assert "/proc: can't be written" in capsys.readouterr().err
