"""Data of a fill run other than its results: the word list, the cut-offs, and the tables of contexts, lemmas and entries."""

from dataclasses import replace
from functools import lru_cache

import polars as pl

from syntagm.core import RunError
from syntagm.evaluation import Cut, Gaps, canonical_cuts
from syntagm.runs import Run
from syntagm.suites import WordList, kept

# The probability of an entry, and whether it is a correct form of the word list in its context; null for other entries.
PROBABILITY = (2.0 ** -pl.col("bits")).alias("probability")
FORM = (
    pl.when(pl.col("form_label").is_null())
    .then(None)
    .when(pl.col("form_label") == pl.col("label"))
    .then(pl.lit("correct"))
    .otherwise(pl.lit("wrong"))
    .alias("form")
)


def over_gaps(run: Run) -> bool:
    """Return whether a run is a fill run."""
    return run.task is Gaps


def cuts(run: Run) -> tuple[Cut, ...]:
    """Return the nucleus cut-offs of a run."""
    options = run.record["options"]
    return canonical_cuts(tuple(options["top"]), tuple(options["bottom"]))


@lru_cache(maxsize=16)
def words(run: Run) -> WordList:
    """Return the word list of a run, with its tags."""
    words_of_run = kept(run.file("words.csv"), f"{run.place}/words.csv")
    return replace(words_of_run, name=run.record["options"]["words"]["name"])


def contexts(run: Run, suite: str | None = None) -> pl.DataFrame:
    """Return a table with one row for each context of a suite, or of all suites."""
    # Columns: suite, context (a hash of its content), item (the first item with this context), left, right, label,
    # items (number of items), eligible and ranked (number of rows of the list counted without and with a cut-off), and
    # equal_weight, model_weight and covered at each cut-off.
    return run.table("contexts.parquet", suite)


def several_tokens(run: Run) -> bool:
    """Return whether a run counts forms of several tokens; at cut-offs they never count."""
    table = contexts(run)
    return bool((table["eligible"] > table["ranked"]).any())


def lemmas(run: Run, suite: str | None = None) -> pl.DataFrame:
    """Return a table of sums over contexts, with one row for each suite, label and lemma."""
    # Columns: suite, label, row (number in the list, from 0), lemma, contexts, won (proportion of the row's pairs in
    # which the correct form is more probable), right and wrong (probability of the correct form and of the other
    # forms).
    keys = ("suite", "label", "row", "lemma")
    return run.table("lemmas.parquet", suite).group_by(keys, maintain_order=True).agg(pl.exclude(keys).sum())


def top_words(run: Run, suite: str) -> pl.DataFrame:
    """Return a table of the most probable entries of the vocabulary in each context of a suite, from the most probable."""
    # Columns: context, item, left, right and label of the context; rank, entry (as text), begins (whether it begins a
    # word) and bits; lemma and form_label, null for entries that are no forms of the word list.
    if "top_words.parquet" not in run.tables:
        raise RunError(
            run.place, "no most probable entries", "a run that kept them",
            "Make one with `syntagm fill --most-probable K`.",
        )  # fmt: skip
    entries = run.table("top_words.parquet", suite).rename({"label": "form_label"})
    about = contexts(run, suite).select("context", "item", "left", "right", "label")
    return about.join(entries.drop("suite"), on="context", maintain_order="left_right")
