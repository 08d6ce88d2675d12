"""Accuracy by lexical item, and whether frequent words do better: rank correlation of accuracy and frequency over words.

The correlation is Spearman's, so that it is the same for frequency and its logarithm. Its n is the number of words whose
frequency is known, not of items: with the seven verbs of a suite only a near-perfect order differs from none. Words of unknown
frequency are left out and counted.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import polars as pl

from syntagm.result import Estimate
from syntagm.runs.several import named, titles
from syntagm.runs.store import Run
from syntagm.stats import score
from syntagm.stats.association import Association, association
from syntagm.views.clustered import labelled, unknown
from syntagm.views.lexical.frequencies import frequencies
from syntagm.views.scores.numbers import verdicts

LEAST = 3
# The options of the view.
Suites = Annotated[tuple[str, ...], "one suite, or several with commas between; all that have the tag unless given"]
WordList = Annotated[str, "a word list with frequencies"]
Text = Annotated[str, "a text to count words in, instead of a word list"]


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one suite under one model.

    Arguments:
        accuracies, frequencies: word -> accuracy; word -> how often it occurs, where that is known.
        association: Spearman's correlation of the two; None with fewer than three words.
        missing: the words left out of it.
        about: where frequencies are from.
    """

    model: str
    suite: str
    accuracies: dict[str, Estimate]
    frequencies: dict[str, float]
    association: Association | None
    missing: list[str]
    about: str


def of_words(
    runs: Sequence[Run], by: str, suite: Sequence[str], measure: str, words: str, unigrams: str
) -> list[Words]:
    """Gather the words of each suite under each model.

    Arguments:
        by, suite, measure, words, unigrams: the options of the view.

    Raises:
        UsageError: no item has the label.
    """
    wanted = [name for name in suite if name]
    found = [one for model, run in named(runs)
             for one in _of_run(run, model, by, wanted, measure, words, unigrams, titles(runs))]  # fmt: skip
    if not found:
        raise unknown(runs, by)
    return found


def _of_run(
    run: Run, model: str, by: str, wanted: Sequence[str], measure: str, words: str, unigrams: str,
    called: dict[tuple[str, str], str],
) -> Iterator[Words]:  # fmt: skip
    counts = frequencies(run, words, unigrams)
    for record in run.suites:
        if wanted and record.name not in wanted:
            continue
        name = record.name
        results = verdicts(run, measure, name)
        rows = labelled(run, name, results, by) if len(results) else None
        if rows is not None:
            found = by_label(rows, run.tolerance, name)
            known = {word: count for word in found if (count := counts.of(word)) is not None}
            association, missing = with_frequency(found, known, f"{name}/{by}")
            yield Words(model, called[name, record.hash], found, known, association, missing, counts.about)


def by_label(rows: pl.DataFrame, tolerance: float, suite: str) -> dict[str, Estimate]:
    """The accuracy of each label, in the order of the labels.

    Arguments:
        rows: results of one model, suite and measure with the column `label`.
        suite: whose items these are; the random numbers depend on it and on the label.
    """
    ordered = rows.sort("label", maintain_order=True).with_columns(suite=pl.lit(f"{suite}/") + pl.col("label"))
    labels = ordered["label"].unique(maintain_order=True).to_list()
    return dict(zip(labels, score.accuracy(ordered, tolerance), strict=True))


def with_frequency(
    accuracies: Mapping[str, Estimate], frequencies: Mapping[str, float], key: str
) -> tuple[Association | None, list[str]]:
    """Spearman's correlation of accuracy with frequency, and the labels left out of it: of unknown frequency, or undefined.

    None where fewer than three labels are left.

    >>> from syntagm.result import Group
    >>> scores = {"be": 0.9, "swim": 0.5, "smile": 0.6, "x": 1}
    >>> found = {name: Estimate(Group(), value, 0, 1, 9, "") for name, value in scores.items()}
    >>> found_association, missing = with_frequency(found, {"be": 9000, "swim": 30, "smile": 70}, "agreement")
    >>> found_association.value, found_association.n, missing
    (1.0, 3, ['x'])
    """
    kept = [label for label, one in accuracies.items() if label in frequencies and not np.isnan(one.value)]
    missing = [label for label in accuracies if label not in kept]
    if len(kept) < LEAST:
        return None, missing
    x: Sequence[float] = [frequencies[label] for label in kept]
    y: Sequence[float] = [accuracies[label].value for label in kept]
    return association(x, y, "Spearman", key=key), missing


def said(one: Words) -> str:
    """The correlation in words, with n.

    >>> said(Words("m", "s", {}, {}, None, ["x"], ""))
    'not computed, fewer than three words of known frequency'
    >>> from syntagm.stats.association import association
    >>> said(Words("m", "s", {}, {}, association([1, 2, 3], [1, 8, 9], "Spearman"), [], ""))
    '+1.00, n=3 words, p=0.33'
    """
    if one.association is None:
        return "not computed, fewer than three words of known frequency"
    value, n = one.association.value, one.association.n
    without = f", {len(one.missing)} without" if one.missing else ""
    if math.isnan(value):
        return f"undefined, all {n} words alike{without}"
    p = "p<0.01" if one.association.p < 0.01 else f"p={one.association.p:.2f}"
    return f"{value:+.2f}, n={n} words{without}, {p}"
