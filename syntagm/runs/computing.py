"""What a worker does with a piece of work, whichever way it gets it: it computes it with a model that stays loaded."""

import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from syntagm.core import NONE, InputError, ModelError, Permissions, Progress, RunError, SyntagmError, extras
from syntagm.evaluation import Task
from syntagm.models import Asking, LanguageModel, names
from syntagm.runs.cache import AnswerCache
from syntagm.runs.encoding import encoded, encoded_results
from syntagm.runs.engine import compute, missing_units, planned, recall
from syntagm.runs.ledger import is_unchanged, opening, same_plan
from syntagm.runs.pieces import OPEN, RESULTS, Outcome, Pace, Piece, refusal
from syntagm.runs.store import open_run
from syntagm.suites import ALL_ITEMS, Draw, Sampled, Suite, SuiteFiles

# Packages that numbers, or the bytes of tables, depend on.
_PACKAGES = ("syntagm", "torch", "transformers", "tokenizers", "numpy", "polars")


def versions() -> dict[str, str]:
    """Return the versions that workers and driver must share."""
    return {"python": ".".join(platform.python_version_tuple()[:2])} | {
        name: extras.version(name) for name in _PACKAGES
    }


@dataclass(frozen=True, slots=True)
class Work:
    """What all models of a command are asked."""

    task: Task[Any]  # what the suites are asked
    files: Sequence[str]  # the names of suite files, as `suite_files.expand` returns them
    draw: Draw = ALL_ITEMS  # which items of each suite
    cache: Path | None = None  # the cache of answers; None for none
    command: str = ""  # the command line, for the record


class _Suites:
    """The suites of a command, and the file of each suite that was read."""

    def __init__(self, work: Work, files: SuiteFiles) -> None:
        self._work, self._files = work, files
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
        self, work: Work, suites: _Suites, number: int, order: Mapping[str, Any], model: LanguageModel
    ) -> None:
        self.number, self._work, self._suites, self.model = number, work, suites, model
        self.options, self.plan = planned(work.task, model, suites, order["options"])
        self._units = {unit.name: unit for unit in self.plan.units}
        self._asking: Asking | None = None

    def opening(self) -> Outcome:
        opened = opening(self._work.task, self.model, self.options, self.plan, self._work.command)
        units = [[unit.name, unit.suite, unit.first, unit.last, unit.size] for unit in opened.units]
        head: dict[str, Any] = {"record": opened.record, "units": units, "tables": opened.tables}
        head |= {"warnings": opened.warnings, "steady": self.model.steady}
        return Outcome(head, {name: [content] for name, content in opened.files.items()})

    def compute(self, name: str, order: Mapping[str, Any], cache: AnswerCache | None, progress: Progress) -> Outcome:
        task = self._work.task
        if self.model.fingerprint != order["fingerprint"]:
            raise ModelError(
                order["model"], f"changed during the run: its fingerprint is {self.model.fingerprint[:8]}",
                f"{order['fingerprint'][:8]}, that with which the run was opened",
                "Restore its files and run the same command again, or choose another folder.",
            )  # fmt: skip
        if self._asking is None:
            self._asking = Asking(self.model)
            if not self.model.steady:
                recall(self._asking, open_run(order["folder"]).first_answer() if "folder" in order else order["answer"])
        if not (unit := self._units.get(name)):
            cure = "Restore the suites and run the same command again, or choose another folder."
            raise InputError("--suite", f"no unit {name[:8]} any more", "suites that do not change during a run", cure)
        for suite, units in missing_units(self._suites.named(unit.suite), [unit], self.plan):
            for planned_unit, content in task.contents(suite, units, self.plan, self.model, self.options):
                judged, cached = compute(task, self._asking, planned_unit, content, cache, progress)
                line, files = encoded(planned_unit, judged, cached)
                return Outcome(line, {ending: [content] for ending, content in files.items()})
        raise AssertionError(name)


