"""Top words: the most probable vocabulary entries in each gap, and which of them are forms of the word list."""

from collections.abc import Sequence
from typing import Annotated

import polars as pl

from syntagm.core import Reader, UsageError, whole
from syntagm.runs import Run, chosen_suite, having
from syntagm.views import gaps
from syntagm.views.drawing.table import Table
from syntagm.views.options import Suite

COLUMNS = ("model", "item", "left", "right", "label", "rank", "entry", "begins", "probability", "lemma", "form")


def _limit(text: str) -> int | None:
    return None if text == "all" else whole("limit=", text, least=1, also="all")


def make_table(
    runs: Sequence[Run],
    suite: Suite = "",
    item: Annotated[str, "id of the first item of a context; default: all contexts"] = "",
    limit: Annotated[int | None, Reader("number of contexts of each model, or `all`", _limit, "all")] = None,
) -> Table:
    """Make one row for each of the most probable entries in each context of a suite, in the order of the contexts.

    Raises:
        RunError: a run is not a fill run, or has kept no entries.
        UsageError: there is no such suite or item.
    """
    name = chosen_suite(runs, suite)
    gaps.filled(runs)
    rows, counts = [], []
    for model, run in having(runs, name):
        entries = gaps.top_words(run, name).filter(pl.lit(not item) | (pl.col("item") == item))
        contexts = entries["context"].unique(maintain_order=True)
        if item and not len(contexts):
            known = ", ".join(gaps.contexts(run, name)["item"].head(5).to_list())
            raise UsageError(f"item={item}", f"no context of {name} with this first item", f"one of {known}, ...")
        shown = contexts if limit is None else contexts.head(limit)
        columns = entries.filter(pl.col("context").is_in(shown.to_list())).select(
            pl.lit(model).alias("model"),
            *("item", "left", "right", "label", "rank", "entry"),
            pl.when("begins").then(pl.lit("yes")).otherwise(pl.lit("no")),
            gaps.PROBABILITY,
            "lemma",
            gaps.FORM,
        )
        rows += columns.rows()
        counts.append(f"{model}: {len(shown):,} of {len(contexts):,} contexts are shown.")
    notes = (
        "entry: a single entry of the model's vocabulary. begins: whether it begins a word, number or punctuation mark in the "
        "gap, of which it may be the first part only. probability: that of the entry, among the whole vocabulary.",
        "form: correct or wrong, for entries that begin a word and are spelled like a form of the word list; label: that of "
        "correct forms.",
        *counts,
    )
    return Table(f"Most probable entries in the gaps of {name}", COLUMNS, tuple(rows), notes=notes)
