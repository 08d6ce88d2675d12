"""Kills of workers, of the driver and of both at random moments; the same command then ends as if undisturbed."""

import contextlib
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

# 4 models on 6 suites.
UNITS = 24
LINE = (
    "run", "random?seed=1,2,3,4", "--suite", "hu2020/mvrr", "hu2020/number_src", "hu2020/number_prep",
    "hu2020/subordination", "hu2020/fgd_object", "hu2020/cleft", "--limit", "4", "--no-report", "--no-cache", "-q",
)  # fmt: skip
VICTIMS = ("worker", "driver", "both")
_HERE = Path(__file__).parents[2]
_PATIENCE = 300.0


class Kills:
    """Trials of kills.

    Arguments:
        folder: an empty folder.
        executor: the executor of the command.
        units: how many units the command has.
    """

    def __init__(self, folder: Path, executor: str, line: Sequence[str] = LINE, units: int = UNITS) -> None:
        self._out, self._line, self._executor, self._units = folder / "out", line, executor, units
        assert self._run("-o", str(folder / "expected")).wait() == 0
        self._expected = files(folder / "expected")

    def trials(self, number: int, draw: random.Random) -> Iterator[str]:
        """Try as many kills, and yield what is wrong."""
        for turn in range(number):
            victim = VICTIMS[turn % len(VICTIMS)]
            after, delay = draw.randrange(-4, self._units), draw.random() * 0.2
            shutil.rmtree(self._out, ignore_errors=True)
            fault = f"{victim} killed {delay:.3f} s after {max(after, 0)} units"
            yield from (f"{fault}: {problem}" for problem in self._trial(victim, after, delay, draw))

    def _trial(self, victim: str, after: int, delay: float, draw: random.Random) -> Iterator[str]:
        process = self._run("-o", str(self._out), "--executor", self._executor)
        deadline = time.monotonic() + _PATIENCE
        # A negative number is a moment of the start: some workers are there, and no unit is finished.
        while process.poll() is None and time.monotonic() < deadline:
            if self._finished() >= after and (after > 0 or len(children(process.pid)) >= 1 + (after % 2)):
                break
            time.sleep(0.002)
        time.sleep(delay)
        workers = children(process.pid)
        if victim != "driver" and workers:
            for worker in [draw.choice(workers)] if victim == "worker" else workers:
                kill(worker)
        if victim != "worker":
            kill(process.pid)
        try:
            code = process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            kill(process.pid)
            yield "it does not end"
            return
        if victim == "worker" and code:
            yield f"exit code {code}"
        if orphans := [worker for worker in workers if not ends(worker)]:
            yield f"workers without a driver: {orphans}"
        if victim != "worker" and (code := self._run("-o", str(self._out), "--executor", self._executor).wait()):
            yield f"again: exit code {code}"
        yield from self._differences()

    def _differences(self) -> Iterator[str]:
        found = files(self._out)
        yield from (f"missing: {name}" for name in sorted(self._expected.keys() - found.keys()))
        yield from (f"left over: {name}" for name in sorted(found.keys() - self._expected.keys()))
        yield from (
            f"different: {name}" for name in sorted(found) if found[name] != self._expected.get(name, found[name])
        )
        if (lines := self._finished()) != self._units:
            yield f"{lines} lines in the ledgers for {self._units} units"
        integrity = subprocess.run(
            [sys.executable, "-m", "syntagm", "integrity", str(self._out)], cwd=_HERE, capture_output=True, text=True
        )
        if integrity.returncode or "foreign" in integrity.stdout:
            yield f"integrity: {integrity.stdout}{integrity.stderr}"

    def _finished(self) -> int:
        return sum(path.read_bytes().count(b"\n") for path in self._out.glob("*/ledger.jsonl"))

    def _run(self, *options: str) -> subprocess.Popen[bytes]:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen([sys.executable, "-m", "syntagm", *self._line, *options], cwd=_HERE, **quiet)


def files(folder: Path) -> dict[str, str]:
    """Return the files of runs with their digests, without those that hold times. The lines of a ledger have no order."""
    return {
        path.relative_to(folder).as_posix(): _digest(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("run.json", "lock")
    }


def _digest(path: Path) -> str:
    content = path.read_bytes()
    ordered = b"".join(sorted(content.splitlines(keepends=True))) if path.name == "ledger.jsonl" else content
    return hashlib.sha256(ordered).hexdigest()


def children(process: int) -> list[int]:
    """Return the processes that a process has started."""
    try:
        return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def kill(process: int) -> None:
    """Kill a process if it lives."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def ends(process: int) -> bool:
    """Wait until a process has ended."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False
