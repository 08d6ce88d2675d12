"""Lexical: accuracy by lexical item, such as the tested verb, with its frequency."""

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, log10
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl

from syntagm.core import UsageError, shown
from syntagm.evaluation import Estimate, Kind
from syntagm.runs import Run, named, ties_of
from syntagm.stats import Association, association, in_words, score
from syntagm.suites import read_word_list
from syntagm.views import quantity
from syntagm.views.clustered import By
from syntagm.views.drawing import dots, vega
from syntagm.views.drawing.chart import Figure, Spec, finish
from syntagm.views.drawing.table import Table, cells
from syntagm.views.drawing.text import distinct
from syntagm.views.drawing.vega import Series, layer, point
from syntagm.views.estimates import shared_kind
from syntagm.views.normalised import read_unigrams
from syntagm.views.options import Measure
from syntagm.views.quantity import spoken_by

FREQUENCY = "frequency"


@dataclass(frozen=True, slots=True)
class Frequencies:
    of: Callable[[str], float | None]  # label -> frequency; None if unknown
    about: str  # the source of the numbers


def frequencies(run: Run, words: str, unigrams: str) -> Frequencies:
    if unigrams:
        counts = read_unigrams(unigrams, run, "treebank", "lower").counts
        if counts is None:
            raise UsageError("unigrams=", unigrams, "a text file whose words can be counted")
        return Frequencies(
            lambda label: counts.get(label.lower()) or None, f"counted in {Path(unigrams).name}, in lower case"
        )
    return _of_list(words)


def _of_list(name: str) -> Frequencies:
    words = read_word_list(name)
    lemmas: dict[str, float] = {}
    forms: dict[str, set[float]] = {}
    for row in words.rows:
        text = row.tags.get(FREQUENCY, "")
        try:
            count = float(text)
        except ValueError:
            continue
        lemmas.setdefault(row.lemma, count)
        for form in row.forms:
            forms.setdefault(form, set()).add(count)
    if not lemmas:
        raise UsageError("words=", f"{name}, which has no column {FREQUENCY}", "a word list with frequencies")

    def of(label: str) -> float | None:
        of_form = forms.get(label, set())
        return lemmas.get(label) or (next(iter(of_form)) if len(of_form) == 1 else None) or None

    return Frequencies(of, f"of the lemma, word list {name}")


# The correlation is Spearman's, so it is the same for frequency and for log frequency. Its n is the number of words
# with a known frequency, not of items: with the seven verbs of a suite, only a nearly perfect correlation is
# significant. Words of unknown frequency are excluded and counted.

