"""The driver: it hands out the units of one or more models to workers, and alone commits what they compute.

    for each model: offer its opening -> open the ledger -> offer the missing units, largest first -> commit them
                    -> offer the writing of its results -> finish

It loads no model and no suite. Workers find offers and deliver outcomes in a folder (`runs.exchange`), whichever executor
started them. A killed worker costs one unit: that which it had taken is offered again. The command after a kill of the
driver goes on from the ledgers, as always.

What limits the number of workers is the time of the driver. So workers write files, and encode the results; the driver checks
hashes and moves files. Units that have arrived together are committed together: a run folder and its ledger are fsynced once
for all of them, and different runs in parallel, because a fsync is a time of waiting.
"""

import contextlib
import math
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from syntagm.errors import RunError, SyntagmError
from syntagm.io import atomic, regular
from syntagm.progress import Progress
from syntagm.runs.evaluation import Job
from syntagm.runs.exchange import OPEN, RESULTS, Arrival, Exchange, Piece, Pulse, longest_first
from syntagm.runs.executors import Executor
from syntagm.runs.ledger import Ledger, Opening, locked
from syntagm.runs.store import Run
from syntagm.runs.worker import Session, Work, versions
from syntagm.tasks.task import Options, Unit

# A piece that has lost so many workers in a row is set aside.
TRIES = 3
# Models opened beyond the number of workers, so that nobody waits for an opening; and how many locks a process may hold.
_AHEAD, _MOST_OPEN = 2, 500
_LONGEST_WAIT = 0.1
# The number of runs that are written at the same time.
_COMMITTING = 8


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
        executor.connect()
        stack.callback(executor.stop)
        stack.enter_context(_beating(exchange.pulse, executor.beat))
        pool = stack.enter_context(ThreadPoolExecutor(_COMMITTING))
        yield from _Driver(jobs, exchange, session, executor, progress, pool).run()


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
        reported: how many questions of units that are not yet committed were reported as answered.
        stack: what ends with the run: the lock of its folder, and the note of an interruption.
    """

    def __init__(self, job: Job) -> None:
        assert job.folder, "workers write no runs in memory"
        self.job, self.stack = job, contextlib.ExitStack()
        self.missing: dict[str, Unit] | None = None
        self.reported = Counter[str]()
        self.stack.enter_context(locked(job.folder))
        try:
            self.ledger = Ledger(job.folder)
        except SyntagmError:
            self.stack.close()
            raise

    def close(self, error: BaseException | None = None) -> None:
        """Unlock the folder; after an interruption, note it in the record."""
        self.stack.__exit__(type(error) if error else None, error, None)


class _Driver:
    """The state of `drive`."""

    def __init__(
        self,
        jobs: Sequence[Job],
        exchange: Exchange,
        session: Session,
        executor: Executor,
        progress: Progress,
        pool: ThreadPoolExecutor,
    ) -> None:
        self._jobs, self._exchange, self._session = jobs, exchange, session
        self._executor, self._progress, self._pool = executor, progress, pool
        self._waiting = deque(range(len(jobs)))
        self._open: dict[int, _Model] = {}
        self._started = self._ended_workers = self._barren = 0
        # The workers that have delivered something.
        self._delivered: set[str] = set()
        self._pulses: dict[tuple[Piece, str], Pulse] = {}
        self._looked = time.monotonic()
        # When workers were last refused, and why.
        self._refused, self._reason = -math.inf, ""
        self._lost = Counter[Piece]()
        # The seconds in which workers loaded models and computed units, and in which units were committed.
        self._seconds = [0.0, 0.0, 0.0]

    def run(self) -> Iterator[tuple[Job, Run | SyntagmError]]:
        """Evaluate all models; see `drive`."""
        try:
            yield from self._run()
        except BaseException as error:
            # A thread may still commit units.
            self._pool.shutdown()
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
            if arrivals := self._exchange.arrivals():
                wait = self._barren = 0
                yield from self._receive(arrivals)
            yield from self._release(ended)
            self._progress.answered("", 0)
            time.sleep(wait)
        loading, computing, committing = self._seconds
        spent = f"{loading:.1f} s to load and plan models, {computing:.1f} s to compute units"
        self._progress.noted(f"the workers took {spent}; units were committed in {committing:.2f} s")

    def _start(self, count: int) -> None:
        names = [f"w{self._started + number}" for number in range(1, count + 1)]
        self._executor.start(names, self._session)
        self._started += count
        self._progress.noted(f"workers started: {', '.join(names)}")

    def _begin(self, number: int) -> Iterator[tuple[Job, SyntagmError]]:
        """Lock a run directory, and offer the opening of the run."""
        job = self._jobs[number]
        try:
            model = self._open[number] = _Model(job)
        except SyntagmError as error:
            self._progress.failed(None)
            yield job, error
            return
        self._exchange.describe(number, _order(job, model.ledger.options))
        self._exchange.offer(Piece(number, 0, OPEN))

    def _receive(self, arrivals: Sequence[Arrival]) -> Iterator[tuple[Job, Run | SyntagmError]]:
        """Open runs, finish runs, and commit units. What nobody waits for any more is ignored: another worker was quicker."""
        self._delivered |= {arrival.worker for arrival in arrivals}
        units: dict[int, list[Arrival]] = {}
        refused = []
        for arrival in arrivals:
            if error := arrival.error():
                refused.append((arrival, error))
            elif not (model := self._awaiting(arrival.piece)):
                self._progress.noted(f"{arrival.worker}: another worker was quicker with piece {arrival.piece}")
                self._exchange.remove(arrival)
            elif arrival.piece.name == OPEN:
                yield from self._opened(arrival, model)
            elif arrival.piece.name == RESULTS:
                yield from self._written(arrival, model)
            else:
                units.setdefault(arrival.piece.model, []).append(arrival)
        yield from self._commit(units)
        # Errors come last, so that no finished unit is lost.
        for arrival, error in refused:
            if arrival.head["fatal"]:
                raise error
            if self._awaiting(arrival.piece):
                yield from self._fail(arrival.piece.model, error)

    def _awaiting(self, piece: Piece) -> _Model | None:
        """Return the model that waits for a piece; None if no model does."""
        if not (model := self._open.get(piece.model)):
            return None
        awaited = {OPEN} if model.missing is None else model.missing.keys() or {RESULTS}
        return model if piece.name in awaited else None

    def _opened(self, arrival: Arrival, model: _Model) -> Iterator[tuple[Job, Run | SyntagmError]]:
        """Open the ledger with the plan of a worker, and offer the missing units."""
        head, number = arrival.head, arrival.piece.model
        if not arrival.is_whole():
            yield from self._again_after_damage(arrival)
            return
        if "unchanged" in head:
            self._note(arrival, model)
            self._dismiss(number)
            for job, result in self._finish(number):
                self._progress.began(job.shown)
                if isinstance(result, Run):
                    result.report_finished(self._progress)
                yield job, result
            return
        units = tuple(Unit(*fields) for fields in head["units"])
        files = {name: regular.content(path) for name, path in arrival.files.items()}
        self._exchange.remove(arrival)
        self._note(arrival, model)
        opened = Opening(head["record"], units, tuple(head["tables"]), files, tuple(head["warnings"]))
        self._progress.began(model.job.shown)
        for warning in opened.warnings:
            self._progress.warned(warning)
        try:
            missing = model.ledger.open(opened, self._progress)
        except SyntagmError as error:
            yield from self._fail(number, error)
            return
        model.stack.enter_context(model.ledger.noting_interruption())
        model.missing = {unit.name: unit for unit in missing}
        # Offers come first: the worker that planned the run waits for the fingerprint, and then takes the first one.
        for piece in longest_first({unit.name: unit.size for unit in missing}, number):
            self._exchange.offer(piece)
        order = _order(model.job, model.ledger.options or opened.record["options"])
        self._exchange.describe(number, order | {"fingerprint": opened.record["model"]["fingerprint"]})
        yield from self._finish_computed(number)

    def _commit(self, units: Mapping[int, Sequence[Arrival]]) -> Iterator[tuple[Job, Run | SyntagmError]]:
        """Commit units, given by their model, and report them."""
        began = time.monotonic()
        commits = {number: self._pool.submit(_committed, self._open[number], units[number]) for number in units}
        wait(commits.values())
        took = time.monotonic() - began
        self._seconds[2] += took
        for number, commit in commits.items():
            try:
                committed, damaged = commit.result()
            except SyntagmError as error:
                yield from self._fail(number, error)
                continue
            missing = self._open[number].missing or {}
            for arrival in committed:
                self._note(arrival, self._open[number], took)
                unit = missing.pop(arrival.piece.name)
                self._lost.pop(arrival.piece, None)
                self._progress.answered(unit.suite, unit.size - self._open[number].reported.pop(unit.name, 0))
            for arrival in units[number]:
                # Another worker may have computed the same unit, too.
                if arrival not in damaged:
                    self._exchange.remove(arrival)
            for arrival in damaged:
                yield from self._again_after_damage(arrival)
            yield from self._finish_computed(number)

    def _finish_computed(self, number: int) -> Iterator[tuple[Job, Run | SyntagmError]]:
        """If all units of a model are committed, finish its run, or offer the writing of its results."""
        if not (model := self._open.get(number)) or model.missing:
            return
        if model.ledger.complete:
            yield from self._finish(number)
        else:
            self._exchange.offer(Piece(number, 0, RESULTS))

    def _written(self, arrival: Arrival, model: _Model) -> Iterator[tuple[Job, Run | SyntagmError]]:
        """Finish a run with the results that a worker has written."""
        if not arrival.is_whole():
            yield from self._again_after_damage(arrival)
            return
        self._note(arrival, model)
        try:
            model.ledger.finish(arrival.files, arrival.hashes)
        except SyntagmError as error:
            yield from self._fail(arrival.piece.model, error)
        else:
            yield from self._finish(arrival.piece.model)

    def _finish(self, number: int) -> Iterator[tuple[Job, Run | SyntagmError]]:
        """Close a run that is done."""
        model = self._open[number]
        self._exchange.withdraw(number)
        model.close()
        try:
            run = model.ledger.run()
        except SyntagmError as error:
            yield self._ended(number), error
        else:
            yield self._ended(number), run

    def _fail(self, number: int, error: SyntagmError) -> Iterator[tuple[Job, SyntagmError]]:
        """Give up a model; the others go on."""
        model = self._open[number]
        self._exchange.withdraw(number)
        self._dismiss(number)
        model.close(error)
        planned = model.missing
        left = None if planned is None else sum(unit.size for unit in planned.values()) - model.reported.total()
        self._progress.failed(left)
        yield self._ended(number), error

    def _dismiss(self, number: int) -> None:
        """Answer the worker that waits after the opening of a model: no units follow."""
        model = self._open[number]
        self._exchange.describe(number, _order(model.job, model.ledger.options) | {"fingerprint": ""})

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
        for piece, worker in leases:
            if (piece, worker) not in self._pulses and (model := self._awaiting(piece)):
                self._progress.noted(f"{worker}: {_place(model, piece)}: begun")
        self._pulses = {
            key: self._pulses.get(key) or Pulse(self._exchange.lease_of(*key), self._session.patience) for key in leases
        }
        # To end with a lease is the fault of the unit.
        blameless = self._delivered | {worker for _, worker in leases} | set(filter(self._executor.evicted, ended))
        for worker, reason in ended.items():
            self._progress.noted(f"{worker}: ended with {self._words(worker, reason)}")
        for piece, worker in leases:
            if worker in ended:
                why = f"worker {worker}: {self._words(worker, ended[worker])}"
            elif not (pulse := self._pulses[piece, worker]).beats() and pulse.exists:
                why = f"worker {worker}: no sign of life for {self._session.patience:.0f} seconds"
            else:
                self._report(piece, pulse.size)
                continue
            self._exchange.release(piece, worker)
            yield from self._again(piece, why, blamed=not self._executor.evicted(worker))
        self._ended_workers += len(ended)
        self._replace({worker: reason for worker, reason in ended.items() if worker not in blameless})

    def _replace(self, barren: Mapping[str, str]) -> None:
        """Start workers for those that have ended, as far as there is work for them.

        Arguments:
            barren: the workers that have just ended through a fault of the place where they run, with the reasons.

        Raises:
            RunError: too many workers ended before they did anything, or no worker is left and none can be started.
        """
        alive = self._started - self._ended_workers
        left = len(self._waiting) + sum(len(model.missing or "?") for model in self._open.values())
        new = min(self._executor.count, left) - alive
        if new <= 0:
            return
        if refusal := self._executor.refusal():
            if not alive:
                raise refusal
            self._refused = time.monotonic()
            # A cluster may be full for hours.
            if refusal.found != self._reason:
                self._reason, place = refusal.found, refusal.place
                self._progress.warned(f"{place}: {self._reason}; the other workers go on, and it is tried again")
            return
        self._barren += len(barren)
        if barren and self._barren >= TRIES:
            cure = "Finished work is kept: remove the cause and run the same command again."
            found = (
                f"{TRIES} workers ended without any work, the last one with {self._words(*list(barren.items())[-1])}"
            )
            raise RunError(f"--executor {self._executor.text}", found, "workers that stay", cure)
        if alive and time.monotonic() < self._refused + self._session.patience:
            return
        self._start(new)

    def _note(self, arrival: Arrival, model: _Model, committing: float = 0.0) -> None:
        """Note what a worker delivered, and add up its time."""
        loading, computing = arrival.seconds
        self._seconds[0] += loading
        self._seconds[1] += computing
        times = [f"loaded and planned in {loading:.2f} s"] if loading else []
        if unit := (model.missing or {}).get(arrival.piece.name):
            times += [f"{unit.size:,} {self._session.work.task.noun}s in {computing:.2f} s"]
            times += [f"committed in {committing:.3f} s"]
        done = ", ".join(times) or "written"
        self._progress.noted(f"{arrival.worker}: {_place(model, arrival.piece)}: {done}")

    def _report(self, piece: Piece, answered: int) -> None:
        """Report how far a worker is with a unit. If the unit was lost, that waits until another worker is farther."""
        if (model := self._awaiting(piece)) and (unit := (model.missing or {}).get(piece.name)):
            further = min(answered, unit.size) - model.reported[piece.name]
            if further > 0:
                model.reported[piece.name] += further
                self._progress.answered(unit.suite, further)

    def _again(self, piece: Piece, reason: str, blamed: bool = True) -> Iterator[tuple[Job, SyntagmError]]:
        """Offer a piece again, or give up its model if it was lost too often, and is to blame for it."""
        if not (model := self._awaiting(piece)):
            return
        self._lost[piece] += blamed
        place = _place(model, piece)
        if self._lost[piece] < TRIES:
            self._progress.warned(f"{place}: lost with {reason}; it is computed again")
            self._exchange.offer(piece)
            return
        cure = "Finished work is kept. Look for the cause (memory? time limit?), and run the same command again."
        error = RunError(
            place, f"lost {TRIES} workers in a row, the last one with {reason}", "a worker that stays", cure
        )
        yield from self._fail(piece.model, error)

    def _again_after_damage(self, arrival: Arrival) -> Iterator[tuple[Job, SyntagmError]]:
        """Offer a piece again of whose files the file system lost or mixed up bytes."""
        self._exchange.remove(arrival)
        yield from self._again(arrival.piece, f"worker {arrival.worker}: a damaged file")

    def _words(self, worker: str, reason: str) -> str:
        words = self._exchange.last_words(worker)
        return f"{reason} ({words})" if words else reason


def _order(job: Job, options: Options) -> dict[str, Any]:
    """Return what workers have to know of a model before its run is opened."""
    assert job.folder, "workers write no runs in memory"
    return {"model": job.name, "label": job.label, "folder": str(job.folder.absolute()), "options": options}


def _committed(model: _Model, arrivals: Sequence[Arrival]) -> tuple[Sequence[Arrival], Sequence[Arrival]]:
    """Commit units of a model; return those that are committed, and those with a damaged table."""
    # Two workers may have computed the same unit.
    units = {arrival.piece: arrival for arrival in arrivals}.values()
    whole = [arrival for arrival in units if arrival.is_whole()]
    if whole:
        model.ledger.commit_written([(arrival.head, arrival.files) for arrival in whole])
    return whole, [arrival for arrival in units if arrival not in whole]


def _place(model: _Model, piece: Piece) -> str:
    label = model.job.shown
    if not model.missing:
        return f"{label}, {'loading' if piece.name == OPEN else 'results'}"
    return f"{label}, {model.missing[piece.name]}"
