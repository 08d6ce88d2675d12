"""The numbers of runs over gaps: estimates by suite and by construction, what was left out, how many rows counted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from syntagm.report.numbers import Column, Subject
from syntagm.result import Estimate, MeasureName
from syntagm.runs.several import named
from syntagm.runs.store import Run
from syntagm.views.gaps import estimates, kept

TAG = "construction"


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
    column: Column[Run]
    found: Mapping[str, Estimate]
    rows: tuple[int, int]
    left_out: Mapping[str, int]
    number: int = 0

    @property
    def counted(self) -> str:
        """How many rows of the list counted, to read."""
        low, high = self.rows
        return f"{low:,}" if low == high else f"{low:,}\u2013{high:,}"


def columns(runs: Sequence[Run]) -> list[Column[Run]]:
    """The runs with names that tell them apart, and their estimates at every cut-off."""
    return [_column(run, name) for (name, _), run in zip(named(runs), runs, strict=True)]


def _column(run: Run, name: str) -> Column[Run]:
    found = {(one.group.suite, one.group.measure): one for one in estimates.estimates(run)}
    tagged = [suite.tags[TAG] for suite in run.suites if TAG in suite.tags]
    several = estimates.pooled(run, TAG) if len(set(tagged)) < len(tagged) else []
    pooled = {(one.group[TAG], one.group.measure): one for one in several}
    judged = {suite.name: (one := found[suite.name, "tse"]).n + one.undefined for suite in run.suites}
    told = run.record["contexts"].values()
    items, left_out = sum(one["items"] for one in told), _added(one["left_out"] for one in told)
    return Column(run, name, found, judged, items, left_out, pooled)


def _added(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Reason -> how many items make no context for it, over several suites."""
    total: dict[str, int] = {}
    for counted in counts:
        for reason, count in counted.items():
            total[reason] = total.get(reason, 0) + count
    return total


def conflicts(column: Column[Run]) -> int:
    """How many items share a context with one of another label, which is taken."""
    return sum(int(told["conflicts"]) for told in column.run.record["contexts"].values())


def rows(subjects: Sequence[Subject[Run]]) -> list[Row]:
    """A line for each suite and model."""
    return [_of_suite(subject, column) for subject in subjects for column in subject.columns]


def _of_suite(subject: Subject[Run], column: Column[Run]) -> Row:
    left_out = column.run.record["contexts"][subject.name]["left_out"]
    found = _whole(column.accuracies, subject.name)
    return Row(subject.title, column, found, _eligible(column.run, [subject.name]), left_out, subject.number)


def constructions(columns: Sequence[Column[Run]]) -> list[Row]:
    """A line for each construction and model, where constructions have several suites."""
    names = dict.fromkeys(name for column in columns for name, _ in column.pooled)
    return [
        _of_construction(name, column)
        for name in names
        for column in columns
        if any(one == name for one, _ in column.pooled)
    ]


def _of_construction(name: str, column: Column[Run]) -> Row:
    suites = [suite.name for suite in column.run.suites if suite.tags.get(TAG) == name]
    left_out = _added(column.run.record["contexts"][suite]["left_out"] for suite in suites)
    return Row(name, column, _whole(column.pooled, name), _eligible(column.run, suites), left_out)


def _whole(found: Mapping[tuple[str, str], Estimate], name: str) -> dict[str, Estimate]:
    """The estimates about one thing at no cut-off."""
    about = {measure: one for (of, measure), one in found.items() if of == name}
    return {measure: one for measure, one in about.items() if not MeasureName.parse(measure).options}


def _eligible(run: Run, suites: Sequence[str]) -> tuple[int, int]:
    found = pl.concat([kept.contexts(run, name)["eligible"] for name in suites])
    low, high = found.min(), found.max()
    return (int(str(low)), int(str(high))) if len(found) else (0, 0)
