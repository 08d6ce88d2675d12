"""The figure of accuracy by word frequency: a panel for each suite, and a dot with an interval for each word.

A suite without any word of known frequency has a dot plot with one row for each word instead.
"""

import textwrap
from collections.abc import Sequence
from math import isnan, log10
from typing import Any

import polars as pl

from syntagm.core import UsageError, shown
from syntagm.runs import Run
from syntagm.views.clustered import By
from syntagm.views.drawing import axes, dots, layers, panels
from syntagm.views.drawing.chart import Figure, Spec, finish
from syntagm.views.drawing.layers import layer
from syntagm.views.drawing.points import point
from syntagm.views.drawing.series import Series
from syntagm.views.drawing.text import distinct
from syntagm.views.lexical.numbers import Suites, Text, WordList, Words, correlation_text, of_words
from syntagm.views.options import Measure
from syntagm.views.quantity import spoken_by
from syntagm.views.scores.shared import shared_kind

SCHEMA = {
    "model": pl.String, "suite": pl.String, "word": pl.String, "frequency": pl.Float64, "value": pl.Float64,
    "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "ties": pl.Int64, "undefined": pl.Int64, "method": pl.String,
}  # fmt: skip
WIDTH, HEIGHT, COLUMNS = 250, 170, 3
# The number of characters that fit in a line above a panel, and the most words without a frequency that are named
# there.
_LINE, _NAMED = 44, 4
# The height of a label, and its distance from its dot, in pixels.
_LETTERS, _BESIDE = 12, 7
# Half the width of a dot, and the width over which the dots of several models at one frequency are moved apart.
_DOT, _SPREAD = 5, 24


def draw_figure(
    runs: Sequence[Run],
    by: By = "lemma",
    suite: Suites = (),
    measure: Measure = "first",
    words: WordList = "verbs",
    unigrams: Text = "",
) -> Figure:
    """Draw the words of runs by their frequency.

    Raises:
        UsageError: the values of the measure are not from 0 to 1.
    """
    if not (kind := shared_kind(runs, measure)).bounded:
        found = f"{measure}, whose values are {kind.described}"
        raise UsageError("figure lexical", found, "verdicts or shares", "The table `lexical` shows their means.")
    return draw(of_words(runs, by, suite, measure, words, unigrams), f"Accuracy by {spoken_by(by)}")


def draw(tables: Sequence[Words], title: str = "") -> Figure:
    """Draw words by frequency; words of unknown frequency are named above their panel."""
    rows = [
        (words.model, words.suite, word, words.frequencies.get(word), estimate.value, estimate.low, estimate.high,
         estimate.n, estimate.ties, estimate.undefined, estimate.method)
        for words in tables for word, estimate in words.accuracies.items()
    ]  # fmt: skip
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    models = distinct(table["model"])
    counts = table["frequency"].drop_nulls().to_list()
    suites = list(dict.fromkeys(words.suite for words in tables))
    plots = [
        _panel(name, [words for words in tables if words.suite == name], models, counts, at)
        for at, name in enumerate(suites)
    ]
    subtitle = [
        "bar: 95% interval for other items of a word; Spearman: rank correlation of accuracy and frequency, n words",
        f"frequency {tables[0].about if tables else ''}{'; dots of models side by side' if len(models) > 1 else ''}",
    ]
    spec = panels.grid(plots, min(COLUMNS, max(1, len(plots))), 26)
    return Figure(finish(spec, title, subtitle, offset=14), table)


def _panel(suite: str, tables: Sequence[Words], models: dict[str, str], counts: Sequence[float], at: int) -> Spec:
    names = list(models.values())
    series = Series("model", names, WIDTH * 2, at == 0 and len(names) > 1)
    values = [value for words in tables for value in _points(words, models[words.model])]
    lines = [line for words in tables for line in _lines(words, models[words.model] if len(names) > 1 else "")]
    title = panels.heading(suite, lines, anchor="start")
    if not values:
        return _rows(tables, models) | {"title": title}
    _place(values, names, _domain(counts))
    plot_layers = _layers(_across(counts), series)
    return {"title": title, "width": WIDTH, "height": HEIGHT, "data": {"values": values}, "layer": plot_layers}


