"""Accuracy by phenomenon: a row for each phenomenon, a dot with interval for each model, a tick for people (`humans=`).

`syntagm reproduce warstadt2020` draws it with the human accuracies of the paper.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import isnan, nan
from pathlib import Path
from typing import Annotated

import polars as pl

from syntagm.display import shown
from syntagm.drawing import axes, dots
from syntagm.drawing.chart import INK, Figure, Spec, finish
from syntagm.drawing.layers import layer
from syntagm.drawing.text import lines, only, remarks_on
from syntagm.errors import InputError, UsageError
from syntagm.io import csv, utf8
from syntagm.io.number import counted
from syntagm.result import Estimate, Group, Kind
from syntagm.runs.several import named
from syntagm.runs.store import Run
from syntagm.settings import Reader
from syntagm.views.options import Measure, Tag
from syntagm.views.scores.numbers import scores
from syntagm.views.scores.shared import shared_kind

SCHEMA = {
    "phenomenon": pl.String, "model": pl.String, "paradigms": pl.Int64, "value": pl.Float64, "low": pl.Float64,
    "high": pl.Float64, "n": pl.Int64, "ties": pl.Int64, "undefined": pl.Int64, "humans": pl.Float64,
    "method": pl.String,
}  # fmt: skip
WIDTH = 440


def accuracies(path: str) -> Mapping[str, float]:
    """Read human accuracies, between 0 and 1.

    Raises:
        InputError: the file can't be read, a column is missing, or a value is not an accuracy.
    """
    rows = csv.records(utf8.read(Path(path)), Path(path), ("phenomenon", "accuracy"))
    return {row["phenomenon"]: _accuracy(row["accuracy"], f"{path}, line {line}") for line, row in rows}


def _accuracy(text: str, place: str) -> float:
    with suppress(ValueError):
        if 0 <= (value := float(text)) <= 1:
            return value
    raise InputError(f"{place}, accuracy", repr(text), "a number from 0 to 1")


def draw(
    estimates: Sequence[Estimate],
    paradigms: Mapping[str, int],
    humans: Mapping[str, float] | None = None,
    title: str = "",
    chance: float = 0.5,
    remark: str = "",
    ticks: str = "human accuracy on the published pairs",
    kind: Kind = Kind.VERDICT,
) -> Figure:
    """Draw phenomena and models in the order of first appearance.

    Arguments:
        estimates: one estimate for each phenomenon and model, with both in its group.
        paradigms: phenomenon -> number of suites over which its accuracy is averaged.
        humans: phenomenon -> human accuracy.
        chance: the position of the dashed line; nan for no line.
        remark: text at the end of the subtitle.
        ticks: what the ticks of `humans` show.
        kind: the kind of the values whose means are drawn.
    """
    humans = humans or {}
    rows = [_row(estimate, paradigms, humans) for estimate in estimates]
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    series = list(dict.fromkeys(table["model"]))
    labels = {name: _label(name, paradigms, table) for name in dict.fromkeys(table["phenomenon"])}
    values = [
        {**row, "name": labels[row["phenomenon"]], "series": row["model"], "note": "", "said": _describe(row)}
        for row in table.iter_rows(named=True)
    ]
    judged = kind is Kind.VERDICT
    axis = axes.mean(kind, "accuracy: proportion of pairs whose good sentence is more probable" if judged else "mean")
    spec = dots.panel(values, axis, "", chance, series, WIDTH, key=len(series) > 1)
    spec["layer"].append(_human_ticks({labels[name]: value for name, value in humans.items() if name in labels}, axis))
    tied = ["ties count as wrong"] if table["ties"].sum() else []
    subtitle = [_subtitle(ticks if humans else "", chance, remark), *only(series), *tied, *lines(remarks_on(estimates))]
    return Figure(finish(spec, title, subtitle), table)


def draw_figure(
    runs: Sequence[Run],
    tag: Tag = "linguistics_term",
    measure: Measure = "first",
    humans: Annotated[
        Mapping[str, float] | None,
        Reader("a CSV file of human accuracies, with the columns phenomenon,accuracy", accuracies),
    ] = None,
) -> Figure:
    """Draw accuracies by phenomenon (BLiMP's `linguistics_term`), or by another tag of the suites.

    Raises:
        UsageError: no suite has both the tag and the measure, or `humans` has none of the phenomena.
    """
    estimates: list[Estimate] = []
    counts: dict[str, int] = {}
    for name, run in named(runs):
        estimates += [
            replace(estimate, group=Group(name, labels=(("phenomenon", estimate.group[tag]),)))
            for estimate in scores(run, measure, tag)
        ]
        for value in dict.fromkeys(suite.group(tag) for suite in run.suites):
            suites = sum(suite.group(tag) == value and bool(suite.predictions_for(measure)) for suite in run.suites)
            counts[value] = max(suites, counts.get(value, 0))
    if not estimates:
        raise UsageError(
            "tag", f"{tag!r}, which no suite with the measure {measure} has", "a tag of one of these suites"
        )
    if humans and not humans.keys() & counts.keys():
        raise UsageError("humans=", ", ".join(humans), "phenomena among " + ", ".join(filter(None, counts)))
    kind = shared_kind(runs, measure)
    judged = kind is Kind.VERDICT
    title = f"{'Accuracy' if judged else measure} by {tag.replace('_', ' ')}"
    chance = 0.5 if judged else nan
    return draw(estimates, counts, humans, title, chance, ticks="human accuracy", kind=kind)


def _row(estimate: Estimate, paradigms: Mapping[str, int], humans: Mapping[str, float]) -> tuple[object, ...]:
    name = estimate.group["phenomenon"]
    numbers = estimate.value, estimate.low, estimate.high, estimate.n, estimate.ties, estimate.undefined
    return name, estimate.group.model, paradigms.get(name, 0), *numbers, humans.get(name, nan), estimate.method


def _label(name: str, paradigms: Mapping[str, int], table: pl.DataFrame) -> str:
    """Return the name with the numbers of suites and items. If models differ in the number of items, the largest is used."""
    count = paradigms.get(name, 0)
    most = max(table.filter(pl.col("phenomenon") == name)["n"])
    title = re.sub(r"\bnpi\b", "NPI", name.replace("_", " "))
    return f"{title} ({counted(count, 'suite')}, n = {most:,})"


def _describe(row: Mapping[str, object]) -> str:
    return dots.describe({**row, "name": row["phenomenon"], "series": row["model"]})


def _human_ticks(humans: Mapping[str, float], axis: Spec) -> Spec:
    values = [{"name": shown(name), "at": value} for name, value in humans.items() if not isnan(value)]
    mark = {"type": "tick", "color": INK, "thickness": 2.5, "bandSize": 17, "opacity": 0.85, "aria": False}
    return layer(mark, {"y": {"field": "name", "type": "nominal"}, "x": axes.of(axis, "at")}, values=values)


def _subtitle(ticks: str, chance: float, remark: str) -> str:
    parts = ["mean over suites with its 95% interval"]
    parts += ["dashed: chance"] if not isnan(chance) else []
    parts += [f"black tick: {ticks}"] if ticks else []
    parts += [remark] if remark else []
    return "; ".join(parts)
