"""Surprisal by region: the mean surprisal of each region over items, in bits, with a 95% interval, by condition.

A grey band is behind the regions that the first prediction compares. Whether two conditions differ can't be judged from
the intervals of their means, because items differ much more than conditions. So these regions are repeated on separate
scales with intervals within items (`stats.paired_intervals`), and below are the differences that the prediction is about, with
theirs (`views.effects`).

A region that is empty in every item of a condition has 0 bits, as in formulas; its dot is hollow, and the line breaks
there. If a token crosses the border of a region, the region is undefined in that item: it is excluded from the mean,
and such items are counted.
"""

import math
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import UsageError, shown, span
from syntagm.evaluation import regions, unseen
from syntagm.runs import Run, chosen_suite, having
from syntagm.stats import interval, paired_intervals
from syntagm.suites import Reference, direction_of, language_of
from syntagm.views import effects
from syntagm.views.drawing import vega
from syntagm.views.drawing.chart import GREY, Figure, Spec, finish
from syntagm.views.drawing.text import IN_FIGURE, distinct, lines, remarks
from syntagm.views.drawing.vega import Series, beside, heading, layer, pile
from syntagm.views.effects import Effect, first_of_several, references, suite_effects
from syntagm.views.options import Suite

# The least number of bits that the scale of a compared region shows: smaller differences are not worth a picture.
SPAN = 1.0

SCHEMA: dict[str, Any] = {
    "model": pl.String, "suite": pl.String, "condition": pl.String, "region": pl.String, "label": pl.String,
    "position": pl.Int32, "bits": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int32, "undefined": pl.Int32,
    "empty": pl.Boolean, "low_within": pl.Float64, "high_within": pl.Float64, "remarks": pl.String,
}  # fmt: skip


def table(
    run: Run,
    suite: str,
    model: str = "",
    sentences: pl.DataFrame | None = None,
    compared: Collection[Reference] | None = None,
) -> pl.DataFrame:
    """Compute the mean surprisal of each region and condition in bits, its interval (`interval.of_numbers`), and its n."""
    # In the table, `label` is the text shown for a region, `position` its place in the sentence from 0, and `empty` is
    # true if it is empty in all items. `low_within` and `high_within` are the interval within items of a region that
    # the first prediction compares in several conditions (`stats.paired_intervals`), otherwise nan. `remarks` are those of the
    # interval, except on few items, because n is shown. If a sentence has two regions with the same name, the first is
    # used, as in formulas. A suite without regions gives no rows.
    record = run.suite(suite)
    measured = regions(run.scored(suite) if sentences is None else sentences, run.reading(suite))
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
    within_items = _within(measured, references(record) if compared is None else compared)
    rows = []
    for condition, name, place, (values, count, empty) in cells:
        mean, found = _mean(values.to_numpy())
        on_mean = "; ".join(remark for remark in found.remarks if not remark.startswith("only"))
        ends_within = (mean + end for end in within_items.get((name, condition), (math.nan, math.nan)))
        label = record.region_labels.get(name, "")
        counts = (len(values), count - len(values), empty)
        place_of = (model or run.model, suite, condition, name, label, place)
        rows.append((*place_of, mean, found.low, found.high, *counts, *ends_within, on_mean))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _mean(values: NDArray[np.float64]) -> tuple[float, interval.Interval]:
    return (float(values.mean()) if len(values) else math.nan), interval.of_numbers(values)


