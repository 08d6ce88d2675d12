"""The states of a model in a command: what has happened to it comes in, what is to be done for it comes out.

    waiting -> opening -> computing -> writing -> done
                  |           |           |
                  +-----------+-----------+-----> failed

Nothing here waits, reads or writes, so all that workers, their deaths, their doubles and their damage can do is tried in tests
without a process. `runs.driver` performs the effects, and hands back what became of them as further events.

What holds after each event, whatever comes in which order:

* A piece that is awaited was offered, and has not come back, or is being accepted.
* A piece that was accepted is awaited no more; so a unit is committed once.
* A model ends once: with its run, or with the first error that a worker or an effect gave for what it still waited for. Units
  that are being accepted are accepted before.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from syntagm.core import RunError, SyntagmError
from syntagm.evaluation import Unit
from syntagm.runs.pieces import OPEN, RESULTS, Arrival, Piece, longest_first

# A piece that has lost so many workers in a row is given up.
TRIES = 3


class State(Enum):
    """Where a model is."""

    WAITING = "waiting"
    OPENING = "opening"
    COMPUTING = "computing"
    WRITING = "writing"
    DONE = "done"
    FAILED = "failed"


# Events. Those of the loop:


@dataclass(frozen=True, slots=True)
class Begin:
    """There is room for one more model."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """An outcome has arrived."""

    arrival: Arrival


@dataclass(frozen=True, slots=True)
class Refused:
    """A worker met an error, which is its outcome."""

    arrival: Arrival
    error: SyntagmError


@dataclass(frozen=True, slots=True)
class Gone:
    """A worker will not deliver a piece; see `pieces.Lost`."""

    piece: Piece
    reason: str
    blamed: bool


# What became of effects:


@dataclass(frozen=True, slots=True)
class Locked:
    """The run directory is locked."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The plan of a worker is in the record."""

    missing: Sequence[Unit]  # the units that are not yet committed
    complete: bool  # whether the run is done, with its results


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The run is done already, and nothing it depends on has changed."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A unit is committed, or the results are in their place."""

    piece: Piece


@dataclass(frozen=True, slots=True)
class Damaged:
    """An outcome can't be accepted: its files are not those that the worker wrote."""

    arrival: Arrival


@dataclass(frozen=True, slots=True)
class Failed:
    """An effect could not be performed: `piece` could not be accepted, or the directory not be locked (None)."""

    piece: Piece | None
    error: SyntagmError


Event: TypeAlias = Begin | Delivered | Refused | Gone | Locked | Opened | Unchanged | Accepted | Damaged | Failed


# Effects.


@dataclass(frozen=True, slots=True)
class Lock:
    """Lock the run directory, and tell workers what to load. It gives `Locked` or `Failed`."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Offer a piece to the workers."""

    piece: Piece


@dataclass(frozen=True, slots=True)
class Accept:
    """Open the run, commit the unit or finish the run. It gives `Opened`, `Unchanged`, `Accepted`, `Damaged` or `Failed`."""

    arrival: Arrival


@dataclass(frozen=True, slots=True)
class Remove:
    """Delete what an outcome brought; `late` if nobody waits for its piece any more."""

    arrival: Arrival
    late: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """Tell the workers whether units follow; the one that planned the run waits for that."""

    opened: bool


