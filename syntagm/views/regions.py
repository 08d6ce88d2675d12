"""Surprisal by region: the mean surprisal of each region over items, in bits, with a 95% interval, by condition.

A region that is empty in every item of a condition has 0 bits, as in formulas. Its dot is hollow, and the line skips
it. If a token crosses the border of a region, the region is undefined in that item: it is excluded from the mean, and
such items are counted.
"""

import math
import textwrap
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import polars as pl

from syntagm.drawing import axes, layers
from syntagm.drawing.chart import GREY, Figure, Spec, finish
from syntagm.drawing.layers import layer
from syntagm.drawing.panels import by_model
from syntagm.drawing.series import Series
from syntagm.drawing.text import distinct, shown
from syntagm.errors import UsageError
from syntagm.runs.several import chosen_suite, having
from syntagm.runs.store import Run
from syntagm.stats import bootstrap
from syntagm.tasks.regions import regions
from syntagm.views.options import Suite

# A figure needs fewer draws than a table: with 1,000, the ends of an interval vary by about 1/50 of its width.
DRAWS = 1000
METHOD = bootstrap.Resampling(DRAWS).method()

SCHEMA: dict[str, Any] = {
    "model": pl.String, "suite": pl.String, "condition": pl.String, "region": pl.String, "label": pl.String,
    "position": pl.Int32, "bits": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int32, "undefined": pl.Int32,
    "empty": pl.Boolean,
}  # fmt: skip


