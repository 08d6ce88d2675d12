"""Correlation of models: a heat map of the correlations of their accuracies over suites, with similar models side by side."""

from collections.abc import Mapping, Sequence
from math import isnan, nan

import polars as pl

from syntagm.core import UsageError, counted, shown
from syntagm.evaluation import signless
from syntagm.runs import Run, comparable_pairs, named
from syntagm.stats import FEW, METHODS, correlation
from syntagm.views.drawing import vega
from syntagm.views.drawing.chart import INK, Figure, Spec, finish
from syntagm.views.drawing.text import or_none, short_names
from syntagm.views.drawing.vega import heading, layer
from syntagm.views.estimates import accuracies
from syntagm.views.options import Measure

CELL = 68
_TITLES = {"Pearson": "Pearson's r, of accuracies", "Spearman": "Spearman's rho, of their ranks"}


def draw(table: pl.DataFrame, models: Sequence[str], title: str = "") -> Figure:
    """Draw one panel for each kind of correlation, with the models in the same order in both."""
    ordered = correlation.order(table, models)
    numbers = sorted(set(table["n"]) - {0}) or [0]
    over = counted(numbers[0], "suite") if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]} suites"
    spec: Spec = {"hconcat": [_panel(table, ordered, kind, at == 0) for at, kind in enumerate(METHODS)], "spacing": 24}
    subtitle = [
        f"over {over}; small: 95% interval (Fisher's, or the jackknife's where wider), for other suites",
        "models ordered by similarity (average linkage)",
    ]
    subtitle += ["–: no suite with the same items, or all with one accuracy"] if table["r"].is_nan().any() else []
    few = [f"only {counted(numbers[0], 'suite')}"] if 0 < numbers[0] < FEW else []
    return Figure(finish(spec, title, [*subtitle, *few]), table.select(list(correlation.SCHEMA)))


def draw_figure(runs: Sequence[Run], measure: Measure = "first") -> Figure:
    """Draw the correlations of all pairs of runs, each over the suites that both have.

    Raises:
        UsageError: fewer than two runs, or no two of them have three suites in common.
    """
    if len(runs) < 2:
        raise UsageError("correlation", counted(len(runs), "run"), "at least two")
    values = {
        model: {estimate.group.suite: estimate.value for estimate in accuracies(run, measure)}
        for model, run in named(runs)
    }
    table = of_pairs(values, comparable_pairs(named(runs)))
    if (most := max(table["n"].to_list(), default=0)) < correlation.LEAST:
        found = f"{counted(most, 'suite')} with the measure in two of the runs"
        raise UsageError("correlation", found, f"at least {correlation.LEAST}")
    return draw(table, list(values), "Correlation of accuracies")


def of_pairs(values: Mapping[str, Mapping[str, float]], shared: Mapping[tuple[str, str], list[str]]) -> pl.DataFrame:
    """Correlate pairs of runs over their shared suites (`comparable_pairs`); values: name -> suite -> number."""
    pairs = [
        ({name: values[a][name] for name in suites if name in values[a]}, a, b) for (a, b), suites in shared.items()
    ]
    return pl.concat(
        [correlation.correlations({}), *(correlation.correlations({a: own, b: values[b]}) for own, a, b in pairs)]
    )


def _panel(table: pl.DataFrame, ordered: Sequence[str], kind: str, labels: bool) -> Spec:
    short = short_names(ordered)
    names = [shown(short[name]) for name in ordered]
    correlations = {frozenset((a, b)): numbers for a, b, of, *numbers in table.iter_rows() if of == kind}
    values = [
        {"row": names[i], "column": names[j], **_value(*correlations.get(frozenset((a, b)), [1.0, nan, nan])[:3])}
        for i, a in enumerate(ordered)
        for j, b in enumerate(ordered)
    ]
    side = CELL * len(names)
    return {
        "title": heading(_TITLES[kind]),
        "width": side,
        "height": side,
        "data": {"values": values},
        "layer": _layers(names, labels),
    }


def _value(r: float, low: float, high: float) -> dict[str, object]:
    text, *ends = ("–" if isnan(number) else signless(number, ".2f").replace("-", "−") for number in (r, low, high))
    return {"r": or_none(r), "said": text, "interval": "" if isnan(low) else " to ".join(ends)}


def _layers(names: Sequence[str], labels: bool) -> list[Spec]:
    place: Spec = {"y": vega.names("row", names, labels=labels), "x": vega.names("column", names, labelAngle=-40)}
    # Blue is above 0, orange below; the shade shows the size, and 0 is almost white.
    shade: Spec = {
        "field": "r",
        "type": "quantitative",
        "scale": {"domain": [-1, 0, 1], "range": ["#D55E00", "#F7F7F7", "#0072B2"]},
        "legend": None,
    }
    light = {"condition": {"test": {"field": "r", "gt": 0.7}, "value": "white"}, "value": "#222222"}
    number = place | {"text": {"field": "said"}, "color": light}
    interval = place | {"text": {"field": "interval"}, "color": light}
    rectangle = {"type": "rect", "stroke": INK, "strokeOpacity": 0.15, "aria": False}
    return [
        layer(rectangle, place | {"color": shade}),
        layer({"type": "text", "fontSize": 13, "dy": -5}, number),
        layer({"type": "text", "fontSize": 8.5, "dy": 11, "aria": False}, interval),
    ]