@dataclass(frozen=True, slots=True)
class Warn:
    """Tell the user that a piece was lost, and why."""

    piece: Piece
    reason: str


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Take back all offers of the model."""


@dataclass(frozen=True, slots=True)
class Close:
    """Unlock the run directory, and report the model: its run, or the error."""

    error: SyntagmError | None


Effect: TypeAlias = Lock | Offer | Accept | Remove | Answer | Warn | Withdraw | Close


class Model:
    def __init__(self, number: int, label: str) -> None:
        self.number, self.label = number, label
        self.state = State.WAITING
        self.missing: dict[str, Unit] | None = None
        self._complete = False
        # The pieces that the model waits for, and those of them that are being accepted, by name.
        self._awaited: dict[str, Piece] = {}
        self._accepting: set[str] = set()
        # Errors about pieces that are being accepted: they count if those turn out to be damaged.
        self._withheld: dict[str, SyntagmError] = {}
        self._lost = Counter[str]()
        self._error: SyntagmError | None = None

    @property
    def accepting(self) -> frozenset[str]:
        return frozenset(self._accepting)

    def awaits(self, piece: Piece) -> bool:
        return piece.name in self._awaited and self.state is not State.FAILED

    def place(self, piece: Piece) -> str:
        """Return what a piece is called in messages."""
        if unit := (self.missing or {}).get(piece.name):
            return f"{self.label}, {unit}"
        return f"{self.label}, {'loading' if piece.name == OPEN else 'results'}"

    def handle(self, event: Event) -> list[Effect]:
        """Change the state as an event demands, and return what is to be done, in this order."""
        match event:
            case Begin():
                self.state = State.OPENING
                return [Lock()]
            case Locked():
                return self._await([Piece(self.number, 0, OPEN)])
            case Delivered(arrival):
                if not self.awaits(arrival.piece) or arrival.piece.name in self._accepting:
                    return [Remove(arrival, late=True)]
                self._accepting.add(arrival.piece.name)
                return [Accept(arrival)]
            case Refused(arrival, error):
                return [Remove(arrival, late=False), *self._refused(arrival.piece, error)]
            case Gone(piece, reason, blamed):
                return self._again(piece, reason, blamed)
            case Opened(missing, complete):
                return self._opened(missing, complete)
            case Unchanged():
                self._settle(OPEN)
                return [Answer(opened=False), *self._end()]
            case Accepted(piece):
                return self._accepted(piece)
            case Damaged(arrival):
                return [Remove(arrival, late=False), *self._damaged(arrival)]
            case Failed(piece, error):
                if piece:
                    self._accepting.discard(piece.name)
                return self._fail(error)

    def _await(self, pieces: Sequence[Piece]) -> list[Effect]:
        self._awaited = {piece.name: piece for piece in pieces}
        return [Offer(piece) for piece in pieces]

    def _settle(self, name: str) -> None:
        """Wait no more for a piece."""
        self._accepting.discard(name)
        self._awaited.pop(name, None)
        self._withheld.pop(name, None)
        self._lost.pop(name, None)

    def _opened(self, missing: Sequence[Unit], complete: bool) -> list[Effect]:
        self._settle(OPEN)
        self.state, self._complete = State.COMPUTING, complete
        self.missing = {unit.name: unit for unit in missing}
        # Offers come first: the worker that planned the run waits for the answer, and then takes the first one.
        offers = self._await(longest_first({unit.name: unit.size for unit in missing}, self.number))
        return [*offers, Answer(opened=True), *self._proceed()]

    def _accepted(self, piece: Piece) -> list[Effect]:
        self._settle(piece.name)
        if piece.name == RESULTS:
            return self._end()
        if self.missing:
            self.missing.pop(piece.name, None)
        return self._close_failed() if self.state is State.FAILED else self._proceed()

    def _proceed(self) -> list[Effect]:
        """After the last unit, end, or offer the writing of the results."""
        if self.missing:
            return []
        if self._complete:
            return self._end()
        self.state = State.WRITING
        return self._await([Piece(self.number, 0, RESULTS)])

    def _end(self) -> list[Effect]:
        self.state = State.DONE
        return [Withdraw(), Close(None)]

    def _refused(self, piece: Piece, error: SyntagmError) -> list[Effect]:
        if not self.awaits(piece):
            return []  # another worker was quicker
        if piece.name in self._accepting:
            self._withheld.setdefault(piece.name, error)
            return []
        return self._fail(error)

    def _damaged(self, arrival: Arrival) -> list[Effect]:
        name = arrival.piece.name
        self._accepting.discard(name)
        if self.state is State.FAILED:
            return self._close_failed()
        if error := self._withheld.pop(name, None):
            return self._fail(error)
        return self._again(arrival.piece, f"worker {arrival.worker}: a damaged file", blamed=True)

    def _again(self, piece: Piece, reason: str, blamed: bool) -> list[Effect]:
        """Offer a piece again; or give up the model if the piece was lost too often, and is to blame for it."""
        if not self.awaits(piece) or piece.name in self._accepting:
            return []
        self._lost[piece.name] += blamed
        if self._lost[piece.name] < TRIES:
            return [Warn(piece, reason), Offer(self._awaited[piece.name])]
        cure = "Finished work is kept. Look for the cause (memory? time limit?), and run the same command again."
        found = f"lost {TRIES} workers in a row, the last one with {reason}"
        return self._fail(RunError(self.place(piece), found, "a worker that stays", cure))

    def _fail(self, error: SyntagmError) -> list[Effect]:
        """Give up the model, if that is not done already."""
        if self.state is State.FAILED:
            return self._close_failed()
        self.state, self._error = State.FAILED, error
        return [Withdraw(), Answer(opened=False), *self._close_failed()]

    def _close_failed(self) -> list[Effect]:
        """Close a model that has failed, once none of its units is being accepted any more."""
        if self._accepting or not self._error:
            return []
        error, self._error = self._error, None
        return [Close(error)]
