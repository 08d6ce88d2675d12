"""Data of a fill run other than its results: the word list, the cut-offs, and the tables of contexts and of lemmas."""

from dataclasses import replace
from functools import lru_cache

import polars as pl

from syntagm.runs.store import Run
from syntagm.tasks.gaps import nucleus
from syntagm.tasks.gaps.nucleus import Cut
from syntagm.tasks.gaps.task import Gaps
from syntagm.word_list import WordList, kept


def over_gaps(run: Run) -> bool:
    """Return whether a run is a fill run."""
    return run.task is Gaps


def cuts(run: Run) -> tuple[Cut, ...]:
    """Return the nucleus cut-offs of a run."""
    options = run.record["options"]
    return nucleus.cuts(tuple(options["top"]), tuple(options["bottom"]))


@lru_cache(maxsize=16)
def words(run: Run) -> WordList:
    """Return the word list of a run, with its tags.

    Raises:
        RunError: words.csv is damaged or has been edited.
    """
    words_of_run = kept(run.file("words.csv"), f"{run.place}/words.csv")
    return replace(words_of_run, name=run.record["options"]["words"]["name"])


def contexts(run: Run, suite: str | None = None) -> pl.DataFrame:
    """Return a table with one row for each context of a suite, or of all suites.

    Columns: suite, context (a hash of its content), item (the first item with this context), left, right, label, items
    (number of items), eligible and ranked (number of rows of the list counted without and with a cut-off), and
    equal_weight, model_weight and covered at each cut-off.
    """
    return run.table("contexts.parquet", suite)


def lemmas(run: Run, suite: str | None = None) -> pl.DataFrame:
    """Return a table of sums over contexts, with one row for each suite, label and lemma.

    Columns: suite, label, row (number in the list, from 0), lemma, contexts, won (proportion of the row's pairs in
    which the correct form is more probable), right and wrong (probability of the correct form and of the other forms).
    """
    keys = ("suite", "label", "row", "lemma")
    return run.table("lemmas.parquet", suite).group_by(keys, maintain_order=True).agg(pl.exclude(keys).sum())
