"""Margins: a histogram of a prediction's margins over items, in bits; to the right of 0, the prediction holds."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import UsageError, counted, shown
from syntagm.evaluation import Kind
from syntagm.runs import Run, chosen_suite, having, unit as unit_of
from syntagm.views.drawing import vega
from syntagm.views.drawing.chart import GREY, Figure, Spec, finish
from syntagm.views.drawing.vega import by_model, layer
from syntagm.views.estimates import predictions, shared_kind
from syntagm.views.options import Named, Suite, measures

SCHEMA = {
    "model": pl.String, "suite": pl.String, "measure": pl.String, "start": pl.Float64, "end": pl.Float64,
    "items": pl.Int64, "holds": pl.Boolean,
}  # fmt: skip
BINS = 30
# Least width of a bin in bits, the size of the tolerance: narrower bins would show numerical error.
NARROWEST = 0.0001
_COLOURS = {"holds": "#0072B2", "fails": "#D55E00"}


def draw_figure(
    runs: Sequence[Run],
    suite: Suite = "",
    measure: Annotated[str, Named("name of a prediction; default: the first", measures)] = "",
) -> Figure:
    """Draw the margins of one suite.

    Raises:
        UsageError: there is no such suite or prediction, or the prediction has no margins.
    """
    name = chosen_suite(runs, suite)
    models = having(runs, name)
    # Some predictions may be computed for some of the models only.
    known = list(dict.fromkeys(measure for _, run in models for measure in predictions(run)[name]))
    if (measure or not known) and measure not in known:
        expected = "one of " + ", ".join(known) if known else "a suite with predictions"
        raise UsageError("measure=", repr(measure) if known else "no predictions", expected)
    chosen = measure or known[0]
    results = {model: run.results(name) for model, run in models}
    _refuse_others_than_verdicts(chosen, {name: shared_kind([run for _, run in models], name) for name in known})
    unit = unit_of_runs([run for _, run in models], name, chosen)
    return draw(tables(results, name, chosen), f"{name}: {chosen}", unit)


def unit_of_runs(runs: Sequence[Run], suite: str, measure: str) -> str:
    """Return what the margins of a prediction are differences of in some runs, as `draw` says it."""
    return " or ".join(dict.fromkeys(unit_of(run, suite, measure) for run in runs))


def _refuse_others_than_verdicts(measure: str, kinds: Mapping[str, Kind]) -> None:
    judged = [name for name, kind in kinds.items() if kind is Kind.VERDICT]
    if measure not in judged:
        found = f"{measure!r}, whose values are {kinds[measure].described}, without margins"
        expected = "one of " + ", ".join(judged) if judged else "a run of predictions"
        raise UsageError("measure=", found, expected, "The figure `scores` shows means.")


def tables(results: Mapping[str, pl.DataFrame], suite: str, measure: str) -> list[pl.DataFrame]:
    """Count items as `table` does, in the same bins for all models; models without margins are skipped."""
    margins = [margin for rows in results.values() for margin in _defined(rows, suite, measure)["margin"]]
    counted = [table(rows, suite, measure, model, margins) for model, rows in results.items()]
    return [rows for rows in counted if len(rows)]


def _defined(results: pl.DataFrame, suite: str, measure: str) -> pl.DataFrame:
    return results.filter((pl.col("suite") == suite) & (pl.col("measure") == measure) & pl.col("margin").is_finite())


def table(results: pl.DataFrame, suite: str, measure: str, model: str = "", span: Sequence[float] = ()) -> pl.DataFrame:
    """Count items by bin and verdict: a row has the edges of a bin in bits and the number of items in it."""
    # No bin contains margins on both sides of 0.
    chosen = _defined(results, suite, measure)
    if not len(chosen):
        return pl.DataFrame(schema=SCHEMA)
    margins, holds = chosen["margin"].to_numpy(), chosen["value"].to_numpy() == 1
    edges = _edges(min([*margins, *span]), max([*margins, *span]))
    # Bins are open on the left, so that a margin of exactly 0, which doesn't hold, is in the bin left of 0.
    bins = np.searchsorted(edges, margins, side="left") - 1
    counts = {kind: np.bincount(bins[holds == kind], minlength=len(edges) - 1) for kind in (False, True)}
    rows = [
        (model, suite, measure, float(edges[at]), float(edges[at + 1]), int(counts[kind][at]), kind)
        for at in range(len(edges) - 1)
        for kind in (False, True)
        if counts[kind][at]
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _edges(low: float, high: float) -> NDArray[np.float64]:
    """Return the edges of bins with a round width that include 0 and cover `low` to `high`.

    >>> _edges(-1.0, 2.0)[[0, 1, 2, -1]].tolist()
    [-1.1, -1.0, -0.9, 2.0]
    >>> _edges(-2e-14, 1e-14).tolist()
    [-0.0002, -0.0001, 0.0, 0.0001]
    """
    rough = max(max(high, 0.0) - min(low, 0.0), BINS * NARROWEST)
    power = 10.0 ** np.floor(np.log10(rough / BINS))
    width = next(power * factor for factor in (1, 2, 5, 10) if power * factor * BINS >= rough * (1 - 1e-9))
    first, last = int(np.floor(min(low, 0.0) / width)) - 1, int(np.ceil(max(high, 0.0) / width))
    edges: NDArray[np.float64] = np.round(np.arange(first, max(last, 1) + 1) * width, 12)
    return edges


def draw(counted_items: Sequence[pl.DataFrame], title: str = "", unit: str = "bits") -> Figure:
    rows = pl.concat(counted_items) if counted_items else pl.DataFrame(schema=SCHEMA)
    values = [_value(row, unit) for row in rows.iter_rows(named=True)]
    panel: Spec = {"width": 480, "height": 150, "layer": _layers(_ticks(rows), unit)}
    subtitle = "items by margin in bits" if unit == "bits" else f"items by margin: {unit}"
    return Figure(finish(by_model(panel, values, len(counted_items)), title, subtitle), rows)


def _value(row: dict[str, Any], unit: str) -> dict[str, object]:
    description = f"{counted(row['items'], 'item')} between {row['start']:g} and {row['end']:g} {unit}"
    return {
        "model": shown(str(row["model"])),
        "verdict": "holds" if row["holds"] else "fails",
        "said": description,
        **{key: row[key] for key in ("start", "end", "items")},
    }


def _ticks(rows: pl.DataFrame) -> Spec:
    """Choose whole numbers as ticks for counts if there are so few items that the default would include halves."""
    most = max(rows.group_by("model", "start").agg(pl.col("items").sum())["items"].to_list(), default=0)
    return {"values": list(range(most + 1)), "format": "d"} if most < 10 else {}


def _layers(ticks: Spec, unit: str) -> list[Spec]:
    colour = {
        "field": "verdict",
        "type": "nominal",
        "scale": {"domain": list(_COLOURS), "range": list(_COLOURS.values())},
        "legend": {"orient": "top", "title": None},
    }
    bars: Spec = {
        "x": vega.quantity("start", f"margin ({unit})", grid=False) | {"bin": "binned"},
        "x2": {"field": "end"},
        "y": vega.quantity("items", "items", **ticks),
        "color": colour,
        "description": {"field": "said"},
    }
    return [layer({"type": "bar", "binSpacing": 1}, bars), layer(vega.rule(color=GREY), {"x": {"datum": 0}})]
