"""The driver: it hands out the units of one or more models to workers, and alone commits what they compute.

    for each model: offer its opening -> open the ledger -> offer the missing units, largest first -> commit each -> finish

It loads no model and no suite. Workers find offers and deliver outcomes in a folder (`runs.exchange`), whichever executor
started them. A killed worker costs one unit: that which it had taken is offered again. The command after a kill of the
driver goes on from the ledgers, as always.
"""

import contextlib
import hashlib
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from syntagm.errors import RunError, SyntagmError
from syntagm.io import atomic
from syntagm.progress import Progress
from syntagm.runs.exchange import OPEN, Exchange, Outcome, Piece, Pulse, longest_first
from syntagm.runs.executors import Executor
from syntagm.runs.ledger import Ledger, Opening, locked
from syntagm.runs.store import Run
from syntagm.runs.worker import Session, Work, versions
from syntagm.tasks.task import Unit

# A piece that has lost so many workers in a row is set aside.
TRIES = 3
# Models opened beyond the number of workers, so that nobody waits for an opening; and how many locks a process may hold.
_AHEAD, _MOST_OPEN = 2, 500
_LONGEST_WAIT = 0.1


@dataclass(frozen=True, slots=True)
class Job:
    """A model to evaluate.

    Arguments:
        model: the name of the model.
        label: its name in tables; "" for none.
        folder: its run directory.
    """

    model: str
    label: str
    folder: Path


def drive(
    jobs: Sequence[Job], work: Work, folder: Path, executor: Executor, progress: Progress
) -> Iterator[tuple[Job, Run | SyntagmError]]:
    """Evaluate models with the workers of an executor, and yield each model when it is finished or has failed.

    Arguments:
        folder: an existing folder, in which a folder for the exchange is made, and deleted at the end.

    Raises:
        RunError: the workers can't be started, or have other versions.
        Interrupted: `progress` requested a stop; making the same call again resumes the runs.
    """
    with contextlib.ExitStack() as stack:
        try:
            exchange = Exchange(stack.enter_context(atomic.scratch(folder / "work")))
            exchange.create()
        except OSError as error:
            raise atomic.refusal(folder, error, 0) from error
        session = Session(work, exchange.folder.absolute(), Path.cwd(), versions(), executor.beat, executor.patience)
        stack.callback(executor.stop)
        stack.enter_context(_beating(exchange.pulse, executor.beat))
        yield from _Driver(jobs, exchange, session, executor, progress).run()


@contextlib.contextmanager
def _beating(pulse: Path, beat: float) -> Iterator[None]:
    """Renew the sign of life of the driver in a thread: to write the results of a large run may take long."""
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(beat):
            with contextlib.suppress(OSError):
                pulse.touch()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


class _Model:
    """A model whose run is open.

    Attributes:
        missing: the units that are not yet committed, by name; None before the run is opened.
        stack: what ends with the run: the lock of its folder, and the writing of its results.
    """

    def __init__(self, job: Job) -> None:
        self.job, self.stack = job, contextlib.ExitStack()
        self.missing: dict[str, Unit] | None = None
        self.stack.enter_context(locked(job.folder))
        try:
            self.ledger = Ledger(job.folder)
        except SyntagmError:
            self.stack.close()
            raise

    def close(self, error: BaseException | None = None) -> None:
        """Write the results, or after an error only what the record says of it, and unlock the folder."""
        self.stack.__exit__(type(error) if error else None, error, None)


