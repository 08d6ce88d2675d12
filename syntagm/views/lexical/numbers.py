"""Accuracy by lexical item, and its rank correlation with word frequency.

The correlation is Spearman's, so it is the same for frequency and for log frequency. Its n is the number of words
with a known frequency, not of items: with the seven verbs of a suite, only a nearly perfect correlation is significant.
Words of unknown frequency are excluded and counted.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import polars as pl

from syntagm.evaluation import Estimate, Kind
from syntagm.runs import Run, named
from syntagm.stats import Association, association, score
from syntagm.views import quantity
from syntagm.views.lexical.frequencies import frequencies

LEAST = 3
# The options of the view.
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
    """Compute accuracy and frequency of the words of each suite under each model."""
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
        from syntagm.stats.correlation import association
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
