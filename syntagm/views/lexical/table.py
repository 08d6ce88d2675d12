"""The table of words: a row a suite, model and word, with how frequent each word is."""

from collections.abc import Sequence

from syntagm.drawing.table import Cell, Table, cells
from syntagm.runs.store import Run
from syntagm.views.clustered import By
from syntagm.views.lexical.numbers import Suites, Text, WordList, Words, of_words, said
from syntagm.views.options import Measure

COLUMNS = ("suite", "measure", "model", "word", "frequency", "score", "low", "high", "n", "ties", "undefined")


def make_table(
    runs: Sequence[Run],
    by: By = "lemma",
    suite: Suites = (),
    measure: Measure = "first",
    words: WordList = "verbs",
    unigrams: Text = "",
) -> Table:
    """Make a row for each suite, model and word.

    Raises:
        UsageError: no suite has the tag.
    """
    found = of_words(runs, by, suite, measure, words, unigrams)
    rows = [
        (one.suite, measure, one.model, word, _whole(one.frequencies.get(word)), *cells(estimate))
        for one in found
        for word, estimate in one.accuracies.items()
    ]
    notes = (
        f"Frequency {found[0].about}; empty: unknown. 95% intervals, percentile bootstrap over the items of the word (10,000 "
        "draws, seed 1). Ties count as failures.",
        *_correlations(found),
    )
    return Table(f"Accuracy by {by}", COLUMNS, tuple(rows), notes=notes)


def _whole(count: float | None) -> Cell:
    return None if count is None else int(count)


def _correlations(found: Sequence[Words]) -> list[str]:
    """A note a suite and model, as far as there are words enough; the interval redraws words."""
    several = len({one.model for one in found}) > 1
    return [
        f"{one.suite}{f', {one.model}' if several else ''}: Spearman of accuracy and frequency {said(one)}."
        for one in found
    ]
