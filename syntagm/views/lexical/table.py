"""Lexical: accuracy by lexical item, say, by the verb that is tested, with how frequent each is."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from syntagm.drawing.table import Cell, Table, or_none
from syntagm.errors import UsageError
from syntagm.result import Estimate
from syntagm.runs.several import named, titles
from syntagm.runs.store import Run
from syntagm.stats import score
from syntagm.stats.association import Association
from syntagm.views.clustered.tags import labelled, tags_of
from syntagm.views.lexical import compute as lexical
from syntagm.views.lexical.frequencies import frequencies
from syntagm.views.scores import compute as estimates

COLUMNS = ("suite", "measure", "model", "word", "frequency", "score", "low", "high", "n", "ties", "undefined")


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


def make_table(
    runs: Sequence[Run],
    by: str = "lemma",
    suite: str = "",
    measure: str = "first",
    words: str = "verbs",
    unigrams: str = "",
) -> Table:
    """A row a suite, model and word.

    Arguments:
        by: a tag of the items (`lemma`, `subject`, ...), or `region:NAME`: the words of a region.
        suite: one suite, or several with commas between; all that have the tag unless given.
        words: a word list with frequencies; unigrams: a text to count words in instead.

    Raises:
        UsageError: no suite has the tag.
    """
    found = of_words(runs, by, suite, measure, words, unigrams)
    rows = [
        (one.suite, measure, one.model, word, _whole(one.frequencies.get(word)), *_numbers(estimate))
        for one in found
        for word, estimate in one.accuracies.items()
    ]
    notes = (
        f"Frequency {found[0].about}; empty: unknown. 95% intervals, percentile bootstrap over the items of the word (10,000 "
        "draws, seed 1). Ties count as failures.",
        *_correlations(found),
    )
    return Table(f"Accuracy by {by}", COLUMNS, tuple(rows), notes=notes)


def of_words(runs: Sequence[Run], by: str, suite: str, measure: str, words: str, unigrams: str) -> list[Words]:
    """The numbers behind the table, a suite and model each; arguments and errors as of `make_table`."""
    wanted = [name for name in suite.split(",") if name]
    found = [one for model, run in named(runs)
             for one in _of_run(run, model, by, wanted, measure, words, unigrams, titles(runs))]  # fmt: skip
    if not found:
        known = sorted({tag for run in runs for one in run.suites for tag in tags_of(run, one.name)})
        raise UsageError("by=", f"{by!r}, which no item has", "one of " + ", ".join(known) if known else "a tag")
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
        results = score.verdicts(run.results(name), {name: estimates.predictions(run, measure)[name]}, measure)
        rows = labelled(run, name, results, by) if len(results) else None
        if rows is not None:
            found = lexical.by_label(rows, run.tolerance, name)
            known = {word: count for word in found if (count := counts.of(word)) is not None}
            association, missing = lexical.with_frequency(found, known, f"{name}/{by}")
            yield Words(model, called[name, record.hash], found, known, association, missing, counts.about)


def _numbers(one: Estimate) -> tuple[Cell, ...]:
    ends = (or_none(value) for value in (one.value, one.low, one.high))
    return (*ends, one.n, one.ties, one.undefined)


def _whole(count: float | None) -> Cell:
    return None if count is None else int(count)


def _correlations(found: Sequence[Words]) -> list[str]:
    """A note a suite and model, as far as there are words enough; the interval redraws words."""
    several = len({one.model for one in found}) > 1
    return [
        f"{one.suite}{f', {one.model}' if several else ''}: Spearman of accuracy and frequency {said(one)}."
        for one in found
    ]


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
