"""Trials: a command line under a fault, then the same line again, whose outcome must be that of an undisturbed one."""

import errno
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .disk import KILL, TORN, Call, Disk, Outcome, Replay, write_tree
from .lines import LOOSE

ERRORS = (errno.ENOSPC, errno.EIO, errno.EROFS)
CUTS = ("lost", "names", "some")
KINDS: tuple[int | str, ...] = (KILL, TORN, *ERRORS, *CUTS)


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """What a command line does without a fault: its outcome, its calls to the disk and the files that it leaves."""

    line: tuple[str, ...]
    outcome: Outcome
    calls: list[Call]
    files: Mapping[str, bytes]

    def described(self, fault: "Fault") -> str:
        """Describe a fault and the call that it hits."""
        call = self.calls[fault.at - 1]
        return f"{fault} at {call.kind} {call.path}"


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault at a call: an error number, KILL, TORN, or one of CUTS; `on`: all later calls fail, too; `seed`: of `some`."""

    at: int
    kind: int | str
    on: bool = False
    seed: int = 0


class Laboratory:
    """Trials of command lines on one disk, all from the same start."""

    def __init__(self, disk: Disk, start: Path) -> None:
        self.disk, self.start = disk, start

    def undisturbed(self, line: tuple[str, ...]) -> Undisturbed:
        """Run a command line without a fault."""
        self.disk.restore(self.start)
        outcome = self.disk.run(line, log=True)
        return Undisturbed(line, outcome, self.disk.calls(), _firm(line, self.disk.tree()))

    def trial(self, undisturbed: Undisturbed, fault: Fault) -> list[str]:
        """Run a command line with a fault and then without; return what is wrong."""
        wrong = []
        if isinstance(fault.kind, str):
            self._cut(undisturbed, fault)
        else:
            self.disk.restore(self.start)
            disturbed = self.disk.run(undisturbed.line, fault.at, fault.kind, fault.on)
            wrong += _faults_of_the_error(disturbed, fault, undisturbed, _firm(undisturbed.line, self.disk.tree()))
        again = self.disk.run(undisturbed.line)
        if again.code != undisturbed.outcome.code:
            wrong.append(f"again: exit code {again.code}: {again.printed[-400:]}")
        return wrong + [
            f"again: {difference}"
            for difference in _differences(_firm(undisturbed.line, self.disk.tree()), undisturbed.files)
        ]

    def not_durable(self, undisturbed: Undisturbed) -> list[str]:
        """Return the files that a power cut right after the end of a command line takes away or changes."""
        self._cut(undisturbed, Fault(len(undisturbed.calls), "lost"))
        differences = _differences(_firm(undisturbed.line, self.disk.tree()), undisturbed.files)
        return [difference for difference in differences if not difference.startswith("left over")]

    def _cut(self, undisturbed: Undisturbed, fault: Fault) -> None:
        """Put the disk into a state after a power cut."""
        replay = Replay(self.start, self.disk.root)
        for call in undisturbed.calls[: fault.at]:
            replay.apply(call)
        files = replay.after_a_cut(str(fault.kind), random.Random(fault.seed))
        # The shared memory of SQLite is not on the disk.
        write_tree({name: content for name, content in files.items() if not name.endswith("-shm")}, self.disk.root)


def faults(undisturbed: Undisturbed, number: int, draw: random.Random, kinds: Sequence[int | str]) -> Iterator[Fault]:
    """Draw faults for a command line: of the kinds in turn, at calls by chance."""
    for turn in range(number):
        kind = kinds[turn % len(kinds)]
        at, on = draw.randint(1, len(undisturbed.calls)), kind in ERRORS and draw.random() < 0.5
        yield Fault(at, kind, on, draw.randrange(1 << 30))


def _faults_of_the_error(
    outcome: Outcome, fault: Fault, undisturbed: Undisturbed, files: Mapping[str, bytes]
) -> Iterator[str]:
    if "Traceback" in outcome.printed:
        yield f"a traceback: {outcome.printed[-600:]}"
    if fault.kind in (KILL, TORN):
        if outcome.code != -9:
            yield f"not killed: {outcome.code}"
    elif outcome.code == undisturbed.outcome.code:
        # It got by without what failed, which was no product.
        yield from (
            f"done, but {name} is missing or different"
            for name, content in undisturbed.files.items()
            if files.get(name) != content and not name.endswith("/")
        )
    elif outcome.code != 2:
        yield f"exit code {outcome.code}: {outcome.printed[-400:]}"


def _firm(line: tuple[str, ...], files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files that must be the same: not the cache, and for runs that use it, not what counts its answers.

    A file `lock` must be there, but the process that it names counts only while it is locked.
    """
    loose = LOOSE if line[:2] == ("run", "in/lstm") else set()
    return {
        name: b"" if name.endswith("/lock") else content
        for name, content in files.items()
        if not name.startswith("cache/") and name not in loose
    }


def _differences(files: Mapping[str, bytes], expected: Mapping[str, bytes]) -> Iterator[str]:
    for name in sorted(files.keys() | expected.keys()):
        if name not in expected:
            yield f"left over: {name}"
        elif name not in files:
            yield f"missing: {name}"
        elif files[name] != expected[name]:
            yield f"different: {name}"