def _within(measured: pl.DataFrame, compared: Collection[Reference]) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the interval within items of each compared region and condition, relative to its mean."""
    found: dict[tuple[str, str], tuple[float, float]] = {}
    for region in dict.fromkeys(reference.region for reference in compared):
        conditions = [reference.condition for reference in dict.fromkeys(compared) if reference.region == region]
        rows = measured.filter((pl.col("region") == region) & pl.col("condition").is_in(conditions))
        if len(rows):
            by_item = rows.pivot("condition", index="item", values="bits").drop("item")
            values = by_item.fill_null(math.nan).to_numpy()
            found |= {
                (region, name): ends
                for name, ends in zip(by_item.columns, paired_intervals.within_items(values), strict=True)
            }
    return found


def draw_figure(runs: Sequence[Run], suite: Suite = "") -> Figure:
    """Draw one suite.

    Raises:
        UsageError: there is no such suite, or its sentences have no regions.
    """
    name = chosen_suite(runs, suite)
    models = having(runs, name)
    tables = [rows for model, run in models if len(rows := table(run, name, model))]
    if not tables:
        raise UsageError(
            f"suite={name}", "sentences without regions", "regions", "The figure `margins` needs no regions."
        )
    compared = {reference for _, run in models for reference in references(run.suite(name))}
    of_models = [effect for model, run in models for effect in suite_effects(run, name, "first", model)]
    prediction = next(filter(None, (first_of_several(run.suite(name)) for _, run in models)), "")
    first = models[0][1].suite(name)
    return draw(tables, name, compared, of_models, prediction, is_leftward(first.tags))


def is_leftward(tags: Mapping[str, str]) -> bool:
    return direction_of(language_of(tags).scripts) == "rtl"


def draw(
    tables: Sequence[pl.DataFrame],
    title: str = "",
    compared: Collection[Reference] = (),
    compared_effects: Sequence[Effect] = (),
    prediction: str = "",
    leftward: bool = False,
) -> Figure:
    rows = pl.concat(tables) if tables else pl.DataFrame(schema=SCHEMA)
    conditions, models = distinct(rows["condition"]), distinct(rows["model"])
    order = rows.unique("region", keep="first", maintain_order=True).sort("position", maintain_order=True)
    ticks = {row["region"]: _tick(row["region"], row["label"]) for row in order.iter_rows(named=True)}
    values: list[dict[str, Any]] = []
    in_zooms: list[dict[str, Any]] = []
    for row, value in zip(rows.iter_rows(named=True), _values(rows), strict=True):
        # An undefined mean, or one with a symbol of probability 0, can't be drawn.
        if math.isfinite(row["bits"]):
            texts = {
                "model": models[row["model"]],
                "condition": conditions[row["condition"]],
                "region": ticks[row["region"]],
            }
            values.append(value | texts)
            if Reference(row["region"], row["condition"]) in compared:
                in_zooms.append(_value(row, within=True) | texts)
    names = list(conditions.values())
    bands = [tick for name, tick in ticks.items() if any(name == reference.region for reference in compared)]
    # A character of a label takes about 7 pixels.
    longest = max((len(line) for tick in ticks.values() for line in tick.split("\n")), default=0)
    width = max(max(64, 13 * len(names) + 22, 7 * longest + 8) * len(ticks), 120)
    ends = [end for row in rows.iter_rows(named=True) for end in (row["bits"], row["high"]) if math.isfinite(end)]
    zoomed = bands if len(bands) < len(ticks) else []
    plots = []
    for at, model in enumerate(models.values()):
        of_model = [value for value in values if value["model"] == model]
        series = Series("condition", names, width, key=at == 0)
        # The last region comes first from the left.
        order_of_ticks = [*ticks.values()][:: -1 if leftward else 1]
        parts = _layers(order_of_ticks, series, max([1.0, *ends]), at == len(models) - 1, leftward)
        panel: Spec = {"width": width, "height": 240 if len(models) < 2 else 170, "data": {"values": of_model}}
        panel |= {"layer": [*_bands(bands, order_of_ticks), *parts]}
        panel |= {"title": heading(model)} if len(models) > 1 else {}
        zoomed_in = [value for value in in_zooms if value["model"] == model]
        zooms = [_zoom(zoomed_in, region, names, panel["height"], at == 0) for region in zoomed]
        plots.append(beside([panel, *zooms], 24) if zooms else panel)
    spec = pile(plots, 16) if len(plots) > 1 else next(iter(plots), _nothing())
    subtitle = [f"mean over items (n = {span(rows['n'].to_list())}) and 95% interval, {interval.OF_NUMBERS}"]
    if zoomed:
        subtitle.append(
            f"grey band, and right on a scale of its own: a compared region; 95% interval: {paired_intervals.METHOD}"
        )
    if compared_effects:
        below = effects.panel(compared_effects, list(models.values()), "", effects.extent(compared_effects))
        independent = {"scale": {"color": "independent", "shape": "independent"}}
        spec = pile([spec, below], 24, resolve=independent)
        subtitle.append("below: mean differences within items, 95% interval; right of 0 supports the prediction")
    if prediction and (bands or compared_effects):
        subtitle.append(f"compared regions and differences: those of the first prediction, {shown(prediction)}")
    on_means = [
        (f"{row['region']} in {row['condition']} ({row['model']})", [row["remarks"]])
        for row in rows.iter_rows(named=True)
        if row["remarks"]
    ]
    of_effects = effects.limits(compared_effects, IN_FIGURE)
    limits = dict.fromkeys((*remarks(on_means, IN_FIGURE), unseen("items"), *of_effects))
    return Figure(finish(spec, title, [*subtitle, *lines(limits)]), rows)


def _tick(name: str, label: str) -> str:
    lines = (
        textwrap.wrap(shown(label), 13, break_long_words=True, max_lines=3, placeholder="…") if label != name else []
    )
    return "\n".join([shown(name), *lines])


def _values(rows: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the values to draw for each row. `segment` numbers the parts of a line, which breaks at empty regions."""
    segment, before = 0, (None, None, 0)
    for row in rows.iter_rows(named=True):
        place = (row["model"], row["condition"], row["position"])
        if row["empty"] or not math.isfinite(row["bits"]) or place != (*before[:2], before[2] + 1):
            segment += 1
        before = place if not row["empty"] and math.isfinite(row["bits"]) else (None, None, 0)
        yield _value(row) | {"segment": segment}


