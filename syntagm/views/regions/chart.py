"""Surprisal by region: for each condition of a suite, the mean bits of each region over items, with a 95% interval.

A region that is empty in every item of a condition costs 0 bits, as the formulas have it; it is drawn hollow, and the line
passes it by. Where a token reaches over a border the region is undefined: such items are left out and counted.
"""

import math
import textwrap
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.drawing.chart import Figure, Spec, colours, distinct, finish, legend, shapes, shown
from syntagm.errors import UsageError
from syntagm.runs.several import chosen_suite, named
from syntagm.runs.store import Run
from syntagm.stats import bootstrap
from syntagm.views.regions import compute

# A point in a plot needs fewer draws than a number in a table: the ends move by about a fiftieth of the width.
DRAWS = 1000
METHOD = f"bootstrap(items, {DRAWS}, seed {bootstrap.SEED})"

SCHEMA: dict[str, Any] = {
    "model": pl.String,
    "suite": pl.String,
    "condition": pl.String,
    "region": pl.String,
    "label": pl.String,
    "position": pl.Int32,
    "bits": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int32,
    "undefined": pl.Int32,
    "empty": pl.Boolean,
}


def draw_figure(runs: Sequence[Run], suite: str = "") -> Figure:
    """The figure of one suite.

    Arguments:
        suite: its name; may be left out where there is one only.

    Raises:
        UsageError: no such suite, or its sentences have no regions.
    """
    name = chosen_suite(runs, suite)
    having = [(model, run) for model, run in named(runs) if any(one.name == name for one in run.suites)]
    found = [made for model, run in having if len(made := table(run, name, model))]
    if not found:
        raise UsageError(f"suite={name}", "sentences without regions", "regions", "The figure margins needs none.")
    return draw(found, name)


