"""Circuit scores: one small panel for each circuit (a group of suites), with the models or corpora as dots."""

from collections.abc import Sequence
from math import nan

import polars as pl

from syntagm.evaluation import Kind
from syntagm.runs import Run, unequal
from syntagm.views.drawing import dots, vega
from syntagm.views.drawing.chart import Figure, finish
from syntagm.views.drawing.text import lines, remarks_on
from syntagm.views.estimates import mean_over_suites, of_models, shared_kind
from syntagm.views.options import Tag

SCHEMA = {
    "circuit": pl.String, "name": pl.String, "series": pl.String, "value": pl.Float64, "low": pl.Float64,
    "high": pl.Float64, "n": pl.Int64, "method": pl.String,
}  # fmt: skip
COLUMNS = 3
WIDTH = 190


def draw(
    table: pl.DataFrame, measure: str, title: str = "", subtitle: Sequence[str] = (), series: Sequence[str] = (),
    kind: Kind = Kind.VERDICT,
) -> Figure:  # fmt: skip
    """Draw circuits in alphabetical order, and the names within each circuit in the order of first appearance."""
    circuits = sorted(set(table["circuit"]))
    series = series or list(dict.fromkeys(table["series"]))
    delta = measure != "score"
    spread = [*table["value"], *table["low"], *table["high"]]
    axis = vega.difference(measure, spread, WIDTH) if delta else vega.mean(kind, measure)
    plots = [
        dots.panel(
            _rows(table, circuit), axis, circuit, 0.0 if delta else nan, series, WIDTH,
            labels=not at % COLUMNS, key=len(series) > 1 and at == 0,
        )
        for at, circuit in enumerate(circuits)
    ]  # fmt: skip
    return Figure(finish(vega.grid(plots, COLUMNS, 16), title, subtitle), table.select(list(SCHEMA)))


def _rows(table: pl.DataFrame, circuit: str) -> list[dict[str, object]]:
    """Return the rows of a circuit. A name without a number in the circuit keeps an empty row, so that panels line up."""
    of_circuit = table.filter(pl.col("circuit") == circuit).iter_rows(named=True)
    chosen = {(row["name"], row["series"]): row for row in of_circuit}
    keys = dict.fromkeys(zip(table["name"], table["series"], strict=True))
    empty = {"value": nan, "low": nan, "high": nan, "n": 0}
    rows = [chosen.get(key, {"name": key[0], "series": key[1], **empty}) for key in keys]
    return [{**row, "note": "", "said": dots.describe(row)} for row in rows]


def draw_figure(runs: Sequence[Run], tag: Tag = "circuit") -> Figure:
    """Draw scores by circuit or by another tag of the suites."""
    estimates = [estimate for _, estimate in of_models(runs, tag=tag)]
    rows = [(each.group[tag], each.group.model, "", *each.numbers[:4], each.method) for each in estimates]
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    kind = shared_kind(runs, "first")
    subtitle = [f"{mean_over_suites(kind)} with its 95% interval", *lines([*unequal(runs), *remarks_on(estimates)])]
    return draw(table, "score", f"Scores by {tag}", subtitle, kind=kind)
