"""The driver: it hands out the units of one or more models to workers, and alone commits what they compute.

    executor -> events -> states of the models -> effects -> executor, ledgers, results

What is to be done is decided by a small machine for each model (`runs.states`); this loop carries its effects out. The driver
loads no model and no suite. An executor (`runs.executors`) takes offers to workers and brings back outcomes. A killed worker
costs one unit: that which it had taken is offered again. The command after a kill of the driver goes on from the ledgers.

What limits the number of workers is the time of the driver. So workers encode tables and results; the driver checks hashes and
moves files. Units that have arrived together are committed together: a run folder and its ledger are fsynced once for all of
them, and different runs in parallel, because a fsync is a time of waiting.
"""

import contextlib
import math
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntagm.core import Progress, RunError, SyntagmError, atomic, regular
from syntagm.evaluation import Options, Unit
from syntagm.runs import pieces, states
from syntagm.runs.computing import Work, versions
from syntagm.runs.evaluation import Job
from syntagm.runs.executors import Executor
from syntagm.runs.ledger import Ledger, Opening, locked
from syntagm.runs.pieces import OPEN, RESULTS, Arrival, Ended, Piece
from syntagm.runs.states import TRIES
from syntagm.runs.store import Run
from syntagm.runs.worker import Session

# Models opened beyond the number of workers, so that nobody waits for an opening; and how many locks a process may hold.
_AHEAD, _MOST_OPEN = 2, 500
_LONGEST_WAIT = 0.1
# The number of runs that are written at the same time.
_COMMITTING = 8


def drive(
    jobs: Sequence[Job], work: Work, folder: Path, executor: Executor, progress: Progress
) -> Iterator[tuple[Job, Run | SyntagmError]]:
    """Evaluate models with the workers of an executor, and yield each model when it is finished or has failed."""
    with contextlib.ExitStack() as stack:
        try:
            place = stack.enter_context(atomic.scratch(folder / "work"))
        except OSError as error:
            raise atomic.refusal(folder, error, 0) from error
        session = Session(work, place.absolute(), Path.cwd(), versions(), executor.beat, executor.patience)
        executor.connect()
        stack.callback(executor.stop)
        stack.enter_context(executor.hosting(session))
        pool = stack.enter_context(ThreadPoolExecutor(_COMMITTING))
        yield from _Driver(jobs, session, executor, progress, pool).run()


class _Open:
    """A locked run directory."""

    def __init__(self, job: Job) -> None:
        assert job.folder, "workers write no runs in memory"
        self.job, self.stack = job, contextlib.ExitStack()
        self.reported = Counter[str]()
        self.unchanged = False
        self.stack.enter_context(locked(job.folder))
        try:
            self.ledger = Ledger(job.folder, job.place)
        except SyntagmError:
            self.stack.close()
            raise
        self.order = _order(job, self.ledger.options)

    def close(self, error: BaseException | None = None) -> None:
        """Unlock the folder; after an interruption, note it in the record."""
        self.stack.__exit__(type(error) if error else None, error, None)


@dataclass
class _Seconds:
    """The seconds in which workers loaded models and computed units, and in which units were committed."""

    loading: float = 0.0
    computing: float = 0.0
    committing: float = 0.0