def table(run: Run, suite: str, model: str = "", sentences: pl.DataFrame | None = None) -> pl.DataFrame:
    """A row a condition and region: the mean in bits, its interval (`METHOD`), and over how many items.

    Arguments:
        model: what to call the model; its own name unless given.
        sentences: of the suite, if they are at hand.

    `label` is what readers see, `position` the place in the sentence from 0, `empty` whether all contents are empty.
    A name that a sentence has twice stands for the first such region, as in formulas. Without regions, no rows.
    """
    record, regions = run.suite(suite), compute.regions(run, suite, sentences)
    regions = regions.unique(["item", "condition", "region"], keep="first", maintain_order=True)
    order = (
        regions.group_by("region", maintain_order=True).agg(pl.col("place").min()).sort("place", maintain_order=True)
    )
    groups = dict(iter(regions.group_by("condition", "region")))
    known = [
        (condition, name, place)
        for condition in record.conditions
        for place, name in enumerate(order["region"])
        if (condition, name) in groups
    ]
    bits = [groups[condition, name]["bits"].drop_nans().to_numpy() for condition, name, _ in known]
    means = bootstrap.redrawn_means_of_each(bits, suite, DRAWS)
    rows = [
        (
            *(model or run.model, suite, condition, name, record.region_labels.get(name, ""), place),
            *_summary(groups[condition, name], values, redrawn),
        )
        for (condition, name, place), values, redrawn in zip(known, bits, means, strict=True)
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _summary(
    part: pl.DataFrame, bits: NDArray[np.float64], means: bootstrap.Draws
) -> tuple[float, float, float, int, int, bool]:
    low, high = bootstrap.interval(means)
    mean = float(bits.mean()) if len(bits) else float("nan")
    return mean, low, high, len(bits), len(part) - len(bits), bool(part["empty"].all())


def draw(tables: Sequence[pl.DataFrame], title: str = "", compared: Collection[str] = ()) -> Figure:
    """The figure of one suite, a panel a model.

    Arguments:
        tables: from `table`, one a model, of the same suite.
        title: above the figure, for a figure that stands alone.
        compared: regions with a grey band behind them, e.g. those that a prediction compares.
    """
    rows = pl.concat(tables) if tables else pl.DataFrame(schema=SCHEMA)
    conditions, models = distinct(rows["condition"]), distinct(rows["model"])
    regions = rows.unique("region", keep="first", maintain_order=True).sort("position", maintain_order=True)
    ticks = {row["region"]: _tick(row["region"], row["label"]) for row in regions.iter_rows(named=True)}
    width = max(max(64, 13 * len(conditions) + 22) * len(ticks), 120)
    values = [
        _value(row)
        | {"model": models[row["model"]], "condition": conditions[row["condition"]], "region": ticks[row["region"]]}
        for row in rows.iter_rows(named=True)
        # A mean of nothing, or with a symbol of probability 0 in it, has no place on the axis.
        if math.isfinite(row["bits"])
    ]
    bands = [tick for name, tick in ticks.items() if name in compared]
    layers = [*_bands(bands, list(ticks.values())), *_layers(list(ticks.values()), list(conditions.values()), width)]
    panel = {"width": width, "height": 240 if len(models) < 2 else 170, "layer": layers}
    subtitle = f"mean over {_span(rows['n'].to_list())} items and 95% interval, {METHOD}"
    return Figure(finish(_panels(panel, values, len(models)), title, subtitle), rows)


def _span(counts: Sequence[int]) -> str:
    least, most = min(counts, default=0), max(counts, default=0)
    return f"{least}" if least == most else f"{least} to {most}"


def _tick(name: str, label: str) -> str:
    lines = (
        textwrap.wrap(shown(label), 13, break_long_words=True, max_lines=3, placeholder="…") if label != name else []
    )
    return "\n".join([shown(name), *lines])


def _value(row: dict[str, Any]) -> dict[str, Any]:
    bounds = (row["low"], row["high"])
    between = "" if row["n"] < 2 else f" [{bounds[0]:.2f}, {bounds[1]:.2f}]"
    named = f"{row['region']} {row['label']}".strip()
    said = f"{row['condition']}, {named}: {row['bits']:.2f}{between} bits, n={row['n']}"
    notes = [", empty" if row["empty"] else "", f", {row['undefined']} undefined" if row["undefined"] else ""]
    return {
        "bits": row["bits"],
        "low": bounds[0] if row["n"] > 1 else row["bits"],
        "high": bounds[1] if row["n"] > 1 else row["bits"],
        "empty": row["empty"],
        "said": shown(said + "".join(notes)),
    }


def _place(ticks: list[str]) -> Spec:
    scale = {"type": "band", "domain": ticks, "paddingInner": 0.2, "paddingOuter": 0.1}
    axis = {"title": None, "labelAngle": 0, "grid": False}
    return {"x": {"field": "region", "type": "ordinal", "scale": scale, "axis": axis}}


def _bands(compared: list[str], ticks: list[str]) -> list[Spec]:
    """A grey band behind each of these regions."""
    if not compared:
        return []
    mark = {"type": "rect", "color": "#808080", "opacity": 0.13, "aria": False}
    return [{"data": {"values": [{"region": tick} for tick in compared]}, "mark": mark, "encoding": _place(ticks)}]


def _layers(ticks: list[str], conditions: list[str], width: float) -> list[Spec]:
    place: Spec = _place(ticks) | {
        "xOffset": {"field": "condition", "type": "nominal", "scale": {"domain": conditions}},
        "color": {
            "field": "condition",
            "type": "nominal",
            "scale": colours(conditions),
            "legend": legend(conditions, width),
        },
    }
    bits: Spec = {"field": "bits", "type": "quantitative", "title": "surprisal (bits)", "scale": {"zero": True}}
    shape: Spec = {
        "field": "condition",
        "type": "nominal",
        "scale": shapes(conditions),
        "legend": legend(conditions, width),
    }
    bounds = {"y": bits | {"field": "low"}, "y2": {"field": "high"}}
    points = place | {"y": bits, "shape": shape, "description": {"field": "said"}}
    full, hollow = ([{"filter": {"field": "empty", "equal": empty}}] for empty in (False, True))
    line = {"type": "line", "strokeWidth": 1, "opacity": 0.45, "aria": False}
    return [
        {"transform": full, "mark": line, "encoding": place | {"y": bits}},
        {"mark": {"type": "rule", "strokeWidth": 1.6, "aria": False}, "encoding": place | bounds},
        {"transform": full, "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1}, "encoding": points},
        {"transform": hollow, "mark": {"type": "point", "filled": False, "size": 55, "opacity": 1}, "encoding": points},
    ]


def _panels(panel: Spec, values: list[dict[str, Any]], models: int) -> Spec:
    if models < 2:
        return {"data": {"values": values}, **panel}
    for index, value in enumerate(values):
        value["panel"] = index
    facet = {"field": "model", "type": "nominal", "sort": {"field": "panel", "op": "min"}, "header": {"title": None}}
    return {"data": {"values": values}, "facet": {"row": facet}, "spec": panel}