class Tally(Progress):
    """The number of questions of the current unit that are answered."""

    def __init__(self) -> None:
        self.count = 0

    def answered(self, suite: str, questions: int) -> None:
        self.count += questions


class Computer:
    """Computes pieces of work, one at a time."""

    # What it has to know of a model is its *order*: `model`, its name; `label`; `options`, those with which its run was
    # opened; `fingerprint`, when it was opened; and `folder`, the run directory. Where the worker can't see that
    # folder, `finished` is the record of a finished, undamaged run; `files` has the files of the run from which the
    # results are encoded; and `answer` is the first answer of the run, for a model that is not steady.

    def __init__(
        self, work: Work, name: str, files: SuiteFiles, expected: Mapping[str, str], permissions: Permissions = NONE
    ) -> None:
        self.name, self.work, self.answered, self.pace = name, work, Tally(), Pace()
        self._suites, self._permissions = _Suites(work, files), permissions
        self._expected, self._versions = expected, versions()
        self.loaded: _Loaded | None = None
        # The suites, as the record of the last planned run describes them.
        self._read: Sequence[Mapping[str, Any]] = ()

    @cached_property
    def _cache(self) -> AnswerCache | None:
        """The cache of answers. Its file is made by the first unit, so that a command that is refused makes none."""
        return AnswerCache(self.work.cache, print) if self.work.cache else None

    def deliver(self, piece: Piece, order: Mapping[str, Any], deliver: Callable[[Outcome], Any]) -> Any:
        """Compute a piece, and return what `deliver` makes of its outcome, or of the refusal after an error."""
        # Results are encoded only while they are delivered, so that an error then is a refusal, too.
        try:
            return deliver(self.outcome(piece, order))
        except SyntagmError as error:
            return deliver(refusal(error, fatal=isinstance(error, _OtherVersions)))

    def outcome(self, piece: Piece, order: Mapping[str, Any]) -> Outcome:
        outcome = self._outcome(piece, order)
        self.pace.note(piece, outcome.seconds)
        return outcome

    def _outcome(self, piece: Piece, order: Mapping[str, Any]) -> Outcome:
        _refuse_other_versions(self.name, self._expected, self._versions)
        if piece.name == RESULTS:
            return Outcome({}, encoded_results(open_run(order["folder"])))
        loading = 0.0
        if self.loaded is None or self.loaded.number != piece.model:
            self.loaded = None  # frees its memory before the next one is loaded
            began = time.monotonic()
            model = names.load_permitted(order["model"], self._permissions, queries=self.work.task.queries)
            model.label = order["label"]
            if piece.name == OPEN and self._read and self._is_unchanged(order, model):
                return Outcome({"unchanged": True}, seconds=(time.monotonic() - began, 0.0))
            self.loaded = _Loaded(self.work, self._suites, piece.model, order, model)
            loading = time.monotonic() - began
        if piece.name == OPEN:
            opened = replace(self.loaded.opening(), seconds=(loading, 0.0))
            self._read = opened.head["record"]["suites"]
            return opened
        began = time.monotonic()
        outcome = self.loaded.compute(piece.name, order, self._cache, self.answered)
        return replace(outcome, seconds=(loading, time.monotonic() - began))

    def _is_unchanged(self, order: Mapping[str, Any], model: LanguageModel) -> bool:
        if "folder" in order:
            return is_unchanged(Path(order["folder"]), self.work.task, model, self._read)
        recorded = order["finished"]
        return bool(recorded) and same_plan(recorded, self.work.task, model, self._read)


class _OtherVersions(RunError):
    """A worker whose packages have other versions than those of the driver. Its numbers might differ."""


def _refuse_other_versions(worker: str, expected: Mapping[str, str], here: Mapping[str, str]) -> None:
    for name, wanted in expected.items():
        if (found := here.get(name)) != wanted:
            raise _OtherVersions(
                f"worker {worker} on {platform.node()}", f"{name} {found}", f"{wanted}, as where the command runs",
                "Give all machines the same environment.",
            )  # fmt: skip
