"""Scores: the accuracy of each model on each suite as a dot with its interval, and chance as a tick where it is known.

Of a measure whose values are shares (`equal_weight`, `model_weight` of a fill run): its mean.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Any

import polars as pl

from syntagm.drawing.chart import Figure, Spec, colours, distinct, finish, legend, shapes
from syntagm.result import Estimate, Group, Kind
from syntagm.runs.several import named, titles
from syntagm.runs.store import Run
from syntagm.stats import score
from syntagm.stats.paired import kind_of
from syntagm.views.scores import compute as of_run

SCHEMA = {
    "model": pl.String,
    "suite": pl.String,
    "measure": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "ties": pl.Int64,
    "undefined": pl.Int64,
    "chance": pl.Float64,
    "method": pl.String,
}
WIDTH = 480
# With more suites than this the scale stands above them, where the eye begins.
MANY = 25


def draw_figure(runs: Sequence[Run], measure: str = "first") -> Figure:
    """The figure of all suites of some runs.

    Arguments:
        measure: a prediction's name, `first` of each suite, or `all` (whether all predictions hold).
    """
    called = titles(runs)
    found, chance = [], {}
    for model, run in named(runs):
        for one in of_run.accuracies(run, measure):
            record = run.suite(one.group.suite)
            title = called[record.name, record.hash]
            found.append(replace(one, group=Group(model, title, measure)))
            chance[title] = of_run.chance_of_suite(record, measure).value
    if all(_judged(run, measure) for run in runs):
        return draw(found, chance, "Accuracy by suite")
    return draw(found, chance, f"{measure} by suite", of_shares=f"mean {measure}")


def _judged(run: Run, measure: str) -> bool:
    results = score.verdicts(run.results(), of_run.predictions(run, measure), measure)
    return kind_of(results["value"], results["margin"]) is Kind.VERDICT


def draw(
    estimates: Sequence[Estimate], chance: Mapping[str, float] | None = None, title: str = "", of_shares: str = ""
) -> Figure:
    """The figure of some models on some suites, a row a suite, in the order given.

    Arguments:
        estimates: one a model and suite; groups name both, and perhaps the measure. Without a value: no dot.
        chance: suite -> what independent draws would score; nan or absent where it is not known.
        of_shares: what the values are, if no proportions of items whose prediction holds.
    """
    rows = [_row(one, (chance or {}).get(one.group.suite, nan)) for one in estimates]
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    models, suites = distinct(table["model"]), distinct(table["suite"])
    values = [_value(row, models[row["model"]], suites[row["suite"]]) for row in table.iter_rows(named=True)]
    step = max(16, 9 * len(models) + 6)
    spec = {
        "width": WIDTH,
        "height": step * len(suites),
        "data": {"values": values},
        "layer": _layers(list(models.values()), list(suites.values()), of_shares or "accuracy"),
    }
    known = any(value["chance"] is not None for value in values)
    meant = f"{of_shares} over contexts" if of_shares else "proportion of items whose prediction holds"
    below = f"{meant}, 95% interval" + ("; grey tick: chance" if known else "")
    return Figure(finish(spec, title, below), table)


def _row(one: Estimate, chance: float) -> tuple[object, ...]:
    names = (one.group.model, one.group.suite, one.group.measure)
    return *names, one.value, one.low, one.high, one.n, one.ties, one.undefined, chance, one.method


def _value(row: dict[str, Any], model: str, suite: str) -> dict[str, Any]:
    numbers = {key: row[key] if row[key] == row[key] else None for key in ("value", "low", "high", "chance")}
    said = "undefined" if numbers["value"] is None else f"{row['value']:.3f}"
    said += "" if numbers["low"] is None else f" [{row['low']:.3f}, {row['high']:.3f}]"
    return {"model": model, "suite": suite, **numbers, "said": f"{model}, {suite}: {said}, n={row['n']}"}


def _layers(models: list[str], suites: list[str], measured: str) -> list[Spec]:
    place: Spec = {
        "y": {
            "field": "suite",
            "type": "nominal",
            "scale": {"domain": suites},
            "axis": {"title": None, "domain": False, "ticks": False, "offset": 6},
        }
    }
    axis = {"format": ".1f", "values": [0, 0.2, 0.4, 0.6, 0.8, 1], "orient": "top" if len(suites) > MANY else "bottom"}
    accuracy: Spec = {
        "field": "value",
        "type": "quantitative",
        "title": measured,
        "scale": {"domain": [0, 1]},
        "axis": axis,
    }
    beside = place | {"yOffset": {"field": "model", "type": "nominal", "scale": {"domain": models}}}
    key = legend(models, WIDTH) if len(models) > 1 else None
    colour: Spec = {"field": "model", "type": "nominal", "scale": colours(models), "legend": key}
    shape: Spec = {"field": "model", "type": "nominal", "scale": shapes(models), "legend": key}

    def layer(kind: str, mark: Spec, encoding: Spec, needs: str) -> Spec:
        return {
            "transform": [{"filter": {"field": needs, "valid": True}}],
            "mark": {"type": kind, **mark},
            "encoding": encoding,
        }

    chance = place | {"x": accuracy | {"field": "chance"}}
    interval = beside | {"x": accuracy | {"field": "low"}, "x2": {"field": "high"}, "color": colour}
    dot = beside | {"x": accuracy, "color": colour, "shape": shape, "description": {"field": "said"}}
    return [
        layer("tick", {"color": "#808080", "thickness": 2, "aria": False}, chance, "chance"),
        layer("rule", {"strokeWidth": 1.6, "aria": False}, interval, "low"),
        layer("point", {"filled": True, "size": 50, "opacity": 1}, dot, "value"),
    ]
