"""Accuracy by phenomenon: a row for each phenomenon, a dot with interval for each model, a tick for people (`humans=`).

`syntagm reproduce warstadt2020` draws it with the human accuracies of the paper.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Annotated

import polars as pl

from syntagm.core import InputError, Reader, UsageError, counted, csv, utf8
from syntagm.evaluation import Estimate, Group, Kind
from syntagm.runs import Run
from syntagm.views.drawing import dots, vega
from syntagm.views.drawing.chart import GREY, INK, Figure, finish
from syntagm.views.drawing.text import lines, only, readable, remarks_on
from syntagm.views.estimates import chance_of, of_models, shared_kind
from syntagm.views.options import Measure, Tag

SCHEMA = {
    "phenomenon": pl.String, "model": pl.String, "paradigms": pl.Int64, "value": pl.Float64, "low": pl.Float64,
    "high": pl.Float64, "n": pl.Int64, "ties": pl.Int64, "undefined": pl.Int64, "humans": pl.Float64,
    "chance": pl.Float64, "method": pl.String,
}  # fmt: skip
WIDTH = 440


def accuracies(path: str) -> Mapping[str, float]:
    """Read human accuracies, between 0 and 1."""
    rows = csv.records(utf8.read(Path(path)), Path(path), ("phenomenon", "accuracy"))
    return {row["phenomenon"]: _accuracy(row["accuracy"], f"{path}, line {line}") for line, row in rows}


def _accuracy(text: str, place: str) -> float:
    with suppress(ValueError):
        if 0 <= (value := float(text)) <= 1:
            return value
    raise InputError(f"{place}, accuracy", repr(text), "a number from 0 to 1")


def draw(
    estimates: Sequence[Estimate],
    humans: Mapping[tuple[str, str], float] | None = None,
    title: str = "",
    chance: Mapping[tuple[str, str], float] | float = 0.5,
    remark: str = "",
    ticks: str = "human accuracy on the published pairs of the same paradigms",
    kind: Kind = Kind.VERDICT,
) -> Figure:
    """Draw phenomena and models in the order of first appearance."""
    # Counts and human accuracies stand in the row of each model; a count that all models of a phenomenon share, beside
    # its name.
    humans = humans or {}
    rows = []
    for each in estimates:
        key = each.group.model, each.group["phenomenon"]
        level = chance if isinstance(chance, float) else chance[key]
        rows.append(
            (*key[::-1], each.group.count("paradigms"), *each.numbers, humans.get(key, nan), level, each.method)
        )
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    series = list(dict.fromkeys(table["model"]))
    points = [
        {**row, "name": readable(row["phenomenon"]), "series": row["model"]} for row in table.iter_rows(named=True)
    ]
    values = dots.with_counts(
        [{**row, "said": dots.describe(row)} for row in points],
        lambda row: [counted(row["paradigms"], "suite"), f"n = {row['n']:,}"],
    )
    judged = kind is Kind.VERDICT
    axis = vega.mean(kind, "accuracy: proportion of items whose prediction holds" if judged else "mean")
    levels = set(table["chance"].fill_nan(None).round(9))
    level = table["chance"][0] if len(levels) == 1 else nan
    marks = ({"humans": INK} if humans else {}) | ({"chance": GREY} if len(levels) > 1 else {})
    spec = dots.panel(values, axis, "", level, series, WIDTH, key=len(series) > 1, ticks=marks)
    tied = ["ties count as wrong"] if table["ties"].sum() else []
    dashed = "" if levels <= {None} else "dashed: chance" if len(levels) == 1 else "grey tick: chance"
    shown = ["mean over suites with its 95% interval", dashed, f"black tick: {ticks}" if humans else "", remark]
    subtitle = ["; ".join(filter(None, shown)), *only(series), *tied, *lines(remarks_on(estimates))]
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
    chance: dict[tuple[str, str], float] = {}
    for run, estimate in of_models(runs, measure, tag):
        name, value = estimate.group.model, estimate.group[tag]
        suites = sum(suite.group(tag) == value and bool(suite.predictions_for(measure)) for suite in run.suites)
        group = Group(name, labels=(("phenomenon", value),), counts=(("paradigms", suites),))
        estimates.append(replace(estimate, group=group))
        chance[name, value] = chance_of(run, estimate).value
    if not estimates:
        raise UsageError(
            "tag", f"{tag!r}, which no suite with the measure {measure} has", "a tag of one of these suites"
        )
    phenomena = dict.fromkeys(value for _, value in chance)
    if humans and not humans.keys() & phenomena.keys():
        raise UsageError("humans=", ", ".join(humans), "phenomena among " + ", ".join(phenomena))
    kind = shared_kind(runs, measure)
    title = f"{'Accuracy' if kind is Kind.VERDICT else measure} by {tag.replace('_', ' ')}"
    given = {key: humans[key[1]] for key in chance if key[1] in humans} if humans else {}
    return draw(estimates, given, title, chance, ticks="human accuracy as given, for any suites", kind=kind)
