"""How alike models are: correlations of their accuracies over suites, as a square of numbers and shades, like by like."""

from collections.abc import Sequence
from math import isnan, nan

import polars as pl

from syntagm.drawing.chart import INK, Figure, Spec, finish, shown
from syntagm.drawing.table import or_none
from syntagm.errors import UsageError
from syntagm.runs.several import named, titles
from syntagm.runs.store import Run
from syntagm.stats import correlation
from syntagm.stats.association import METHODS
from syntagm.views.scores import compute as estimates

CELL = 68
_SAID = {"Pearson": "Pearson's r, of accuracies", "Spearman": "Spearman's rho, of their ranks"}


def draw(table: pl.DataFrame, models: Sequence[str], title: str = "") -> Figure:
    """The figure: a panel a kind of correlation, the models in one order in both.

    Arguments:
        table: columns as in `correlation.SCHEMA`.
        models: all of them; their order is that of a clustering of Pearson's r.
    """
    ordered = correlation.order(table, models)
    numbers = sorted(set(table["n"])) or [0]
    over = f"{numbers[0]} suites" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]} suites"
    spec: Spec = {"hconcat": [_panel(table, ordered, kind, at == 0) for at, kind in enumerate(METHODS)], "spacing": 24}
    subtitle = f"over {over}; small: 95% interval, suites drawn anew; neighbours are alike (average linkage)"
    return Figure(finish(spec, title, subtitle), table.select(list(correlation.SCHEMA)))


def draw_figure(runs: Sequence[Run], measure: str = "full_sentence") -> Figure:
    """The correlations of some runs over the suites that two of them share.

    Raises:
        UsageError: a single run.
    """
    if len(runs) < 2:
        raise UsageError("model_correlation", f"{len(runs)} run{'s' * (len(runs) != 1)}", "at least two")
    # Suites that have other content under the same name are not the same.
    shown = titles(runs)
    accuracies = {
        name: {
            shown[one.group.suite, run.suite(one.group.suite).hash]: one.value
            for one in estimates.accuracies(run, measure)
        }
        for name, run in named(runs)
    }
    return draw(correlation.correlations(accuracies), list(accuracies), "Correlation of accuracies")


def _panel(table: pl.DataFrame, ordered: Sequence[str], kind: str, labels: bool) -> Spec:
    names = [shown(name) for name in ordered]
    found = {frozenset((a, b)): numbers for a, b, of, *numbers in table.iter_rows() if of == kind}
    values = [
        {"row": names[i], "column": names[j], **_value(*found.get(frozenset((a, b)), [1.0, nan, nan])[:3])}
        for i, a in enumerate(ordered)
        for j, b in enumerate(ordered)
    ]
    side = CELL * len(names)
    return {
        "title": {"text": _SAID[kind], "fontSize": 12},
        "width": side,
        "height": side,
        "data": {"values": values},
        "layer": _layers(names, labels),
    }


def _value(r: float, low: float, high: float) -> dict[str, object]:
    said = "–" if isnan(r) else f"{r:.2f}"
    return {"r": or_none(r), "said": said, "interval": "" if isnan(low) else f"{low:.2f} to {high:.2f}"}


def _layers(names: Sequence[str], labels: bool) -> list[Spec]:
    bare: Spec = {"title": None, "domain": False, "ticks": False}
    scale = {"domain": list(names)}
    place: Spec = {
        "y": {"field": "row", "type": "nominal", "scale": scale, "axis": bare | {"labels": labels}},
        "x": {"field": "column", "type": "nominal", "scale": scale, "axis": bare | {"labelAngle": -40}},
    }
    # Blue is above 0, orange below, and the shade says how far; 0 itself is blank.
    shade: Spec = {
        "field": "r",
        "type": "quantitative",
        "scale": {"domain": [-1, 0, 1], "range": ["#D55E00", "#F7F7F7", "#0072B2"]},
        "legend": None,
    }
    light = {"condition": {"test": {"field": "r", "gt": 0.7}, "value": "white"}, "value": "#222222"}
    number = place | {"text": {"field": "said"}, "color": light}
    interval = place | {"text": {"field": "interval"}, "color": light}
    return [
        {"mark": {"type": "rect", "stroke": INK, "strokeOpacity": 0.15, "aria": False}, "encoding": place | {"color": shade}},
        {"mark": {"type": "text", "fontSize": 13, "dy": -5}, "encoding": number},
        {"mark": {"type": "text", "fontSize": 8.5, "dy": 11, "aria": False}, "encoding": interval},
    ]  # fmt: skip