def table(run: Run, suite: str, model: str = "", sentences: pl.DataFrame | None = None) -> pl.DataFrame:
    """Compute the mean surprisal of each region and condition in bits, its interval (`METHOD`), and its n.

    In the table, `label` is the text shown for a region, `position` its place in the sentence from 0, and `empty` is
    true if it is empty in all items. If a sentence has two regions with the same name, the first is used, as in
    formulas. A suite without regions gives no rows.

    Arguments:
        model: the name of the model in the table; by default that of the run.
        sentences: the sentences of the suite, if they are already loaded.
    """
    record = run.suite(suite)
    measured = regions(run.sentences(suite) if sentences is None else sentences, run.reading(suite))
    measured = measured.unique(["item", "condition", "region"], keep="first", maintain_order=True)
    order = (
        measured.group_by("region", maintain_order=True).agg(pl.col("place").min()).sort("place", maintain_order=True)
    )
    parts = measured.group_by("condition", "region").agg(
        pl.col("bits").filter(pl.col("bits").is_not_nan()), pl.len(), pl.col("empty").all()
    )
    groups = {(condition, name): rest for condition, name, *rest in zip(*parts.get_columns(), strict=True)}
    cells = [
        (condition, name, place, groups[condition, name])
        for condition in record.conditions
        for place, name in enumerate(order["region"])
        if (condition, name) in groups
    ]
    bits = [of_items.to_numpy() for *_, (of_items, _, _) in cells]
    means = bootstrap.resampled_means_of_each(bits, suite, DRAWS)
    rows = [
        (
            *(model or run.model, suite, condition, name, record.region_labels.get(name, ""), place),
            *(float(values.mean()) if len(values) else math.nan, *bootstrap.interval(draws)),
            *(len(values), count - len(values), empty),
        )
        for (condition, name, place, (_, count, empty)), values, draws in zip(cells, bits, means, strict=True)
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def draw_figure(runs: Sequence[Run], suite: Suite = "") -> Figure:
    """Draw one suite.

    Raises:
        UsageError: there is no such suite, or its sentences have no regions.
    """
    name = chosen_suite(runs, suite)
    tables = [rows for model, run in having(runs, name) if len(rows := table(run, name, model))]
    if not tables:
        raise UsageError(
            f"suite={name}", "sentences without regions", "regions", "The figure `margins` needs no regions."
        )
    return draw(tables, name)


def draw(tables: Sequence[pl.DataFrame], title: str = "", compared: Collection[str] = ()) -> Figure:
    """Draw one suite, with one panel for each model.

    Arguments:
        tables: the tables that `table` returns for one suite, one for each model.
        title: the title of the figure.
        compared: the regions with a grey band behind them, for example those that a prediction compares.
    """
    rows = pl.concat(tables) if tables else pl.DataFrame(schema=SCHEMA)
    conditions, models = distinct(rows["condition"]), distinct(rows["model"])
    order = rows.unique("region", keep="first", maintain_order=True).sort("position", maintain_order=True)
    ticks = {row["region"]: _tick(row["region"], row["label"]) for row in order.iter_rows(named=True)}
    width = max(max(64, 13 * len(conditions) + 22) * len(ticks), 120)
    values = [
        _value(row)
        | {"model": models[row["model"]], "condition": conditions[row["condition"]], "region": ticks[row["region"]]}
        for row in rows.iter_rows(named=True)
        # An undefined mean, or one with a symbol of probability 0, can't be drawn.
        if math.isfinite(row["bits"])
    ]
    bands = [tick for name, tick in ticks.items() if name in compared]
    series = Series("condition", list(conditions.values()), width, key=True)
    parts = [*_bands(bands, list(ticks.values())), *_layers(list(ticks.values()), series)]
    panel: Spec = {"width": width, "height": 240 if len(models) < 2 else 170, "layer": parts}
    subtitle = f"mean over {_span(rows['n'].to_list())} items and 95% interval, {METHOD}"
    return Figure(finish(by_model(panel, values, len(models)), title, subtitle), rows)


def _span(counts: Sequence[int]) -> str:
    least, most = min(counts, default=0), max(counts, default=0)
    return f"{least}" if least == most else f"{least} to {most}"


def _tick(name: str, label: str) -> str:
    lines = (
        textwrap.wrap(shown(label), 13, break_long_words=True, max_lines=3, placeholder="…") if label != name else []
    )
    return "\n".join([shown(name), *lines])


def _value(row: Mapping[str, Any]) -> dict[str, Any]:
    bounds = (row["low"], row["high"])
    between = "" if row["n"] < 2 else f" [{bounds[0]:.2f}, {bounds[1]:.2f}]"
    named = f"{row['region']} {row['label']}".strip()
    description = f"{row['condition']}, {named}: {row['bits']:.2f}{between} bits, n={row['n']}"
    notes = [", empty" if row["empty"] else "", f", {row['undefined']} undefined" if row["undefined"] else ""]
    return {
        "bits": row["bits"],
        "low": bounds[0] if row["n"] > 1 else row["bits"],
        "high": bounds[1] if row["n"] > 1 else row["bits"],
        "empty": row["empty"],
        "said": shown(description + "".join(notes)),
    }


def _place(ticks: list[str]) -> Spec:
    scale = {"type": "band", "domain": ticks, "paddingInner": 0.2, "paddingOuter": 0.1}
    return {"x": axes.places("region", scale, grid=False)}


def _bands(compared: list[str], ticks: list[str]) -> list[Spec]:
    """Make a layer with a grey band behind each compared region."""
    mark = {"type": "rect", "color": GREY, "opacity": 0.13, "aria": False}
    return [layer(mark, _place(ticks), values=[{"region": tick} for tick in compared])] if compared else []


def _layers(ticks: list[str], conditions: Series) -> list[Spec]:
    place: Spec = _place(ticks) | {"xOffset": conditions.place, "color": conditions.colour}
    bits = axes.quantity("bits", "surprisal (bits)", {"zero": True})
    points = place | {"y": bits, "shape": conditions.shape, "description": {"field": "said"}}
    full, hollow = (layers.equal("empty", empty) for empty in (False, True))
    return [
        layer(layers.line(1, opacity=0.45), place | {"y": bits}, full),
        layer(layers.rule(strokeWidth=1.6), place | axes.spread(bits)),
        layer(layers.dot(55), points, full),
        layer(layers.dot(55, filled=False), points, hollow),
    ]