LEAST = 3
Suites = Annotated[tuple[str, ...], "names of suites, separated by commas; default: all suites with the tag"]
WordList = Annotated[str, "a word list with frequencies"]
Text = Annotated[str, "a text to count words in, instead of a word list"]


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one suite under one model."""

    model: str
    suite: str
    accuracies: dict[str, Estimate]  # word -> accuracy
    frequencies: dict[str, float]  # word -> frequency, if known
    # Spearman's correlation of accuracy and frequency; None with fewer than three words.
    association: Association | None
    missing: list[str]  # the words excluded from the correlation
    about: str  # the source of the frequencies


def of_words(
    runs: Sequence[Run], by: str, suite: Sequence[str], measure: str, words: str, unigrams: str
) -> list[Words]:
    items = quantity.tagged(runs, by, measure, [name for name in suite if name], most=1)
    counts = {model: frequencies(run, words, unigrams) for model, run in named(runs)}
    tables = []
    for (model, name), rows in items.groups("model", "suite"):
        accuracies = by_label(rows, items.kind, name)
        known = {word: count for word in accuracies if (count := counts[model].of(word)) is not None}
        association, missing = with_frequency(accuracies, known)
        tables.append(Words(model, name, accuracies, known, association, missing, counts[model].about))
    return tables


def by_label(rows: pl.DataFrame, kind: Kind, suite: str) -> dict[str, Estimate]:
    """Compute the accuracy for each label, in alphabetical order."""
    ordered = rows.sort("tag1", maintain_order=True).with_columns(suite=pl.lit(f"{suite}/") + pl.col("tag1"))
    labels = ordered["tag1"].unique(maintain_order=True).to_list()
    return dict(zip(labels, score.accuracy(ordered, lambda _: kind, rows["tolerance"][0]), strict=True))


def with_frequency(
    accuracies: Mapping[str, Estimate], frequencies: Mapping[str, float]
) -> tuple[Association | None, list[str]]:
    """Correlate accuracy with frequency over labels (Spearman).

    Returns:
        The correlation, or None if fewer than three labels remain; and the labels that are excluded because their
        frequency is unknown or their accuracy is undefined.

    >>> from syntagm.evaluation import Group
    >>> scores = {"be": 0.9, "swim": 0.5, "smile": 0.6, "x": 1}
    >>> accuracies = {name: Estimate(Group(), value, 0, 1, 9, "") for name, value in scores.items()}
    >>> correlation, missing = with_frequency(accuracies, {"be": 9000, "swim": 30, "smile": 70})
    >>> correlation.value, correlation.n, missing
    (1.0, 3, ['x'])
    """
    kept = [label for label, estimate in accuracies.items() if label in frequencies and not np.isnan(estimate.value)]
    missing = [label for label in accuracies if label not in kept]
    if len(kept) < LEAST:
        return None, missing
    x: Sequence[float] = [frequencies[label] for label in kept]
    y: Sequence[float] = [accuracies[label].value for label in kept]
    return association(x, y, "Spearman"), missing


def correlation_text(words: Words) -> str:
    """Describe the correlation, with n and p.

    >>> correlation_text(Words("m", "s", {}, {}, None, ["x"], ""))
    'not computed, fewer than three words of known frequency'
    >>> from syntagm.stats import association
    >>> correlation_text(Words("m", "s", {}, {}, association([1, 2, 3], [1, 8, 9], "Spearman"), [], ""))
    '+1.00, n=3 words, p=0.33'
    """
    if words.association is None:
        return "not computed, fewer than three words of known frequency"
    value, n = words.association.value, words.association.n
    without = f", {len(words.missing)} excluded" if words.missing else ""
    if math.isnan(value):
        return f"undefined, all {n} words have the same value{without}"
    p = "p<0.01" if words.association.p < 0.01 else f"p={words.association.p:.2f}"
    return f"{value:+.2f}, n={n} words{without}, {p}"


SCHEMA = {
    "model": pl.String, "suite": pl.String, "word": pl.String, "frequency": pl.Float64, "value": pl.Float64,
    "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "ties": pl.Int64, "undefined": pl.Int64, "method": pl.String,
}  # fmt: skip
WIDTH, HEIGHT, ACROSS = 250, 170, 3
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
    # A suite without any word of known frequency has a dot plot with one row for each word instead.
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
    spec = vega.grid(plots, min(ACROSS, max(1, len(plots))), 26)
    return Figure(finish(spec, title, subtitle, offset=14), table)


def _panel(suite: str, tables: Sequence[Words], models: dict[str, str], counts: Sequence[float], at: int) -> Spec:
    names = list(models.values())
    series = Series("model", names, WIDTH * 2, at == 0 and len(names) > 1)
    values = [value for words in tables for value in _points(words, models[words.model])]
    lines = [line for words in tables for line in _lines(words, models[words.model] if len(names) > 1 else "")]
    title = vega.heading(suite, lines, anchor="start")
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
    return dots.panel(described, vega.proportion("accuracy"), series=list(models.values()), width=WIDTH)


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
    return vega.logarithmic("frequency", "frequency (logarithmic)", (low, high), ticks, format="~s", grid=False)


def _layers(across: Spec, models: Series) -> list[Spec]:
    upright = vega.proportion("accuracy")
    place: Spec = {"x": across, "y": upright}
    interval = {"x": across, **vega.spread(upright), "color": models.colour}
    dot = place | {"color": models.colour, "shape": models.shape, "description": {"field": "said"}}
    label = vega.label(10, opacity=0.75, aria=False, dx=_BESIDE, baseline="middle")
    return [
        layer(vega.rule(strokeWidth=1.4, opacity=0.5), interval, vega.defined("low")),
        layer(vega.dot(55, 0.95), dot),
        layer(
            vega.rule(strokeWidth=0.7, opacity=0.35),
            {"x": across, "y": upright, "x2": {"field": "joined"}, "y2": {"field": "at"}},
            vega.defined("joined"),
        ),
        layer(label, {"x": across, "y": vega.of(upright, "at"), "text": {"field": "word"}}, vega.defined("at")),
    ]


COLUMNS = ("suite", "measure", "model", "word", "frequency", "score", "low", "high", "n", "ties", "undefined")


def make_table(
    runs: Sequence[Run],
    by: By = "lemma",
    suite: Suites = (),
    measure: Measure = "first",
    words: WordList = "verbs",
    unigrams: Text = "",
) -> Table:
    """Make one row for each suite, model and word.

    Raises:
        UsageError: no suite has the tag.
    """
    tables = of_words(runs, by, suite, measure, words, unigrams)
    rows = [
        (table.suite, measure, table.model, word, count if count is None else int(count), *cells(estimate))
        for table in tables
        for word, estimate in table.accuracies.items()
        for count in [table.frequencies.get(word)]
    ]
    notes = (
        f"Frequency {tables[0].about}. An empty cell means that it is unknown. Ties count as {ties_of(runs, measure)}.",
        *in_words.intervals(estimate.method for table in tables for estimate in table.accuracies.values()),
        *_correlations(tables),
    )
    return Table(f"Accuracy by {by}", COLUMNS, tuple(rows), notes=notes)


def _correlations(tables: Sequence[Words]) -> list[str]:
    several = len({table.model for table in tables}) > 1
    return [
        f"{table.suite}{f', {table.model}' if several else ''}: Spearman of accuracy and frequency {correlation_text(table)}."
        for table in tables
    ]


__all__ = ["draw_figure", "make_table"]
