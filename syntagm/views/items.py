"""Items: the verdict and the margin of each item under each model, beginning with the hardest items."""

from collections.abc import Sequence
from math import inf

import polars as pl

from syntagm.core import UsageError
from syntagm.evaluation import Kind
from syntagm.runs import Run, chosen_suite, having, ties_of, unit as unit_of
from syntagm.stats import matching
from syntagm.views.drawing.table import Cell, Table
from syntagm.views.drawing.text import or_none
from syntagm.views.estimates import shared_kind, verdicts
from syntagm.views.options import Measure, Suite


def make_table(runs: Sequence[Run], suite: Suite = "", measure: Measure = "first") -> Table:
    """Make one row for each item of a suite: the number of models under which its prediction holds, and its margins.

    For a measure whose values are not verdicts, a row has the mean value and the value under each model.

    Raises:
        UsageError: there is no such suite or measure, or the suite has different content in the runs.
    """
    name = chosen_suite(runs, suite)
    models = having(runs, name)
    if len({run.suite(name).hash for _, run in models}) > 1:
        raise UsageError(f"suite={name}", "different content under one name", "the same content in all runs")
    tables = [_verdicts(run, name, measure).rename({"value": f"value_{k}", "margin": f"margin_{k}"})
              for k, (_, run) in enumerate(models)]  # fmt: skip
    joined = tables[0]
    for table in tables[1:]:
        joined = joined.join(table, on=["item", "occurrence"], how="full", coalesce=True, maintain_order="left_right")
    kind = shared_kind([run for _, run in models], measure)
    rows = [_row(row, len(models), kind is Kind.VERDICT) for row in joined.iter_rows(named=True)]
    rows.sort(key=lambda row: row[1])
    if not rows:
        raise UsageError(
            "measure=", f"suite {name} has no results by {measure!r}", "first, all or one of its predictions"
        )
    units = [(model, unit_of(run, name, measure)) for model, run in models]
    ties = ties_of([run for _, run in models], measure, name)
    columns, note = _columns(units, kind, measure, ties)
    return Table(f"Items of {name}", columns, tuple(row for _, _, row in rows), notes=(note,))


def _verdicts(run: Run, suite: str, measure: str) -> pl.DataFrame:
    return matching.numbered(verdicts(run, measure, suite)).select("item", "value", "margin", matching.OCCURRENCE)


def _columns(models: Sequence[tuple[str, str]], kind: Kind, measure: str, ties: str) -> tuple[tuple[str, ...], str]:
    if kind is Kind.VERDICT:
        note = (
            "holds, defined: number of models under which the prediction holds, and under which it is defined. The "
            f"prediction holds if the margin is above 0; a margin within the tolerance is a tie, and ties count as {ties}."
        )
        return ("item", "holds", "defined", *(f"margin of {model} ({unit})" for model, unit in models)), note
    note = (
        f"The values of {measure} are {kind.described}, not verdicts. The item with the lowest mean over models comes first. "
        "defined: number of models under which the value is defined."
    )
    return ("item", "mean value", "defined", *(f"{measure} of {model}" for model, _ in models)), note


def _row(row: dict[str, float | str | None], models: int, judged: bool) -> tuple[str, float, tuple[Cell, ...]]:
    values = [row[f"value_{k}"] for k in range(models)]
    margins = [row[f"margin_{k}"] for k in range(models)]
    defined = [value for value in map(_number, values) if value is not None]
    shown = map(_number, margins if judged else values)
    item = str(row["item"])
    mean = sum(defined) / len(defined) if defined else None
    hardness = inf if mean is None else mean  # items that are undefined under all models come last
    return item, hardness, (item, int(sum(defined)) if judged else mean, len(defined), *shown)


def _number(value: float | str | None) -> float | None:
    return or_none(value) if isinstance(value, float) else None