class _Driver:
    """The loop of `drive`: events in, effects out."""

    def __init__(
        self, jobs: Sequence[Job], session: Session, executor: Executor, progress: Progress, pool: ThreadPoolExecutor
    ) -> None:
        self._jobs, self._session, self._executor, self._progress, self._pool = jobs, session, executor, progress, pool
        self._models = [states.Model(number, job.shown) for number, job in enumerate(jobs)]
        self._waiting = deque(range(len(jobs)))
        self._open: dict[int, _Open] = {}
        self._staff = _Staff(session, executor, progress)
        self._results: deque[tuple[Job, Run | SyntagmError]] = deque()
        self._seconds = _Seconds()

    def run(self) -> Iterator[tuple[Job, Run | SyntagmError]]:
        try:
            yield from self._run()
        except BaseException as error:
            # A thread may still commit units.
            self._pool.shutdown()
            for opened in self._open.values():
                opened.close(error)
            raise

    def _run(self) -> Iterator[tuple[Job, Run | SyntagmError]]:
        self._staff.start(self._executor.count)
        wait = 0.0
        while self._waiting or self._open or self._results:
            while self._waiting and len(self._open) < min(self._executor.count + _AHEAD, _MOST_OPEN):
                self._handle([(self._waiting.popleft(), states.Begin())])
            while self._results:
                yield self._results.popleft()
            events = self._executor.events(wait) if self._open else []
            arrivals = [event for event in events if isinstance(event, Arrival)]
            wait = 0.0 if arrivals else min(_LONGEST_WAIT, max(0.002, wait * 1.5))
            # What has arrived comes first: a worker may have delivered a piece, and then ended.
            self._receive(arrivals)
            self._observe(events)
            left = len(self._waiting) + sum(len(self._models[number].missing or "?") for number in self._open)
            self._staff.replace([event for event in events if isinstance(event, Ended)], left)
            self._progress.answered("", 0)
        spent = (
            f"{self._seconds.loading:.1f} s to load and plan models, {self._seconds.computing:.1f} s to compute units"
        )
        self._progress.noted(f"the workers took {spent}; units were committed in {self._seconds.committing:.2f} s")

    def _receive(self, arrivals: Sequence[Arrival]) -> None:
        if arrivals:
            self._staff.barren = 0
        errors = [(arrival, arrival.error()) for arrival in arrivals]
        self._staff.productive |= {arrival.worker for arrival in arrivals}
        self._handle(
            [
                (each.piece.model, states.Refused(each, error) if error else states.Delivered(each))
                for each, error in errors
            ]
        )
        if fatal := next((error for arrival, error in errors if error and arrival.head["fatal"]), None):
            raise fatal

    def _observe(self, events: Iterable[pieces.Event]) -> None:
        """Handle what else the executor tells: beginnings, progress, losses and warnings."""
        for event in events:
            match event:
                case pieces.Begun(piece, worker):
                    self._staff.productive.add(worker)
                    if (model := self._models[piece.model]).awaits(piece):
                        self._progress.noted(f"{worker}: {model.place(piece)}: begun")
                case pieces.Answered(piece, count):
                    self._report(piece, count)
                case pieces.Lost(piece, worker, reason, blamed):
                    # To end with a piece is the fault of the piece.
                    self._staff.productive.add(worker)
                    self._handle([(piece.model, states.Gone(piece, reason, blamed))])
                case pieces.Warned(message):
                    self._progress.warned(message)
                case Ended(worker, reason):
                    self._progress.noted(f"{worker}: ended with {reason}")

    def _handle(self, events: Iterable[tuple[int, states.Event]]) -> None:
        """Handle events of models, given by their numbers, and all that follows from them."""
        queue = deque(events)
        while queue:
            commits: dict[int, list[Arrival]] = {}
            while queue:
                number, event = queue.popleft()
                for effect in self._models[number].handle(event):
                    if isinstance(effect, states.Accept) and effect.arrival.piece.name not in (OPEN, RESULTS):
                        commits.setdefault(number, []).append(effect.arrival)
                    else:
                        queue.extend((number, event) for event in self._perform(number, effect))
            queue.extend(self._commit(commits))

    def _perform(self, number: int, effect: states.Effect) -> Sequence[states.Event]:
        model, opened = self._models[number], self._open.get(number)
        match effect:
            case states.Lock():
                return [self._lock(number)]
            case states.Accept(arrival):
                assert opened
                return [
                    self._open_run(opened, arrival) if arrival.piece.name == OPEN else self._finish(opened, arrival)
                ]
            case states.Offer(piece):
                self._executor.offer(piece)
            case states.Answer(opened=units_follow):
                if opened:
                    order = opened.order if units_follow else opened.order | {"fingerprint": ""}
                    self._executor.describe(number, order)
            case states.Remove(arrival, late):
                if late:
                    self._progress.noted(f"{arrival.worker}: another worker was quicker with piece {arrival.piece}")
                arrival.remove()
            case states.Warn(piece, reason):
                self._progress.warned(f"{model.place(piece)}: lost with {reason}; it is computed again")
            case states.Withdraw():
                self._executor.withdraw(number)
            case states.Close(error):
                self._close(number, error)
        return []

    def _lock(self, number: int) -> states.Event:
        """Lock a run directory, and describe the model to the workers."""
        try:
            opened = self._open[number] = _Open(self._jobs[number])
        except SyntagmError as error:
            return states.Failed(None, error)
        self._executor.describe(number, opened.order)
        return states.Locked()

    def _open_run(self, opened: _Open, arrival: Arrival) -> states.Event:
        head, model = arrival.head, self._models[arrival.piece.model]
        if not arrival.settle():
            return states.Damaged(arrival)
        self._note(arrival)
        if "unchanged" in head:
            opened.unchanged = True
            opened.ledger.renew_place()
            return states.Unchanged()
        units = tuple(Unit(*fields) for fields in head["units"])
        files = {name: regular.content(path) for name, path in arrival.files.items()}
        arrival.remove()
        opening = Opening(head["record"], units, tuple(head["tables"]), files, tuple(head["warnings"]))
        self._progress.began(model.label)
        for warning in opening.warnings:
            self._progress.warned(warning)
        try:
            missing = opened.ledger.open(opening, self._progress)
        except SyntagmError as error:
            return states.Failed(arrival.piece, error)
        opened.stack.enter_context(opened.ledger.noting_interruption())
        opened.order = _order(opened.job, opened.ledger.options or opening.record["options"])
        opened.order["fingerprint"] = opening.record["model"]["fingerprint"]
        return states.Opened(missing, opened.ledger.complete)

    def _finish(self, opened: _Open, arrival: Arrival) -> states.Event:
        try:
            if not arrival.settle():
                return states.Damaged(arrival)
            self._note(arrival)
            opened.ledger.finish(arrival.files, arrival.hashes)
        except SyntagmError as error:
            return states.Failed(arrival.piece, error)
        return states.Accepted(arrival.piece)

    def _commit(self, units: Mapping[int, Sequence[Arrival]]) -> Iterator[tuple[int, states.Event]]:
        began = time.monotonic()
        commits = {number: self._pool.submit(_committed, self._open[number].ledger, units[number]) for number in units}
        wait(commits.values())
        took = time.monotonic() - began
        self._seconds.committing += took
        for number, commit in commits.items():
            try:
                whole = commit.result()
            except SyntagmError as error:
                yield from ((number, states.Failed(arrival.piece, error)) for arrival in units[number])
                continue
            for arrival in units[number]:
                if arrival not in whole:
                    yield number, states.Damaged(arrival)
                    continue
                self._note(arrival, took)
                arrival.remove()
                unit = (self._models[number].missing or {})[arrival.piece.name]
                self._progress.answered(unit.suite, unit.size - self._open[number].reported.pop(unit.name, 0))
                yield number, states.Accepted(arrival.piece)

    def _close(self, number: int, error: SyntagmError | None) -> None:
        job, model, opened = self._jobs[number], self._models[number], self._open.pop(number, None)
        if opened:
            opened.close(error)
        if error or not opened:
            assert error
            size = None if model.missing is None else sum(unit.size for unit in model.missing.values())
            self._progress.failed(None if size is None or not opened else size - opened.reported.total())
            self._results.append((job, error))
            return
        try:
            run = opened.ledger.run()
        except SyntagmError as unreadable:
            self._results.append((job, unreadable))
            return
        if opened.unchanged:
            self._progress.began(model.label)
            run.report_finished(self._progress)
        self._results.append((job, run))

    def _note(self, arrival: Arrival, committing: float = 0.0) -> None:
        loading, computing = arrival.seconds
        self._seconds.loading += loading
        self._seconds.computing += computing
        model = self._models[arrival.piece.model]
        times = [f"loaded and planned in {loading:.2f} s"] if loading else []
        if unit := (model.missing or {}).get(arrival.piece.name):
            times += [f"{unit.size:,} {self._session.work.task.noun}s in {computing:.2f} s"]
            times += [f"committed in {committing:.3f} s"]
        done = ", ".join(times) or "written"
        self._progress.noted(f"{arrival.worker}: {model.place(arrival.piece)}: {done}")

    def _report(self, piece: Piece, answered: int) -> None:
        """Report how far a worker is with a unit. If the unit was lost, that waits until another worker is farther."""
        model = self._models[piece.model]
        if model.awaits(piece) and (unit := (model.missing or {}).get(piece.name)):
            reported = self._open[piece.model].reported
            further = min(answered, unit.size) - reported[piece.name]
            if further > 0:
                reported[piece.name] += further
                self._progress.answered(unit.suite, further)


