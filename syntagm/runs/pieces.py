"""Pieces of work, what workers make of them, and what an executor tells of them."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

from syntagm.core import RunError, SyntagmError, errors

OPEN, RESULTS = "open", "results"


@dataclass(frozen=True, slots=True, order=True)
class Piece:
    model: int  # the number of the model
    place: int  # the place among the pieces of the model: the largest units come first
    # The name of the unit; `OPEN` for the opening (load the model and plan its run), `RESULTS` for the results (encode
    # them when all units are committed).
    name: str

    def __str__(self) -> str:
        return f"{self.model:06d}.{self.place:06d}.{self.name}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a worker makes of a piece.

    Arguments:
        head: for an opening, the fields of `ledger.Opening`, or `unchanged` for a finished run; for a unit, its line in the
            ledger; `error` for a refusal.
        files: the tables of a unit, the results, or the files of an opening: name -> content in parts.
        seconds: the time that it took: to load and plan the model, if it was not loaded, and to compute.
    """

    head: Mapping[str, Any]
    files: Mapping[str, Iterable[bytes]] = field(default_factory=dict)
    seconds: tuple[float, float] = (0.0, 0.0)


def refusal(error: SyntagmError, fatal: bool) -> Outcome:
    """Return the outcome of a worker that met an error; `fatal` if it ends the command, not only this model."""
    said = {"place": error.place, "found": error.found, "expected": error.expected, "cure": error.cure}
    kind = next(base.__name__ for base in type(error).__mro__ if base.__module__ == errors.__name__)
    return Outcome({"error": {"kind": kind, **said}, "fatal": fatal})


@dataclass(frozen=True, slots=True)
class Arrival(ABC):
    """An outcome that has arrived."""

    piece: Piece  # `piece`, `worker`: what was computed by whom
    worker: str
    head: Mapping[str, Any]  # as the worker delivered it
    files: Mapping[str, Path]  # the files that it delivered, as files of the driver: name -> place
    hashes: Mapping[str, str]  # the SHA-256 of the files
    seconds: Sequence[float]  # as in `Outcome`

    @abstractmethod
    def settle(self) -> bool:
        """Have all files in their places, durably; return whether they are those that the worker wrote."""
        # It is called once, in a thread, since it waits for the file system. It may raise OSError.

    @abstractmethod
    def remove(self) -> None:
        """Delete those files that were not moved."""
        # This must come before the piece is offered again: the same worker may take it, and write files of the same
        # names.

    def error(self) -> SyntagmError | None:
        if not (said := self.head.get("error")):
            return None
        kind = getattr(errors, said["kind"], RunError)
        refusal: SyntagmError = kind(said["place"], said["found"], said["expected"], said["cure"])
        return refusal


@dataclass(frozen=True, slots=True)
class Begun:
    """A worker has taken a piece."""

    piece: Piece
    worker: str


@dataclass(frozen=True, slots=True)
class Answered:
    """So many questions of a piece are answered so far."""

    piece: Piece
    count: int


@dataclass(frozen=True, slots=True)
class Lost:
    """A worker will not deliver a piece that it had taken, or no sign of life makes one wait for it."""

    piece: Piece
    worker: str
    reason: str  # why, as a person reads it: "worker w1: killed by SIGKILL"
    blamed: bool = True  # whether the piece may be at fault; not if the worker was ended from outside


@dataclass(frozen=True, slots=True)
class Ended:
    """A worker has ended, or could not be started. Its pieces were reported as lost before."""

    worker: str
    reason: str  # why
    evicted: bool = False
    refusal: RunError | None = None  # why it could not be started, if that is how it ended


@dataclass(frozen=True, slots=True)
class Warned:
    """The user should know this."""

    message: str


# What an executor tells the driver.
Event: TypeAlias = Arrival | Begun | Answered | Lost | Ended | Warned


def longest_first(sizes: Mapping[str, int], model: int) -> Sequence[Piece]:
    """Return the units of a model as pieces, largest first, so that no large one is left for the end.

    >>> [piece.name for piece in longest_first({"a": 5, "b": 9}, 1)]
    ['b', 'a']
    """
    names = sorted(sizes, key=lambda name: -sizes[name])
    return [Piece(model, place, name) for place, name in enumerate(names, 1)]


class Pace:
    """How long a worker takes."""

    def __init__(self) -> None:
        self.loading = 0.0
        self.units: list[float] = []

    def note(self, piece: Piece, seconds: Sequence[float]) -> None:
        loading, computing = seconds
        self.loading = loading or self.loading
        if piece.name not in (OPEN, RESULTS):
            self.units.append(computing)

    def worth_loading(self, offers: Mapping[int, Sequence[Piece]], busy: Mapping[int, int]) -> Iterator[int]:
        """Yield the models with which the worker may help, those with the fewest workers for their offers first."""
        # It doesn't help if others finish the units of a model before it is loaded. A unit that is taken waits for the
        # loading, which is estimated by the last model, as the time of a unit is. What nobody works on must be taken in
        # any case.
        counts = {model: busy.get(model, 0) for model in offers}
        for model in sorted(offers, key=lambda model: (counts[model] / len(offers[model]), model)):
            workers = counts[model]
            if not workers or not self.units or len(offers[model]) / workers * fmean(self.units) > self.loading:
                yield model


def encoded_head(outcome: Outcome, hashes: Mapping[str, str]) -> bytes:
    """Return all of an outcome but the content of its files, as JSON."""
    return json.dumps({**outcome.head, "hashes": hashes, "seconds": outcome.seconds}).encode()
