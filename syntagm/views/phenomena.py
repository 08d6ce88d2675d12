"""Accuracy by phenomenon: a row a phenomenon, a dot a model with its interval, what people score as a tick."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan, nan
from typing import Annotated

import polars as pl

from syntagm.drawing import axes, dots
from syntagm.drawing.chart import INK, Figure, Spec, finish
from syntagm.drawing.layers import layer
from syntagm.drawing.text import counted, only, shown
from syntagm.errors import UsageError
from syntagm.result import Estimate, Group
from syntagm.runs.several import named, tags
from syntagm.runs.store import Run
from syntagm.views.scores.numbers import scores

SCHEMA = {
    "phenomenon": pl.String, "model": pl.String, "paradigms": pl.Int64, "value": pl.Float64, "low": pl.Float64,
    "high": pl.Float64, "n": pl.Int64, "ties": pl.Int64, "undefined": pl.Int64, "humans": pl.Float64,
    "method": pl.String,
}  # fmt: skip
WIDTH = 440


def draw(
    found: Sequence[Estimate],
    paradigms: Mapping[str, int],
    humans: Mapping[str, float] | None = None,
    title: str = "",
    chance: float = 0.5,
    remark: str = "",
) -> Figure:
    """Draw phenomena and models in the order of first appearance.

    Arguments:
        found: one a phenomenon and model; groups name both.
        paradigms: phenomenon -> over how many suites its accuracy is a mean.
        humans: phenomenon -> what people score.
        chance: where the dashed line stands; nan: nowhere.
        remark: the end of the subtitle.
    """
    humans = humans or {}
    rows = [_row(one, paradigms, humans) for one in found]
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    series = list(dict.fromkeys(table["model"]))
    labels = {name: _label(name, paradigms, table) for name in dict.fromkeys(table["phenomenon"])}
    values = [
        {**row, "name": labels[row["phenomenon"]], "series": row["model"], "note": "", "said": _said(row)}
        for row in table.iter_rows(named=True)
    ]
    axis = axes.proportion("accuracy: share of pairs whose good sentence is likelier")
    spec = dots.panel(values, axis, "", chance, series, WIDTH, key=len(series) > 1)
    spec["layer"].append(_people({labels[name]: value for name, value in humans.items() if name in labels}, axis))
    tied = ["ties count as wrong"] if table["ties"].sum() else []
    subtitle = [_subtitle(humans, chance, remark), *only(series), *tied]
    return Figure(finish(spec, title, subtitle), table)


def draw_figure(
    runs: Sequence[Run],
    tag: Annotated[str, "a tag of the suites"] = "linguistics_term",
    measure: Annotated[str, "a prediction's name"] = "full_sentence",
) -> Figure:
    """Draw the accuracies of some runs by phenomenon as BLiMP calls it, or by another tag of the suites.

    Raises:
        UsageError: no suite has both the tag and the measure.
    """
    found: list[Estimate] = []
    counts: dict[str, int] = {}
    for name, run in named(runs):
        found += [
            replace(one, group=Group(name, labels=(("phenomenon", one.group[tag]),)))
            for one in scores(run, measure, tag)
        ]
        for value in {suite.tags[tag] for suite in run.suites if tag in suite.tags}:
            held = sum(suite.tags.get(tag) == value and measure in suite.predictions for suite in run.suites)
            counts[value] = max(held, counts.get(value, 0))
    if not found:
        known = sorted(tags(runs))
        expected = "one of " + ", ".join(known) if known else "suites with tags"
        raise UsageError("tag", f"{tag!r} in no suite with the measure {measure}", expected)
    return draw(found, counts, title=f"Accuracy by {tag.replace('_', ' ')}")


def _row(one: Estimate, paradigms: Mapping[str, int], humans: Mapping[str, float]) -> tuple[object, ...]:
    name = one.group["phenomenon"]
    numbers = one.value, one.low, one.high, one.n, one.ties, one.undefined
    return name, one.group.model, paradigms.get(name, 0), *numbers, humans.get(name, nan), one.method


def _label(name: str, paradigms: Mapping[str, int], table: pl.DataFrame) -> str:
    """The name, and what its numbers rest on; of models with other counts, the largest."""
    count = paradigms.get(name, 0)
    most = max(table.filter(pl.col("phenomenon") == name)["n"])
    said = re.sub(r"\bnpi\b", "NPI", name.replace("_", " "))
    return f"{said} ({counted(count, 'suite')}, n = {most:,})"


def _said(row: Mapping[str, object]) -> str:
    return dots.said({**row, "name": row["phenomenon"], "series": row["model"]})


def _people(humans: Mapping[str, float], axis: Spec) -> Spec:
    values = [{"name": shown(name), "at": value} for name, value in humans.items() if not isnan(value)]
    mark = {"type": "tick", "color": INK, "thickness": 2.5, "bandSize": 17, "opacity": 0.85, "aria": False}
    return layer(mark, {"y": {"field": "name", "type": "nominal"}, "x": axes.of(axis, "at")}, values=values)


def _subtitle(humans: Mapping[str, float], chance: float, remark: str) -> str:
    said = ["mean of suites, 95% interval: items drawn anew within suites"]
    said += ["dashed: chance"] if not isnan(chance) else []
    said += ["black tick: people, on the published pairs"] if humans else []
    said += [remark] if remark else []
    return "; ".join(said)
