"""Margins: by how many bits a prediction holds or fails, item by item, as a histogram; right of 0 it holds."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.drawing.chart import Figure, Spec, finish, shown
from syntagm.errors import UsageError
from syntagm.result import Kind
from syntagm.runs.several import chosen_suite, named
from syntagm.runs.store import Run
from syntagm.stats.paired import kind_of
from syntagm.views.scores.compute import predictions

SCHEMA = {
    "model": pl.String,
    "suite": pl.String,
    "measure": pl.String,
    "start": pl.Float64,
    "end": pl.Float64,
    "items": pl.Int64,
    "holds": pl.Boolean,
}
BINS = 30
# Bits; narrower bins would spread out rounding noise, and the differences within which a comparison is a tie.
NARROWEST = 0.0001
_COLOURS = {"holds": "#0072B2", "fails": "#D55E00"}


def draw_figure(runs: Sequence[Run], suite: str = "", measure: str = "") -> Figure:
    """The figure of one suite.

    Arguments:
        suite: its name; may be left out where there is one only.
        measure: a prediction's name; the first unless given.

    Raises:
        UsageError: no such suite or prediction, or one whose items have no margins.
    """
    name = chosen_suite(runs, suite)
    having = [(model, run) for model, run in named(runs) if any(one.name == name for one in run.suites)]
    known = predictions(having[0][1])[name]
    if (measure or not known) and measure not in known:
        raise UsageError("measure=", repr(measure) if known else "no predictions", "one of " + ", ".join(known))
    chosen = measure or known[0]
    results = [run.results(name) for _, run in having]
    _refuse_shares(pl.concat(results), chosen, known)
    found = [table(rows, name, chosen, model) for rows, (model, _) in zip(results, having, strict=True)]
    return draw([one for one in found if len(one)], f"{name}: {chosen}")


def _refuse_shares(results: pl.DataFrame, measure: str, known: Sequence[str]) -> None:
    rows = {name: results.filter(pl.col("measure") == name) for name in known}
    judged = [name for name, found in rows.items() if kind_of(found["value"], found["margin"]) is Kind.VERDICT]
    if measure not in judged:
        said = f"{measure!r}, whose values are shares between 0 and 1, without margins"
        raise UsageError("measure=", said, "one of " + ", ".join(judged), "The figure scores shows shares.")


def table(results: pl.DataFrame, suite: str, measure: str, model: str = "") -> pl.DataFrame:
    """A row a bin and verdict: its ends in bits and how many items lie in it; bins don't reach over 0.

    Arguments:
        results: columns suite, measure, value, margin; rows whose margin is nan are left out, and infinite ones, too.
        model: what to call the model.
    """
    chosen = results.filter((pl.col("suite") == suite) & (pl.col("measure") == measure))
    chosen = chosen.filter(pl.col("margin").is_finite())
    if not len(chosen):
        return pl.DataFrame(schema=SCHEMA)
    margins, holds = chosen["margin"].to_numpy(), chosen["value"].to_numpy() == 1
    edges = _edges(float(margins.min()), float(margins.max()))
    # A margin of exactly 0 doesn't hold: bins are open on the left.
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
    """Borders of bins of a round width around 0 that hold `low` < x <= `high`.

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


def draw(tables: Sequence[pl.DataFrame], title: str = "") -> Figure:
    """The figure of one suite and prediction, a panel a model.

    Arguments:
        tables: from `table`, one a model.
    """
    rows = pl.concat(tables) if tables else pl.DataFrame(schema=SCHEMA)
    values = [_value(index, row) for index, row in enumerate(rows.iter_rows(named=True))]
    panel: Spec = {"width": 480, "height": 150, "layer": _layers(_ticks(rows))}
    facet = {"field": "model", "type": "nominal", "sort": {"field": "panel", "op": "min"}, "header": {"title": None}}
    panels = panel if len(tables) < 2 else {"facet": {"row": facet}, "spec": panel}
    return Figure(finish({"data": {"values": values}, **panels}, title, "items by margin in bits"), rows)


def _value(index: int, row: dict[str, object]) -> dict[str, object]:
    verdict = "holds" if row["holds"] else "fails"
    items = "1 item" if row["items"] == 1 else f"{row['items']} items"
    said = f"{items} between {row['start']:g} and {row['end']:g} bits"
    return {
        "model": shown(str(row["model"])),
        "panel": index,
        "verdict": verdict,
        "said": said,
        **{key: row[key] for key in ("start", "end", "items")},
    }


def _ticks(rows: pl.DataFrame) -> Spec:
    """Whole numbers of items where a scale would also mark halves."""
    most = max(rows.group_by("model", "start").agg(pl.col("items").sum())["items"].to_list(), default=0)
    return {"values": list(range(most + 1)), "format": "d"} if most < 10 else {}


def _layers(ticks: Spec) -> list[Spec]:
    key = {"orient": "top", "title": None}
    colour = {
        "field": "verdict",
        "type": "nominal",
        "scale": {"domain": list(_COLOURS), "range": list(_COLOURS.values())},
        "legend": key,
    }
    bars: Spec = {
        "x": {
            "field": "start",
            "type": "quantitative",
            "bin": "binned",
            "title": "margin (bits)",
            "axis": {"grid": False},
        },
        "x2": {"field": "end"},
        "y": {"field": "items", "type": "quantitative", "title": "items", "axis": ticks},
        "color": colour,
        "description": {"field": "said"},
    }
    zero = {"mark": {"type": "rule", "color": "#808080", "aria": False}, "encoding": {"x": {"datum": 0}}}
    return [{"mark": {"type": "bar", "binSpacing": 1}, "encoding": bars}, zero]