class _Driver:
    """The state of `drive`."""

    def __init__(
        self, jobs: Sequence[Job], exchange: Exchange, session: Session, executor: Executor, progress: Progress
    ) -> None:
        self._jobs, self._exchange, self._session = jobs, exchange, session
        self._executor, self._progress = executor, progress
        self._waiting = deque(range(len(jobs)))
        self._open: dict[int, _Model] = {}
        self._started = self._ended_workers = self._barren = 0
        self._pulses: dict[tuple[Piece, str], Pulse] = {}
        self._looked = time.monotonic()
        self._lost = Counter[Piece]()

    def run(self) -> Iterator[tuple[Job, Run | SyntagmError]]:
        """Evaluate all models; see `drive`."""
        try:
            yield from self._run()
        except BaseException as error:
            for model in self._open.values():
                model.close(error)
            raise

    def _run(self) -> Iterator[tuple[Job, Run | SyntagmError]]:
        self._start(self._executor.count)
        wait = 0.0
        while self._waiting or self._open:
            while self._waiting and len(self._open) < min(self._executor.count + _AHEAD, _MOST_OPEN):
                yield from self._begin(self._waiting.popleft())
            # The order matters: what a worker delivered before it ended has arrived when its end is known.
            ended = self._executor.ended()
            wait = min(_LONGEST_WAIT, max(0.002, wait * 1.5))
            for piece, outcome in self._exchange.outcomes():
                wait = self._barren = 0
                yield from self._receive(piece, outcome)
            yield from self._release(ended)
            self._progress.answered("", 0)
            complete = next((number for number, model in self._open.items() if model.missing == {}), None)
            if complete is None:
                time.sleep(wait)
            else:
                # One at a time: workers may wait for an opening.
                yield from self._finish(complete)

    def _start(self, count: int) -> None:
        self._started += count
        names = [f"w{number}" for number in range(self._started - count + 1, self._started + 1)]
        self._executor.start(names, self._session)

    def _begin(self, number: int) -> Iterator[tuple[Job, SyntagmError]]:
        """Lock a run directory, and offer the opening of the run."""
        job = self._jobs[number]
        try:
            model = self._open[number] = _Model(job)
        except SyntagmError as error:
            yield job, error
            return
        self._exchange.describe(number, {"model": job.model, "label": job.label, "options": model.ledger.options})
        self._exchange.offer(Piece(number, 0, OPEN))

    def _receive(self, piece: Piece, outcome: Outcome) -> Iterator[tuple[Job, Run | SyntagmError]]:
        """Open a run, or commit a unit. What nobody waits for any more is ignored: another worker was quicker."""
        if not (model := self._open.get(piece.model)):
            return
        error = outcome.error()
        if error and outcome.head["fatal"]:
            raise error
        try:
            if error:
                raise error
            if piece.name != OPEN:
                yield from self._commit(model, piece, outcome)
            elif model.missing is None:
                self._opened(piece.model, model, outcome)
        except SyntagmError as error:
            yield from self._fail(piece.model, error)

    def _opened(self, number: int, model: _Model, outcome: Outcome) -> None:
        head = outcome.head
        units = tuple(Unit(*fields) for fields in head["units"])
        opened = Opening(head["record"], units, tuple(head["tables"]), outcome.files, tuple(head["warnings"]))
        self._progress.began(model.job.label or model.job.model)
        for warning in opened.warnings:
            self._progress.warned(warning)
        missing = model.ledger.open(opened, self._progress)
        model.stack.enter_context(model.ledger.finishing())
        model.missing = {unit.name: unit for unit in missing}
        recorded = opened.record["model"]
        order = {
            "model": model.job.model,
            "label": model.job.label,
            "options": model.ledger.options or opened.record["options"],
        }
        # Offers come first: the worker that planned the run waits for the fingerprint, and then takes the first one.
        for piece in longest_first({unit.name: unit.size for unit in missing}, number):
            self._exchange.offer(piece)
        self._exchange.describe(number, order | {"fingerprint": recorded["fingerprint"]})

    def _commit(self, model: _Model, piece: Piece, outcome: Outcome) -> Iterator[tuple[Job, SyntagmError]]:
        if not model.missing or piece.name not in model.missing:
            return
        line = dict(outcome.head)
        for ending, content in outcome.files.items():
            if hashlib.sha256(content).hexdigest() != line["files"].get(ending):
                # The file system lost or mixed up bytes. The unit is computed again.
                yield from self._again(piece, f"worker {outcome.worker}: a damaged table")
                return
        model.ledger.store(line, outcome.files)
        unit = model.missing.pop(piece.name)
        self._lost.pop(piece, None)
        self._progress.answered(unit.suite, unit.size)

    def _finish(self, number: int) -> Iterator[tuple[Job, Run | SyntagmError]]:
        """Write the results of a model."""
        model = self._open[number]
        self._exchange.withdraw(number)
        try:
            model.close()
            run = model.ledger.run()
        except SyntagmError as error:
            yield from self._fail(number, error)
        else:
            yield self._ended(number), run

    def _fail(self, number: int, error: SyntagmError) -> Iterator[tuple[Job, SyntagmError]]:
        """Give up a model; the others go on."""
        model = self._open[number]
        self._exchange.withdraw(number)
        # The worker that waits for the answer to its opening need not wait any longer.
        self._exchange.describe(number, {"fingerprint": ""})
        model.close(error)
        yield self._ended(number), error

    def _ended(self, number: int) -> Job:
        self._lost = Counter({piece: count for piece, count in self._lost.items() if piece.model != number})
        return self._open.pop(number).job

    def _release(self, ended: Mapping[str, str]) -> Iterator[tuple[Job, SyntagmError]]:
        """Offer again what was taken by workers that ended, or that gave no sign of life; start others for the first."""
        now = time.monotonic()
        if not ended and now - self._looked < self._session.beat / 2:
            return
        self._looked = now
        leases = list(self._exchange.leases())
        self._pulses = {
            key: self._pulses.get(key) or Pulse(self._exchange.lease_of(*key), self._session.patience) for key in leases
        }
        busy = {worker for _, worker in leases}
        for worker, reason in ended.items():
            # To end with a lease is the fault of the unit, else that of the place where workers run.
            self._barren += worker not in busy
            if self._barren >= TRIES:
                cure = "Finished work is kept: remove the cause and run the same command again."
                found = f"{TRIES} workers ended without any work, the last one with {self._words(worker, reason)}"
                raise RunError(f"--executor {self._executor.text}", found, "workers that stay", cure)
        for piece, worker in leases:
            if worker in ended:
                why = f"worker {worker}: {self._words(worker, ended[worker])}"
            elif not self._pulses[piece, worker].beats() and self._exchange.lease_of(piece, worker).exists():
                why = f"worker {worker}: no sign of life for {self._session.patience:.0f} seconds"
            else:
                continue
            self._exchange.release(piece, worker)
            yield from self._again(piece, why)
        self._ended_workers += len(ended)
        left = len(self._waiting) + sum(len(model.missing or "?") for model in self._open.values())
        if new := min(len(ended), max(0, left - self._started + self._ended_workers)):
            self._start(new)

    def _again(self, piece: Piece, reason: str) -> Iterator[tuple[Job, SyntagmError]]:
        """Offer a piece again, or give up its model if it was lost too often."""
        model = self._open.get(piece.model)
        if not model or (piece.name not in model.missing if model.missing is not None else piece.name != OPEN):
            return
        self._lost[piece] += 1
        label = model.job.label or model.job.model
        place = f"{label}, its loading" if model.missing is None else _place(label, model.missing[piece.name])
        if self._lost[piece] < TRIES:
            self._progress.warned(f"{place}: lost with {reason}; it is computed again")
            self._exchange.offer(piece)
            return
        cure = "Finished work is kept. Look for the cause (memory? time limit?), and run the same command again."
        error = RunError(
            place, f"lost {TRIES} workers in a row, the last one with {reason}", "a worker that stays", cure
        )
        yield from self._fail(piece.model, error)

    def _words(self, worker: str, reason: str) -> str:
        words = self._exchange.last_words(worker)
        return f"{reason} ({words})" if words else reason


def _place(label: str, unit: Unit) -> str:
    return f"{label}, suite {unit.suite}, unit {unit.name[:8]}"
