"""Dot plots: one row for each name, dots with intervals, and a note at the right edge."""

from collections.abc import Callable, Mapping, Sequence
from math import isnan, nan
from typing import Any

import polars as pl

from syntagm.core import shown, shown_lines
from syntagm.evaluation import Estimate
from syntagm.views.drawing import vega
from syntagm.views.drawing.chart import GREY, Figure, Spec, finish
from syntagm.views.drawing.text import lines, only, or_none, remarks_on, short_names
from syntagm.views.drawing.vega import (
    COLOURS,
    Row,
    Series,
    estimated,
    heading,
    layer,
    names as axis_of_names,
    of,
    point,
    spread,
)

STEP = 22
# A label is placed by its first line. Several lines are raised by half of what follows it, so that they are centred.
_RAISED = {"expr": "-7 * (split(datum.label, '\\n').length - 1)"}


def panel(
    rows: Sequence[Row],
    axis: Spec,
    title: str = "",
    reference: float = float("nan"),
    series: Sequence[str] = (),
    width: int = 420,
    labels: bool = True,
    key: bool = False,
    colours: Sequence[str] = COLOURS,
    ticks: Mapping[str, str] | None = None,
) -> Spec:
    short = short_names(list(dict.fromkeys(row["name"] for row in rows)))
    rows = [{**row, "name": short[row["name"]]} for row in rows]
    ticks = ticks or {}
    names = list(dict.fromkeys(shown_lines(row["name"]) for row in rows))
    # Dots are offset by series only if some name has several of them.
    grouped = len({(row["name"], row["series"]) for row in rows}) > len(names)
    present = [name for name in series if grouped and any(row["series"] == name for row in rows)]
    step = STEP if len(present) < 2 else 13 * len(present) + 6
    step = max(step, 14 * max((name.count("\n") for name in names), default=0) + STEP)
    channels = Series("series", [shown(name) for name in series], width, key, colours)
    place: Spec = {"y": axis_of_names("name", names, labels=labels, offset=6, labelOffset=_RAISED)}
    if len(present) > 1:
        place["yOffset"] = Series("series", [shown(name) for name in present]).place
    dashed = vega.dashed(GREY, strokeWidth=1.4)
    tick = {"thickness": 2.5, "bandSize": 13 if grouped else 17, "opacity": 0.85, "aria": False}
    spec: Spec = {
        "width": width,
        "height": step * max(len(names), 1),
        "data": {"values": [_point(row) | {at: or_none(row[at]) for at in ticks} for row in rows]},
        "layer": [
            *([] if isnan(reference) else [vega.reference(reference, axis, "x", dashed)]),
            *(
                layer({"type": "tick", "color": colour, **tick}, place | {"x": of(axis, at)}, vega.defined(at))
                for at, colour in ticks.items()
            ),
            *_layers(place, axis, channels),
        ],
    }
    return spec | ({"title": heading(title, fontWeight="bold")} if title else {})


def with_counts(rows: Sequence[Row], counts: Callable[[Row], Sequence[str]]) -> list[dict[str, Any]]:
    """Write counts into rows: those that all rows of a name share after the name, the others into the notes of the rows.

    Arguments:
        rows: each with a name.
        counts: row -> its counts as texts, as many for each row.

    >>> rows = [{"name": "islands", "n": 10}, {"name": "islands", "n": 20}]
    >>> [(row["name"], row["note"]) for row in with_counts(rows, lambda row: ["8 suites", f"n = {row['n']}"])]
    [('islands (8 suites)', 'n = 10'), ('islands (8 suites)', 'n = 20')]
    """
    by_name: dict[str, list[Sequence[str]]] = {}
    for row in rows:
        by_name.setdefault(row["name"], []).append(counts(row))
    shared = {name: [len(set(same)) == 1 for same in zip(*of_rows, strict=True)] for name, of_rows in by_name.items()}
    written = []
    for row in rows:
        parts = list(zip(counts(row), shared[row["name"]], strict=True))
        inside = ", ".join(text for text, same in parts if same)
        note = ", ".join(text for text, same in parts if not same)
        written.append({**row, "name": f"{row['name']} ({inside})" if inside else row["name"], "note": note})
    return written


def _point(row: Row) -> dict[str, object]:
    return {"name": shown_lines(row["name"]), **point(row, row["said"], "series", "note")}


def _layers(place: Spec, axis: Spec, series: Series) -> list[Spec]:
    dot = place | {
        "color": series.colour,
        "shape": series.shape,
        "x": of(axis, "value"),
        "description": {"field": "said"},
    }
    note = place | {"text": {"field": "note"}, "x": {"value": series.width + 8}}
    return [
        layer(vega.rule(strokeWidth=1.8), place | spread(axis, "x") | {"color": series.colour}, vega.defined("low")),
        layer(vega.dot(60), dot, vega.defined("value")),
        layer(vega.label(10, opacity=0.7, aria=False), note),
    ]


def describe(row: Row) -> str:
    """Describe a row for screen readers: its name, its value with interval, and n.

    >>> describe({"name": "LSTM", "series": "", "value": 0.25, "low": 0.2, "high": 0.3, "n": 12})
    'LSTM: 0.250 [0.200, 0.300], n=12'
    """
    name = row["name"] + (f", {row['series']}" if row["series"] else "")
    return f"{name}: {estimated(row)}"


CONTRASTS = {
    "contrast": pl.String, "model": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64,
    "n": pl.Int64, "ties": pl.Int64, "undefined": pl.Int64, "method": pl.String,
}  # fmt: skip
WIDTH = 440


def draw_contrasts(estimates: Sequence[Estimate], title: str, axis: str, subtitle: Sequence[str]) -> Figure:
    """Draw one row for each contrast, with a dot for each model; to the right of 0, the first kind is easier."""
    rows = [(each.group["contrast"], each.group.model, *each.numbers, each.method) for each in estimates]
    table = pl.DataFrame(rows, schema=CONTRASTS, orient="row")
    series = list(dict.fromkeys(table["model"]))
    points = [{**row, "name": row["contrast"], "series": row["model"]} for row in table.iter_rows(named=True)]
    described = [{**row, "said": describe(row)} for row in points]
    values = with_counts(described, lambda row: [f"n = {row['n']:,}"])
    channel = vega.difference(axis, [*table["value"], *table["low"], *table["high"]], WIDTH)
    spec = panel(values, channel, "", 0.0 if len(table) else nan, series, WIDTH, key=len(series) > 1)
    return Figure(finish(spec, title, [*subtitle, *only(series), *lines(remarks_on(estimates))]), table)