class _Staff:
    """The workers of a command: how many there are, and when others are started for those that have ended."""

    def __init__(self, session: Session, executor: Executor, progress: Progress) -> None:
        self._session, self._executor, self._progress = session, executor, progress
        # `barren`: how many workers have ended without any work since the last outcome arrived.
        self._started = self._ended = self.barren = 0
        self.productive: set[str] = set()
        # When workers were last refused, and why.
        self._refused, self._reason = -math.inf, ""

    def start(self, count: int) -> None:
        names = [f"w{self._started + number}" for number in range(1, count + 1)]
        self._executor.start(names, self._session)
        self._started += count
        self._progress.noted(f"workers started: {', '.join(names)}")

    def replace(self, ended: Sequence[Ended], left: int) -> None:
        self._ended += len(ended)
        alive = self._started - self._ended
        new = min(self._executor.count, left) - alive
        if new <= 0:
            return
        if refusal := next((each.refusal for each in ended if each.refusal), None):
            if not alive:
                raise refusal
            self._refused = time.monotonic()
            # A cluster may be full for hours.
            if refusal.found != self._reason:
                self._reason, place = refusal.found, refusal.place
                self._progress.warned(f"{place}: {self._reason}; the other workers go on, and it is tried again")
            return
        barren = [each for each in ended if not each.evicted and each.worker not in self.productive]
        self.barren += len(barren)
        if barren and self.barren >= TRIES:
            cure = "Finished work is kept: remove the cause and run the same command again."
            found = f"{TRIES} workers ended without any work, the last one with {barren[-1].reason}"
            raise RunError(f"--executor {self._executor.text}", found, "workers that stay", cure)
        if alive and time.monotonic() < self._refused + self._session.patience:
            return
        self.start(new)


def _order(job: Job, options: Options) -> dict[str, Any]:
    """Return what workers have to know of a model before its run is opened."""
    assert job.folder, "workers write no runs in memory"
    return {"model": job.name, "label": job.label, "folder": str(job.folder.absolute()), "options": options}


def _committed(ledger: Ledger, arrivals: Sequence[Arrival]) -> Sequence[Arrival]:
    """Commit units of a model, except for those with a damaged table; return what is committed."""
    whole = [arrival for arrival in arrivals if arrival.settle()]
    if whole:
        ledger.commit_written([(arrival.head, arrival.files) for arrival in whole])
    return whole
