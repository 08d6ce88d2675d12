"""The figure of scores: a dot with an interval for each model and suite, and a tick for the chance level if it is known."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nan

import polars as pl

from syntagm.evaluation import Estimate, Group, Kind
from syntagm.runs import Run, named, titles
from syntagm.views import gaps
from syntagm.views.drawing import axes, layers
from syntagm.views.drawing.chart import GREY, Figure, Spec, finish
from syntagm.views.drawing.layers import layer
from syntagm.views.drawing.panels import heading, pile
from syntagm.views.drawing.points import Row, estimated, point
from syntagm.views.drawing.series import Series
from syntagm.views.drawing.text import distinct, lines, or_none, remarks_on
from syntagm.views.estimates import accuracies, by_group, chance_of_suite, panel_tag, shared_kind
from syntagm.views.options import Measure

SCHEMA = {
    "model": pl.String, "suite": pl.String, "measure": pl.String, "value": pl.Float64, "low": pl.Float64,
    "high": pl.Float64, "n": pl.Int64, "ties": pl.Int64, "undefined": pl.Int64, "chance": pl.Float64, "method": pl.String,
}  # fmt: skip
WIDTH = 480
# With more suites than this, the axis is at the top of the figure.
MANY = 25


def draw_figure(runs: Sequence[Run], measure: Measure = "first") -> Figure:
    """Draw the scores of runs on all their suites."""
    names = titles(runs)
    tag = panel_tag(runs)
    estimates, chance, groups = [], {}, {}
    for model, run in named(runs):
        for estimate in accuracies(run, measure):
            record = run.suite(estimate.group.suite)
            title = names[record.name, record.hash]
            estimates.append(replace(estimate, group=Group(model, title, measure)))
            chance[title] = chance_of_suite(record, measure).value
            groups[title] = (record.group(tag) or f"no {tag}") if tag else ""
    kind = shared_kind(runs, measure)
    noun = "context" if gaps.over_gaps(runs[0]) else "item"
    title = "Accuracy by suite" if kind is Kind.VERDICT else f"{measure} by suite"
    return draw(estimates, chance, title, kind, f"mean {measure}", noun, groups)


def draw(
    estimates: Sequence[Estimate],
    chance: Mapping[str, float] | None = None,
    title: str = "",
    kind: Kind = Kind.VERDICT,
    quantity: str = "",
    noun: str = "",
    groups: Mapping[str, str] | None = None,
) -> Figure:
    """Draw the scores of models on suites, with one row for each suite."""
    rows = [_row(estimate, (chance or {}).get(estimate.group.suite, nan)) for estimate in estimates]
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    models, suites = distinct(table["model"]), distinct(table["suite"])
    by_suite: dict[str, list[float]] = {suite: [] for suite in suites}
    for suite, value in table.select("suite", "value").iter_rows():
        by_suite[suite].append(value)
    panels = by_group(by_suite, groups) if groups and by_suite else {"": list(suites)}
    values = [_point(row, models[row["model"]], suites[row["suite"]]) for row in table.iter_rows(named=True)]
    known = any(value["chance"] is not None for value in values)
    plots = []
    for at, (group, members) in enumerate(panels.items()):
        of_group = {suites[suite] for suite in members}
        series = Series("model", list(models.values()), WIDTH, at == 0 and len(models) > 1)
        # With many suites, the axis is at the top of the figure, where readers start.
        labelled = at == (0 if len(suites) > MANY else len(panels) - 1)
        plot: Spec = {
            "width": WIDTH,
            "height": max(16, 9 * len(models) + 6) * max(1, len(members)),
            "data": {"values": [value for value in values if value["suite"] in of_group]},
            "layer": _layers(
                series, [suites[suite] for suite in members], kind, quantity, labelled, len(suites) > MANY
            ),
        }
        plots.append(plot | ({"title": heading(group, fontWeight="bold")} if len(panels) > 1 else {}))
    judged = kind is Kind.VERDICT
    explained = "proportion of items whose prediction holds" if judged else f"{quantity} over {noun}s"
    subtitle = f"{explained}, 95% interval" + ("; grey tick: chance" if known else "")
    spec = pile(plots, 10) if len(plots) > 1 else plots[0]
    return Figure(finish(spec, title, [subtitle, *lines(remarks_on(estimates))]), table)


def _row(estimate: Estimate, chance: float) -> tuple[object, ...]:
    names = (estimate.group.model, estimate.group.suite, estimate.group.measure)
    return (*names, *estimate.numbers, chance, estimate.method)


def _point(row: Row, model: str, suite: str) -> dict[str, object]:
    said = f"{model}, {suite}: {estimated(row)}"
    return {"model": model, "suite": suite, **point(row, said), "chance": or_none(row["chance"])}


def _layers(
    models: Series, suites: Sequence[str], kind: Kind, quantity: str, labelled: bool, on_top: bool
) -> list[Spec]:
    place: Spec = {"y": axes.names("suite", suites, offset=6)}
    beside = place | {"yOffset": models.place}
    title = "accuracy" if kind is Kind.VERDICT else quantity
    accuracy = axes.mean(
        kind, title if labelled else "", orient="top" if on_top else "bottom", labels=labelled, domain=labelled,
        tickSize=5 if labelled else 0,
    )  # fmt: skip
    chance = place | {"x": axes.of(accuracy, "chance")}
    interval = beside | axes.spread(accuracy, "x") | {"color": models.colour}
    dot = beside | {"x": accuracy, "color": models.colour, "shape": models.shape, "description": {"field": "said"}}
    tick = {"type": "tick", "color": GREY, "thickness": 2, "aria": False}
    return [
        layer(tick, chance, layers.defined("chance")),
        layer(layers.rule(strokeWidth=1.6), interval, layers.defined("low")),
        layer(layers.dot(50), dot, layers.defined("value")),
    ]