def _points(words: Words, model: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for word, estimate in words.accuracies.items():
        if word in words.frequencies and not isnan(estimate.value):
            text = f"{word}, {model}: {estimate.value:.3f}, n={estimate.n}, frequency {words.frequencies[word]:,.0f}"
            row = {
                "model": model, "word": word, "frequency": words.frequencies[word], "value": estimate.value,
                "low": estimate.low, "high": estimate.high, "method": estimate.method,
            }  # fmt: skip
            rows.append(point(row, text, "model", "word", "frequency"))
    return rows


def _lines(words: Words, model: str) -> list[str]:
    """Return the lines above a panel: the correlation, and the words without a frequency."""
    lines = [shown(f"{model}: " if model else "") + f"Spearman {correlation_text(words)}"]
    absent = [word for word in words.accuracies if word not in words.frequencies]
    if absent and words.frequencies:
        numbers = [f"{shown(word)} {words.accuracies[word].value:.2f}" for word in absent[:_NAMED]]
        rest = f" and {len(absent) - _NAMED} more" if len(absent) > _NAMED else ""
        lines.append(f"frequency unknown: {', '.join(numbers)}{rest}")
    return [line for text in lines for line in textwrap.wrap(text, _LINE)]


def _rows(tables: Sequence[Words], models: dict[str, str]) -> Spec:
    rows = [
        {"name": word, "series": models[words.model], "value": estimate.value, "low": estimate.low, "high": estimate.high,
         "n": estimate.n, "method": estimate.method, "note": f"n={estimate.n}"}
        for words in tables for word, estimate in words.accuracies.items()
    ]  # fmt: skip
    described: list[dict[str, object]] = [row | {"said": dots.describe(row)} for row in rows]
    return dots.panel(described, axes.proportion("accuracy"), series=list(models.values()), width=WIDTH)


def _place(values: list[dict[str, Any]], models: Sequence[str], domain: tuple[float, float]) -> None:
    """Move dots of several models apart, and add the height of its label to each row, in units of accuracy."""
    # A label is close to its dot, but not over other labels or dots. A word is labelled once, at its highest dot.
    scale = WIDTH / log10(domain[1] / domain[0])
    step = min(2.0 * _DOT, _SPREAD / max(len(models) - 1, 1))
    taken: list[tuple[float, float, float]] = []
    for value in values:
        value["frequency"] *= 10 ** ((models.index(value["model"]) - (len(models) - 1) / 2) * step / scale)
        across = log10(value["frequency"] / domain[0]) * scale
        taken.append((across - _DOT, across + _DOT, value["value"] * HEIGHT))
    highest = {value["word"]: value for value in sorted(values, key=lambda value: value["value"])}
    for value in sorted(highest.values(), key=lambda value: value["value"], reverse=True):
        across = log10(value["frequency"] / domain[0]) * scale
        ends = across + _BESIDE, across + _BESIDE + 2 + 6 * len(str(value["word"]))
        upright = value["value"] * HEIGHT
        heights = [upright + 4 + step * _LETTERS * sign for step in range(len(taken)) for sign in (1, -1)]
        heights = [at for at in heights if 4 <= at <= HEIGHT + 5]
        free = [at for at in heights if not any(left < ends[1] and ends[0] < right and abs(at - other) < _LETTERS
                                                for left, right, other in taken)]  # fmt: skip
        taken.append((*ends, free[0] if free else upright))
        value["at"] = taken[-1][2] / HEIGHT
        # A label that is not beside its dot could be taken for a value: a line joins the two.
        if abs(taken[-1][2] - upright) > _LETTERS:
            value["joined"] = value["frequency"] * 10 ** (_BESIDE / scale)


def _domain(counts: Sequence[float]) -> tuple[float, float]:
    return (min(counts) / 2, max(counts) * 6) if counts else (1.0, 10.0)


def _across(counts: Sequence[float]) -> Spec:
    low, high = _domain(counts)
    powers = range(int(log10(low)), int(log10(high)) + 1)
    ticks = [10**power for power in powers if low <= 10**power <= high]
    return axes.logarithmic("frequency", "frequency (logarithmic)", (low, high), ticks, format="~s", grid=False)


def _layers(across: Spec, models: Series) -> list[Spec]:
    upright = axes.proportion("accuracy")
    place: Spec = {"x": across, "y": upright}
    interval = {"x": across, **axes.spread(upright), "color": models.colour}
    dot = place | {"color": models.colour, "shape": models.shape, "description": {"field": "said"}}
    label = layers.label(10, opacity=0.75, aria=False, dx=_BESIDE, baseline="middle")
    return [
        layer(layers.rule(strokeWidth=1.4, opacity=0.5), interval, layers.defined("low")),
        layer(layers.dot(55, 0.95), dot),
        layer(
            layers.rule(strokeWidth=0.7, opacity=0.35),
            {"x": across, "y": upright, "x2": {"field": "joined"}, "y2": {"field": "at"}},
            layers.defined("joined"),
        ),
        layer(label, {"x": across, "y": axes.of(upright, "at"), "text": {"field": "word"}}, layers.defined("at")),
    ]
