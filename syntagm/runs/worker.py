"""A worker that takes pieces of work from an exchange, computes them, and delivers them there."""

import contextlib
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntagm.core import NONE, Permissions
from syntagm.runs.computing import Computer, Tally, Work
from syntagm.runs.exchange import Exchange, Pulse
from syntagm.runs.pieces import OPEN, Piece
from syntagm.suites import SuiteFiles

_LONGEST_WAIT = 1.0


@dataclass(frozen=True, slots=True)
class Session:
    """What all workers of a command have in common. Executors hand it over in the way of their library.

    Arguments:
        work: what they do.
        exchange: the folder of the exchange.
        directory: the current directory of the command, at which relative paths start.
        versions: the versions of the driver.
        beat: the seconds between two renewals of a lease.
        patience: the seconds without a renewal after which a worker or the driver counts as dead.
    """

    work: Work
    exchange: Path
    directory: Path
    versions: dict[str, str]
    beat: float
    patience: float


class _Heart:
    """A thread that renews the lease of the worker, and ends the process when the driver is dead."""

    def __init__(self, session: Session, answered: Tally) -> None:
        self._lease: Path | None = None
        self._beat, self._patience = session.beat, session.patience
        self._pulse = Pulse(session.exchange / "pulse", session.patience)
        self._exchange, self._answered = Exchange(session.exchange), answered
        threading.Thread(target=self._run, daemon=True).start()

    def renew(self, lease: Path | None) -> None:
        self._lease = lease

    def _run(self) -> None:
        while self._pulse.beats():
            if lease := self._lease:
                # Without a lease, the driver gave the piece to another worker. If this one delivers it first, that does no harm.
                with contextlib.suppress(OSError):
                    self._exchange.renew(lease, self._answered.count)
            time.sleep(self._beat)
        if self._pulse.exists:
            print(f"no sign of life of the command for {self._patience:.0f} seconds", file=sys.stderr, flush=True)
        os._exit(0)


class Worker(Computer):
    """A worker, which computes one piece at a time."""

    def __init__(self, session: Session, name: str, permissions: Permissions = NONE) -> None:
        files = SuiteFiles(session.work.files, permissions.allow_pickle)
        super().__init__(session.work, name, files, session.versions, permissions)
        self._exchange = Exchange(session.exchange)

    def step(self, taken: Callable[[Path], None] = lambda _: None) -> Piece | None:
        """Take a piece, compute and deliver it, and return it; None if there is none."""
        piece = self._taken()
        if piece:
            # Before the lease is renewed for the first time, or it would tell the number of the last unit.
            self.answered.count = 0
            taken(self._exchange.lease_of(piece, self.name))
            order = self._order(piece)
            self.deliver(piece, order, lambda outcome: self._exchange.deliver(piece, self.name, outcome))
        return piece

    def _order(self, piece: Piece) -> dict[str, Any]:
        """Return what the driver wrote of a model. Units are offered before the last of it can be read."""
        while "fingerprint" not in (order := self._exchange.order(piece.model)) and piece.name != OPEN:
            time.sleep(0.01)
        return order

    def _taken(self) -> Piece | None:
        """Take a piece: of the loaded model if there is one, else of the model with the fewest workers for its offers."""
        if self.loaded and (piece := self._first(self._exchange.offers_of(self.loaded.number))):
            return piece
        offers = self._exchange.offers()
        busy = Counter(piece.model for piece, _ in self._exchange.leases())
        pieces = (self._first(offers[model]) for model in self.pace.worth_loading(offers, busy))
        return next(filter(None, pieces), None)

    def _first(self, pieces: Sequence[Piece]) -> Piece | None:
        return next((piece for piece in pieces if self._exchange.lease(piece, self.name)), None)


def serve(session: Session, name: str, permissions: Permissions) -> None:
    """Compute pieces until the driver ends the exchange; see `Worker`. This is all that a process of a worker does."""
    os.chdir(session.directory)
    exchange, worker = Exchange(session.exchange), Worker(session, name, permissions)
    heart = _Heart(session, worker.answered)
    wait = 0.0
    while exchange.pulse.exists():
        try:
            piece = worker.step(heart.renew)
        except FileNotFoundError:
            if exchange.pulse.exists():
                raise
            return  # the driver has deleted the exchange
        heart.renew(None)
        if piece is None:
            wait = min(_LONGEST_WAIT, max(0.01, wait * 1.5))
            time.sleep(wait)
            continue
        wait = 0.0
        # The worker that planned a run waits for the driver, so that it computes the first units itself. If the plan arrived
        # damaged, it is offered again.
        while piece.name == OPEN and exchange.pulse.exists():
            if exchange.answered(piece.model) or exchange.offers_of(piece.model):
                break
            time.sleep(0.005)


def main(session: Session, permissions: Permissions, worker: str) -> None:
    """Serve as a process of the executor `local`, which keeps the standard input open as long as it lives."""

    def end_with_driver() -> None:
        sys.stdin.buffer.read()
        os._exit(0)

    threading.Thread(target=end_with_driver, daemon=True).start()
    serve(session, worker, permissions)
