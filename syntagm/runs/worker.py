"""A worker: it takes pieces of work from an exchange, computes them with a model that stays loaded, and delivers them."""

import contextlib
import os
import platform
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from typing import Any

from syntagm.errors import InputError, ModelError, RunError, SyntagmError
from syntagm.materials.suite_files import SuiteFiles
from syntagm.models import names
from syntagm.models.asking import Asking
from syntagm.models.contract import LanguageModel
from syntagm.permissions import NONE, Permissions
from syntagm.progress import Progress
from syntagm.runs.cache import AnswerCache
from syntagm.runs.encoding import encoded, encoded_results
from syntagm.runs.engine import compute, missing_units, planned, recall
from syntagm.runs.exchange import OPEN, RESULTS, Exchange, Outcome, Piece, Pulse, refusal
from syntagm.runs.ledger import is_unchanged, opening
from syntagm.runs.store import open_run
from syntagm.suite import ALL_ITEMS, Draw, Sampled, Suite
from syntagm.tasks.task import Task

# Packages that numbers, or the bytes of tables, depend on.
_PACKAGES = ("syntagm", "torch", "transformers", "tokenizers", "numpy", "polars")
_LONGEST_WAIT = 1.0


def versions() -> dict[str, str]:
    """Return the versions that workers and driver must share."""
    return {"python": ".".join(platform.python_version_tuple()[:2])} | {name: version(name) for name in _PACKAGES}


@dataclass(frozen=True, slots=True)
class Work:
    """What all models of a command are asked.

    Arguments:
        task: what the suites are asked.
        files: the names of suite files, as `materials.finding.expand` returns them.
        draw: which items of each suite.
        cache: the cache of answers; None for none.
        command: the command line, for the record.
    """

    task: Task[Any]
    files: Sequence[str]
    draw: Draw = ALL_ITEMS
    cache: Path | None = None
    command: str = ""


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


class _Suites:
    """The suites of a session, and the file of each suite that was read."""

    def __init__(self, work: Work, allow_pickle: bool) -> None:
        self._work = work
        self._files = SuiteFiles(work.files, allow_pickle)
        self._file_of: dict[str, str] = {}

    def __iter__(self) -> Iterator[Suite]:
        for file in self._work.files:
            for suite in self._sampled(self._files.read(file)):
                self._file_of[suite.name] = file
                yield suite

    def named(self, name: str) -> Iterable[Suite]:
        """Return the suite with a name, if its file still contains it."""
        return self._sampled(suite for suite in self._files.read(self._file_of[name]) if suite.name == name)

    def _sampled(self, suites: Iterable[Suite]) -> Sampled:
        return self._work.draw.of(suites)


class _Loaded:
    """A loaded model, with the plan of its run."""

    def __init__(
        self, session: Session, suites: _Suites, number: int, order: dict[str, Any], model: LanguageModel
    ) -> None:
        self.number, self._session, self._suites, self.model = number, session, suites, model
        self.options, self.plan = planned(session.work.task, model, suites, order["options"])
        self._units = {unit.name: unit for unit in self.plan.units}
        self._asking: Asking | None = None

    def opening(self) -> Outcome:
        """Return the plan, for the ledger."""
        opened = opening(self._session.work.task, self.model, self.options, self.plan, self._session.work.command)
        units = [[unit.name, unit.suite, unit.first, unit.last, unit.size] for unit in opened.units]
        head = {"record": opened.record, "units": units, "tables": opened.tables, "warnings": opened.warnings}
        return Outcome(head, {name: [content] for name, content in opened.files.items()})

    def compute(self, name: str, order: dict[str, Any], cache: AnswerCache | None, progress: Progress) -> Outcome:
        """Compute a unit.

        Raises:
            ModelError, InputError: the model or a suite is not what it was when the run was opened.
        """
        task = self._session.work.task
        if self.model.fingerprint != order["fingerprint"]:
            raise ModelError(
                order["model"], f"changed during the run: its fingerprint is {self.model.fingerprint[:8]}",
                f"{order['fingerprint'][:8]}, that with which the run was opened",
                "Restore its files and run the same command again, or choose another folder.",
            )  # fmt: skip
        if self._asking is None:
            self._asking = Asking(self.model)
            if not self.model.steady:
                recall(self._asking, open_run(order["folder"]))
        if not (unit := self._units.get(name)):
            cure = "Restore the suites and run the same command again, or choose another folder."
            raise InputError("--suite", f"no unit {name[:8]} any more", "suites that do not change during a run", cure)
        for suite, units in missing_units(self._suites.named(unit.suite), [unit], self.plan):
            for planned_unit, content in task.contents(suite, units, self.plan, self.model, self.options):
                judged, cached = compute(task, self._asking, planned_unit, content, cache, progress)
                line, files = encoded(planned_unit, judged, cached)
                return Outcome(line, {ending: [content] for ending, content in files.items()})
        raise AssertionError(name)


class _Answered(Progress):
    """The number of questions of the current unit that are answered."""

    def __init__(self) -> None:
        self.count = 0

    def answered(self, suite: str, questions: int) -> None:
        """Count questions."""
        self.count += questions


class _Heart:
    """A thread that renews the lease of the worker, and ends the process when the driver is dead."""

    def __init__(self, session: Session, answered: _Answered) -> None:
        self._lease: Path | None = None
        self._beat, self._patience = session.beat, session.patience
        self._pulse = Pulse(session.exchange / "pulse", session.patience)
        self._exchange, self._answered = Exchange(session.exchange), answered
        threading.Thread(target=self._run, daemon=True).start()

    def renew(self, lease: Path | None) -> None:
        """Renew this lease from now on."""
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


