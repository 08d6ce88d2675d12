"""Executors whose workers exchange files with the driver, in a folder that all of them see: see `runs.exchange`.

Such an executor only starts workers and tells which have ended. The folder is the same for all of them, so the processes of one
machine test what a cluster relies on.
"""

import contextlib
import pickle
import sys
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntagm.core import Permissions, RunError, atomic, of_flags, regular
from syntagm.runs.exchange import Exchange, Pulse
from syntagm.runs.executors import Executor
from syntagm.runs.pieces import Answered, Begun, Ended, Event, Lost, Piece

if TYPE_CHECKING:
    from syntagm.runs.worker import Session


class SharedFolder(Executor):
    """A way to start workers that see the folder of the driver under the same path."""

    def __init__(self, address: str, options: Mapping[str, Any]) -> None:
        super().__init__(address, options)
        self._pulses: dict[tuple[Piece, str], Pulse] = {}
        self._looked = time.monotonic()

    @abstractmethod
    def start(self, workers: Sequence[str], session: "Session") -> None:
        """Start workers with these names, each of which calls `worker.serve(session, name, self.permissions)`."""
        # This must not wait for anything, since no unit is committed meanwhile. `ended` reports workers that can't be
        # started.

    @abstractmethod
    def ended(self) -> Mapping[str, str]:
        """Return the workers that have ended since the last call, each with the reason as far as it is known."""

    def refusal(self) -> RunError | None:
        """Return why workers that `ended` has just returned could not be started, if that is how they ended."""
        return None

    def evicted(self, worker: str) -> bool:
        """Return whether a worker that `ended` has just returned was ended from outside, through no fault of its work."""
        return False

    @contextlib.contextmanager
    def hosting(self, session: "Session") -> Iterator[None]:
        """Create the exchange, and renew the sign of life of the driver in a thread: to write large results may take long."""
        self._files = Exchange(session.exchange)
        try:
            self._files.create()
        except OSError as error:
            raise atomic.refusal(session.exchange.parent, error, 0) from error
        ended = threading.Event()

        def beat() -> None:
            while not ended.wait(self.beat):
                with contextlib.suppress(OSError):
                    self._files.pulse.touch()

        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def describe(self, model: int, order: Mapping[str, Any]) -> None:
        self._files.describe(model, order)

    def offer(self, piece: Piece) -> None:
        self._files.offer(piece)

    def withdraw(self, model: int) -> None:
        self._files.withdraw(model)

    def events(self, wait: float) -> Sequence[Event]:
        time.sleep(wait)
        # The order matters: what a worker delivered before it ended has arrived when its end is known.
        ended = self.ended()
        arrivals = self._files.arrivals()
        return [*arrivals, *self._looked_after(ended)]

    def _looked_after(self, ended: Mapping[str, str]) -> Iterator[Event]:
        """Look at the leases: release those of workers that have ended, or that gave no sign of life."""
        now = time.monotonic()
        if not ended and now - self._looked < self.beat / 2:
            return
        self._looked = now
        reasons = {worker: self._with_last_words(worker, reason) for worker, reason in ended.items()}
        leases = list(self._files.leases())
        yield from (Begun(*key) for key in leases if key not in self._pulses)
        self._pulses = {
            key: self._pulses.get(key) or Pulse(self._files.lease_of(*key), self.patience) for key in leases
        }
        for piece, worker in leases:
            if worker in ended:
                why = f"worker {worker}: {reasons[worker]}"
            elif not (pulse := self._pulses[piece, worker]).beats() and pulse.exists:
                why = f"worker {worker}: no sign of life for {self.patience:.0f} seconds"
            else:
                yield Answered(piece, pulse.size)
                continue
            self._files.release(piece, worker)
            yield Lost(piece, worker, why, blamed=not self.evicted(worker))
        refusal = self.refusal() if ended else None
        yield from (Ended(worker, reason, self.evicted(worker), refusal) for worker, reason in reasons.items())

    def _with_last_words(self, worker: str, reason: str) -> str:
        words = self._files.last_words(worker)
        return f"{reason} ({words})" if words else reason


def program(module: str, session: "Session", permissions: Permissions) -> list[str]:
    """Return the beginning of the command of a process that calls `main(session, permissions, *words)`; words follow."""
    # Like the command of the user, the process imports nothing from the current folder.
    file = session.exchange / "session"
    if not file.exists():
        # A pickle, as Ray makes one: the folder was made for this command, and is deleted after it.
        file.write_bytes(pickle.dumps(session))
    place = str(Path(__file__).parents[2])
    code = (
        f"import sys; {place!r} in sys.path or sys.path.insert(0, {place!r}); from {module} import main; "
        "from syntagm.runs.shared_folder import started; started(main, *sys.argv[1:])"
    )
    return [sys.executable, "-P", "-c", code, str(file), *permissions.flags]


def started(main: Callable[..., None], file: str, *words: str) -> None:
    """Call `main` in a process that was started with the command of `program`."""
    granted = of_flags(words)
    main(pickle.loads(regular.content(file)), granted, *words[len(granted.flags) :])
