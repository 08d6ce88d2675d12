"""The table of accuracy by word: one row for each suite, model and word, with the frequency of the word."""

from collections.abc import Sequence

from syntagm.runs import Run, ties_of
from syntagm.stats import in_words
from syntagm.views.clustered import By
from syntagm.views.drawing.table import Cell, Table, cells
from syntagm.views.lexical.numbers import Suites, Text, WordList, Words, correlation_text, of_words
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
    """Make one row for each suite, model and word.

    Raises:
        UsageError: no suite has the tag.
    """
    tables = of_words(runs, by, suite, measure, words, unigrams)
    rows = [
        (table.suite, measure, table.model, word, _whole(table.frequencies.get(word)), *cells(estimate))
        for table in tables
        for word, estimate in table.accuracies.items()
    ]
    notes = (
        f"Frequency {tables[0].about}. An empty cell means that it is unknown. Ties count as {ties_of(runs, measure)}.",
        *in_words.intervals(estimate.method for table in tables for estimate in table.accuracies.values()),
        *_correlations(tables),
    )
    return Table(f"Accuracy by {by}", COLUMNS, tuple(rows), notes=notes)


def _whole(count: float | None) -> Cell:
    return None if count is None else int(count)


def _correlations(tables: Sequence[Words]) -> list[str]:
    """Return a note for each suite and model with the correlation of accuracy and frequency."""
    several = len({table.model for table in tables}) > 1
    return [
        f"{table.suite}{f', {table.model}' if several else ''}: Spearman of accuracy and frequency {correlation_text(table)}."
        for table in tables
    ]
