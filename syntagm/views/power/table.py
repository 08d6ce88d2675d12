"""The table of power: a row for each comparison and size of a study."""

from collections.abc import Sequence

import polars as pl

from syntagm.runs import Run
from syntagm.views.drawing.table import Table
from syntagm.views.options import Measure
from syntagm.views.power.numbers import Classes, Difference, Items, Models, Plan, Suites, frame, of_runs

COLUMNS = ("A", "B", "pilot B - A", "B - A", "models", "suites", "items", "power", "low", "high")
PEOPLE = ("A", "B", "pilot B - A", "B - A", "items", "judgements", "people", "power", "low", "high")


def make_table(
    runs: Sequence[Run],
    suites: Suites = (),
    items: Items = (),
    models: Models = (),
    classes: Classes = (),
    difference: Difference = None,
    measure: Measure = "first",
) -> Table:
    """Make one row for each pair of pilot runs, or of classes of runs, and each size of a study.

    Raises:
        UsageError: fewer than two runs or classes, sizes that the design does not have, or a measure whose values are not
            verdicts.
        RunError: the runs have no suite in common.
    """
    plan = of_runs(runs, suites, items, models, classes, difference, measure)
    return table(plan)


def table(plan: Plan, columns: Sequence[str] = COLUMNS) -> Table:
    """Make the table of a plan with some of the columns."""
    numbers = (
        frame(plan).rename({"pilot": "pilot B - A", "difference": "B - A"}).with_columns(pl.col("models").fill_null(1))
    )
    numbers = numbers.select(columns)
    return Table("Power of planned studies", tuple(columns), tuple(numbers.iter_rows()), notes=plan.notes)
