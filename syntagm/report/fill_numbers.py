"""The numbers of a report on fill runs: estimates by suite and by construction, what was left out, how many rows counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from syntagm.errors import UsageError
from syntagm.report.numbers import Column, Subject
from syntagm.result import Estimate, MeasureName
from syntagm.runs.gap_run import FillRun
from syntagm.runs.several import named
from syntagm.runs.store import Run
from syntagm.views.gaps import comparability, estimates

TAG = "construction"


@dataclass(frozen=True, slots=True)
class FillColumn(Column):
    """A fill run as it stands in the report; `accuracies` are its estimates, at every cut-off.

    Arguments:
        pooled: (construction, measure) -> estimate, if some construction has several suites.
    """

    run: FillRun
    pooled: Mapping[tuple[str, str], Estimate]

    @property
    def missing(self) -> int:
        """How many items that make a context are not judged yet."""
        told = sum(one["items"] for one in self.run.record["contexts"].values())
        return 0 if self.run.done else told - sum(self.judged.values())

    @property
    def left_out(self) -> dict[str, int]:
        """Why items make no context, and how many for each reason, over all suites."""
        found: dict[str, int] = {}
        for told in self.run.record["contexts"].values():
            for reason, count in told["left_out"].items():
                found[reason] = found.get(reason, 0) + count
        return found

    @property
    def conflicts(self) -> int:
        """How many items share a context with one of another label, which is taken."""
        return sum(int(told["conflicts"]) for told in self.run.record["contexts"].values())

    @property
    def several_labels(self) -> bool:
        """Has a row of the list more than two forms?"""
        return len(self.run.record["options"]["words"]["labels"]) > 2

    @property
    def asked(self) -> tuple[object, ...]:
        """What was asked: two columns are comparable if it is the same."""
        return tuple(comparability.asked(self.run).values())


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the overview: one model on one suite, or on the suites of one construction.

    Arguments:
        found: measure -> estimate, nothing cut off; only `tse` without a context.
        rows: the fewest and the most rows of the list that counted in a context.
        left_out: why items make no context, and how many for each reason.
        number: of the suite on the page; 0 for a construction.
    """

    label: str
    column: FillColumn
    found: Mapping[str, Estimate]
    rows: tuple[int, int]
    left_out: Mapping[str, int]
    number: int = 0

    @property
    def counted(self) -> str:
        """How many rows of the list counted, to read."""
        low, high = self.rows
        return f"{low:,}" if low == high else f"{low:,}\u2013{high:,}"


def of_one_kind(runs: Sequence[Run]) -> list[FillRun]:
    """The fill runs, if all are.

    Raises:
        UsageError: some are and some are not.
    """
    filled = [run for run in runs if isinstance(run, FillRun)]
    if filled and len(filled) < len(runs):
        other = next(run for run in runs if not isinstance(run, FillRun))
        raise UsageError(
            "report", f"a run of `syntagm fill` ({filled[0].folder}) beside one of `syntagm run` ({other.folder})",
            "runs of one kind", "They answer different questions: make a page of each kind.",
        )  # fmt: skip
    return filled


def columns(runs: Sequence[FillRun]) -> list[FillColumn]:
    """The runs with names that tell them apart, and their estimates."""
    return [_column(run, name) for (name, _), run in zip(named(runs), runs, strict=True)]


def _column(run: FillRun, name: str) -> FillColumn:
    found = {(one.group.suite, one.group.measure): one for one in estimates.estimates(run)}
    tagged = [suite.tags[TAG] for suite in run.suites if TAG in suite.tags]
    several = estimates.pooled(run, TAG) if len(set(tagged)) < len(tagged) else []
    pooled = {(one.group[TAG], one.group.measure): one for one in several}
    judged = {suite.name: (one := found[suite.name, "tse"]).n + one.undefined for suite in run.suites}
    return FillColumn(run, name, found, judged, pooled)


def of(subject: Subject) -> list[FillColumn]:
    """The columns that ran on a suite."""
    return [column for column in subject.columns if isinstance(column, FillColumn)]


def rows(subjects: Sequence[Subject]) -> list[Row]:
    """A line for each suite and model."""
    return [_of_suite(subject, column) for subject in subjects for column in of(subject)]


def _of_suite(subject: Subject, column: FillColumn) -> Row:
    left_out = column.run.record["contexts"][subject.name]["left_out"]
    found = _whole(column.accuracies, subject.name)
    return Row(subject.title, column, found, _eligible(column.run, [subject.name]), left_out, subject.number)


def constructions(columns: Sequence[FillColumn]) -> list[Row]:
    """A line for each construction and model, where constructions have several suites."""
    names = dict.fromkeys(name for column in columns for name, _ in column.pooled)
    return [
        _of_construction(name, column)
        for name in names
        for column in columns
        if any(one == name for one, _ in column.pooled)
    ]


def _of_construction(name: str, column: FillColumn) -> Row:
    suites = [suite.name for suite in column.run.suites if suite.tags.get(TAG) == name]
    left_out: dict[str, int] = {}
    for suite in suites:
        for reason, count in column.run.record["contexts"][suite]["left_out"].items():
            left_out[reason] = left_out.get(reason, 0) + count
    return Row(name, column, _whole(column.pooled, name), _eligible(column.run, suites), left_out)


def _whole(found: Mapping[tuple[str, str], Estimate], name: str) -> dict[str, Estimate]:
    """The estimates about one thing at no cut-off."""
    about = {measure: one for (of, measure), one in found.items() if of == name}
    return {measure: one for measure, one in about.items() if not MeasureName.parse(measure).options}


def _eligible(run: FillRun, suites: Sequence[str]) -> tuple[int, int]:
    found = pl.concat([run.contexts(name)["eligible"] for name in suites])
    low, high = found.min(), found.max()
    return (int(str(low)), int(str(high))) if len(found) else (0, 0)
