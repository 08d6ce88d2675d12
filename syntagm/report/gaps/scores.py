"""The numbers of fill runs: estimates by suite and by construction, skipped items, and eligible rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from syntagm.evaluation import Estimate, MeasureName
from syntagm.report.numbers import Column, Subject
from syntagm.runs import Run, named
from syntagm.views import gaps

TAG = "construction"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the overview, for a model on a suite or on the suites of a construction."""

    label: str  # the suite or construction
    column: Column[Run]
    estimates: Mapping[str, Estimate]  # measure -> estimate without a cut-off; only `tse` if there are no contexts
    rows: tuple[int, int]  # the smallest and the largest number of eligible rows in a context
    skipped: Mapping[str, int]  # reason why items have no context -> number of items
    number: int = 0  # the number of the suite on the page; 0 for a construction

    @property
    def counted(self) -> str:
        """The number of eligible rows of the list, such as "98-109", with an en dash."""
        low, high = self.rows
        return f"{low:,}" if low == high else f"{low:,}\u2013{high:,}"


def columns(runs: Sequence[Run]) -> list[Column[Run]]:
    """Return the runs, with distinct names, and their estimates at every cut-off."""
    return [_column(run, name) for (name, _), run in zip(named(runs), runs, strict=True)]


def _column(run: Run, name: str) -> Column[Run]:
    by_suite = {(estimate.group.suite, estimate.group.measure): estimate for estimate in gaps.estimates(run)}
    tagged = [suite.tags[TAG] for suite in run.suites if TAG in suite.tags]
    constructions = gaps.pooled(run, TAG) if len(set(tagged)) < len(tagged) else []
    pooled = {(estimate.group[TAG], estimate.group.measure): estimate for estimate in constructions}
    judged = {suite.name: (tse := by_suite[suite.name, "tse"]).n + tse.undefined for suite in run.suites}
    records = run.record["contexts"].values()
    items, skipped = sum(record["items"] for record in records), _add_up(record["left_out"] for record in records)
    return Column(run, name, by_suite, judged, items, skipped, pooled)


def _add_up(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Add up the numbers of skipped items by reason, over several suites."""
    total: dict[str, int] = {}
    for counted in counts:
        for reason, count in counted.items():
            total[reason] = total.get(reason, 0) + count
    return total


def conflicts(column: Column[Run]) -> int:
    """Return the number of items that share a context with an item of another label, whose label is used."""
    return sum(int(record["conflicts"]) for record in column.run.record["contexts"].values())


def rows(subjects: Sequence[Subject[Run]]) -> list[Row]:
    """Return a row for each suite and model."""
    return [_of_suite(subject, column) for subject in subjects for column in subject.columns]


def _of_suite(subject: Subject[Run], column: Column[Run]) -> Row:
    skipped = column.run.record["contexts"][subject.name]["left_out"]
    of_suite = _whole(column.accuracies, subject.name)
    return Row(subject.title, column, of_suite, _eligible(column.run, [subject.name]), skipped, subject.number)


def constructions(columns: Sequence[Column[Run]]) -> list[Row]:
    """Return a row for each construction and model, for constructions of several suites."""
    names = dict.fromkeys(name for column in columns for name, _ in column.pooled)
    return [
        _of_construction(name, column)
        for name in names
        for column in columns
        if any(pooled == name for pooled, _ in column.pooled)
    ]


def _of_construction(name: str, column: Column[Run]) -> Row:
    suites = [suite.name for suite in column.run.suites if suite.tags.get(TAG) == name]
    skipped = _add_up(column.run.record["contexts"][suite]["left_out"] for suite in suites)
    return Row(name, column, _whole(column.pooled, name), _eligible(column.run, suites), skipped)


def _whole(by_group: Mapping[tuple[str, str], Estimate], name: str) -> dict[str, Estimate]:
    """Return the estimates of a suite or construction without a cut-off, by measure."""
    by_measure = {measure: estimate for (group, measure), estimate in by_group.items() if group == name}
    return {measure: estimate for measure, estimate in by_measure.items() if not MeasureName.parse(measure).options}


def _eligible(run: Run, suites: Sequence[str]) -> tuple[int, int]:
    counts = pl.concat([gaps.contexts(run, name)["eligible"] for name in suites])
    low, high = counts.min(), counts.max()
    return (int(str(low)), int(str(high))) if len(counts) else (0, 0)