class Worker:
    """A worker, which computes one piece at a time.

    Arguments:
        name: its name, which is unique in the exchange.
        permissions: what the user permits.

    Attributes:
        answered: how far it is with its unit.
    """

    def __init__(self, session: Session, name: str, permissions: Permissions = NONE) -> None:
        self.name, self._session, self.answered = name, session, _Answered()
        self._permissions = permissions
        self._exchange, self._suites = Exchange(session.exchange), _Suites(session.work, permissions.allow_pickle)
        self._versions = versions()
        self._loaded: _Loaded | None = None
        # The suites, as the record of the last planned run describes them.
        self._read: Sequence[Mapping[str, Any]] = ()
        # The seconds that the last model took to load and plan, and those of all units.
        self._loading = 0.0
        self._units: list[float] = []

    @cached_property
    def _cache(self) -> AnswerCache | None:
        """The cache of answers. Its file is made by the first unit, so that a command that is refused makes none."""
        return AnswerCache(self._session.work.cache, print) if self._session.work.cache else None

    def step(self, taken: Callable[[Path], None] = lambda _: None) -> Piece | None:
        """Take a piece, compute and deliver it, and return it; None if there is none.

        Arguments:
            taken: called with the file of the lease.
        """
        piece = self._taken()
        if piece:
            # Before the lease is renewed for the first time, or it would tell the number of the last unit.
            self.answered.count = 0
            taken(self._exchange.lease_of(piece, self.name))
            try:
                # Results are encoded only while they are delivered.
                self._exchange.deliver(piece, self.name, self._outcome(piece, self._order(piece)))
            except SyntagmError as error:
                self._exchange.deliver(piece, self.name, refusal(error, fatal=isinstance(error, _OtherVersions)))
        return piece

    def _order(self, piece: Piece) -> dict[str, Any]:
        """Return what the driver wrote of a model. Units are offered before the last of it can be read."""
        while "fingerprint" not in (order := self._exchange.order(piece.model)) and piece.name != OPEN:
            time.sleep(0.01)
        return order

    def _outcome(self, piece: Piece, order: dict[str, Any]) -> Outcome:
        _refuse_other_versions(self.name, self._session.versions, self._versions)
        if piece.name == RESULTS:
            return Outcome({}, encoded_results(open_run(order["folder"])))
        loading = 0.0
        if self._loaded is None or self._loaded.number != piece.model:
            self._loaded = None  # frees its memory before the next one is loaded
            began, work = time.monotonic(), self._session.work
            model = names.load_permitted(order["model"], self._permissions, queries=work.task.queries)
            model.label = order["label"]
            if piece.name == OPEN and self._read and is_unchanged(Path(order["folder"]), work.task, model, self._read):
                return Outcome({"unchanged": True}, seconds=(time.monotonic() - began, 0.0))
            self._loaded = _Loaded(self._session, self._suites, piece.model, order, model)
            self._loading = loading = time.monotonic() - began
        if piece.name == OPEN:
            opened = replace(self._loaded.opening(), seconds=(loading, 0.0))
            self._read = opened.head["record"]["suites"]
            return opened
        began = time.monotonic()
        outcome = self._loaded.compute(piece.name, order, self._cache, self.answered)
        self._units.append(time.monotonic() - began)
        return replace(outcome, seconds=(loading, self._units[-1]))

    def _taken(self) -> Piece | None:
        """Take a piece: of the loaded model if there is one, else of the model with the fewest workers for its offers."""
        if self._loaded and (piece := self._first(self._exchange.offers_of(self._loaded.number))):
            return piece
        offers = self._exchange.offers()
        busy = Counter(piece.model for piece, _ in self._exchange.leases())
        for model in sorted(offers, key=lambda model: (busy[model] / len(offers[model]), model)):
            if self._is_worth_loading(len(offers[model]), busy[model]) and (piece := self._first(offers[model])):
                return piece
        return None

    def _is_worth_loading(self, units: int, busy: int) -> bool:
        """Return whether to help with a model: not if others finish its units before it is loaded.

        A unit that is taken waits for the loading, which is estimated by the last model, as the time of a unit is. What nobody
        works on must be taken in any case.
        """
        return not busy or not self._units or units / busy * fmean(self._units) > self._loading

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
        # The worker that planned a run waits for the driver, so that it computes the first units itself.
        while piece.name == OPEN and exchange.pulse.exists() and not exchange.answered(piece.model):
            time.sleep(0.005)


class _OtherVersions(RunError):
    """A worker whose packages have other versions than those of the driver. Its numbers might differ."""


def _refuse_other_versions(worker: str, expected: dict[str, str], here: dict[str, str]) -> None:
    for name, wanted in expected.items():
        if (found := here.get(name)) != wanted:
            raise _OtherVersions(
                f"worker {worker} on {platform.node()}", f"{name} {found}", f"{wanted}, as where the command runs",
                "Give all machines the same environment.",
            )  # fmt: skip


def main(session: Session, permissions: Permissions, worker: str) -> None:
    """Serve as a process of the executor `local`, which keeps the standard input open as long as it lives."""

    def end_with_driver() -> None:
        sys.stdin.buffer.read()
        os._exit(0)

    threading.Thread(target=end_with_driver, daemon=True).start()
    serve(session, worker, permissions)
