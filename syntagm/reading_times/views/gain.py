"""Reading times, gain: how much better each model predicts held-out reading times with surprisal, in nats per observation."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import polars as pl

from syntagm.core import InputError, UsageError
from syntagm.reading_times.analyses import Analysis, rows_of
from syntagm.reading_times.tables import open_table
from syntagm.reading_times.views import _panels
from syntagm.views import Figure, Table

COLUMNS = ("analysis", "model", "n", "gain", "low", "high")
SCHEMA = {
    "analysis": pl.String, "model": pl.String, "x": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64,
    "n": pl.Int64,
}  # fmt: skip
PAIRS = ("analysis", "first", "second", "difference", "low", "high", "p")
# Models differ in their degrees of freedom.
_DEGREES = re.compile(r"t\([\d.]+\)")
Pairs = Annotated[bool, "a row for each pair of models on the same rows, with the difference of their gains"]
Against = Annotated[
    str, "a table with the column model and one column of numbers, such as perplexity, to place models by"
]


def make_table(analyses: Sequence[Analysis], pairs: Pairs = False) -> Table:
    """Make a row for each analysis and model, or for each pair of models.

    Raises:
        UsageError: an analysis is no fit.
    """
    part, columns = ("differences", PAIRS) if pairs else ("gains", COLUMNS)
    rows = tuple(rows_of(analyses, part, columns[1:]))
    methods = dict.fromkeys(_DEGREES.sub("t", row[0]) for one in analyses for row in one.rows("gains", ("method",)))
    notes = (
        "difference: the gain of the second model minus that of the first."
        if pairs
        else "gain: log-likelihood of held-out rows minus that of the baseline, per row, in nats.",
        f"low, high: 95% interval; {'; '.join(methods)}.",
    )
    fine = ("gain", "difference", "low", "high")
    return Table("Differences of gains" if pairs else "Gains of surprisal", columns, rows, notes=notes, fine=fine)


def draw_figure(analyses: Sequence[Analysis], against: Against = "") -> Figure:
    """Draw a panel for each analysis: a dot with its interval for each model.

    Raises:
        UsageError: an analysis is no fit, or a model has no number to be placed by.
        InputError: the table of numbers can't be read.
    """
    across, numbers = read_against(Path(against)) if against else ("model", {})
    rows = []
    for name, model, n, gain, low, high in rows_of(analyses, "gains", COLUMNS[1:]):
        if against and model not in numbers:
            raise UsageError("against=", f"no number for {model}", "one for each model")
        place = numbers[model] if against else model
        rows.append((name, model, place, gain, low, high, n))
    schema = {**SCHEMA, "x": pl.Float64} if against else SCHEMA
    table = pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col("low", "high").fill_null(float("nan")))
    subtitle = ["held-out log-likelihood against the baseline", "bar: 95% interval"]
    return _panels.draw(table, across, "gain (nats per observation)", "Gain of surprisal", subtitle, digits=6)


def read_against(path: Path) -> tuple[str, Mapping[str, float]]:
    """Read a table with the column `model`, and one column of numbers: its name, and the number of each model."""
    source = open_table(path)
    others = [name for name in source.names if name != "model"]
    if "model" not in source.names or len(others) != 1:
        raise InputError(str(path), "the columns " + ", ".join(source.names), "model, and one column of numbers")
    models, numbers = source.texts(["model"]).to_list(), source.numbers(others[0]).to_list()
    if len(set(models)) < len(models) or None in models or None in numbers:
        raise InputError(str(path), "a model twice, or a missing cell", "a number for each model")
    return others[0], dict(zip(models, numbers, strict=True))