def _value(row: Mapping[str, Any], within: bool = False) -> dict[str, Any]:
    """Return what a dot and its interval need; if `within`, the interval is that within items."""
    bounds = (row["low_within"], row["high_within"]) if within else (row["low"], row["high"])
    # Without items, with one, or if all have the same bits (an empty region), there is no interval.
    known = all(map(math.isfinite, bounds))
    between = f" [{bounds[0]:.2f}, {bounds[1]:.2f}{' within items' if within else ''}]" if known else ""
    named = f"{row['region']} {row['label']}".strip()
    description = f"{row['condition']}, {named}: {row['bits']:.2f}{between} bits, n={row['n']}"
    notes = [", empty" if row["empty"] else "", f", {row['undefined']} undefined" if row["undefined"] else ""]
    return {
        "bits": row["bits"],
        **({} if known or row["empty"] else {"why": "fewer than two items" if row["n"] == 1 else "no spread"}),
        "low": bounds[0] if known else row["bits"],
        "high": bounds[1] if known else row["bits"],
        "empty": row["empty"],
        "said": shown(description + "".join(notes)),
    }


def _place(ticks: list[str], labelled: bool = True) -> Spec:
    scale = {"type": "band", "domain": ticks, "paddingInner": 0.2, "paddingOuter": 0.1}
    return {"x": vega.places("region", scale, grid=False, labels=labelled)}


def _bands(compared: list[str], ticks: list[str]) -> list[Spec]:
    mark = {"type": "rect", "color": GREY, "opacity": 0.13, "aria": False}
    return [layer(mark, _place(ticks), values=[{"region": tick} for tick in compared])] if compared else []


def _layers(ticks: list[str], conditions: Series, highest: float, labelled: bool, leftward: bool) -> list[Spec]:
    place: Spec = _place(ticks, labelled) | {"xOffset": conditions.place, "color": conditions.colour}
    side = {"orient": "right"} if leftward else {}
    bits = vega.quantity("bits", "surprisal (bits)", {"domain": [0, highest], "nice": True}, **side)
    points = place | {"y": bits, "shape": conditions.shape, "description": {"field": "said"}}
    full, hollow = (vega.equal("empty", empty) for empty in (False, True))
    return [
        layer(vega.line(1, opacity=0.45), place | {"y": bits, "detail": {"field": "segment"}}, full),
        layer(vega.rule(strokeWidth=1.6), place | vega.spread(bits)),
        layer(vega.dot(55), points, full),
        layer(vega.dot(55, filled=False), points, hollow),
    ]


def _zoom(zoomed: list[dict[str, Any]], region: str, conditions: list[str], height: int, titled: bool) -> Spec:
    """Make a small panel for a compared region under one model, with a scale of its own and intervals within items."""
    values = [value for value in zoomed if value["region"] == region]
    series = Series("condition", conditions)
    ends = [end for value in values for end in (value["low"], value["high"])]
    low, high = min(ends, default=0.0), max(ends, default=0.0)
    margin = max(SPAN - (high - low), 0.0) / 2
    scale = {"domain": [low - margin, high + margin], "nice": True, "padding": 8}
    bits = vega.quantity("bits", None, scale, tickCount=5)
    place = vega.names("condition", conditions, labels=False)
    encoding = {"x": place, "y": bits, "color": series.colour, "shape": series.shape, "description": {"field": "said"}}
    panel: Spec = {"width": max(56, 13 * len(conditions) + 12), "height": height, "data": {"values": values}}
    spread = {"x": place, "color": series.colour} | vega.spread(bits)
    panel |= {"layer": [layer(vega.rule(strokeWidth=1.6), spread), layer(vega.dot(75), encoding)]}
    return panel | ({"title": heading(region.partition("\n")[0], anchor="middle")} if titled else {})


def _nothing() -> Spec:
    """Return the panel of a suite without regions."""
    return {"width": 120, "height": 60, "data": {"values": []}, "mark": "point"}
