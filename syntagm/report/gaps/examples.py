"""Examples from a suite: the lemmas that are most often wrong and right in its gaps, and a few contexts with entries."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from syntagm.runs import Run
from syntagm.views import gaps

LEMMAS, CONTEXTS, SEED = 8, 3, 1


@dataclass(frozen=True, slots=True)
class Lemma:
    """A row of the word list in the contexts of a suite."""

    forms: tuple[str, ...]  # the forms, in the order of the list's labels
    band: str  # the frequency band; "" if the list has none
    # Label -> (number of contexts with this label in which the correct form is more likely, number of all contexts with
    # this label). With more than two labels, a context adds the proportion of the other forms that are less likely.
    won: Mapping[str, tuple[float, int]]
    right: float  # the probability of correct forms divided by that of all forms, both summed over the contexts


@dataclass(frozen=True, slots=True)
class Lemmas:
    """The hardest and the easiest lemmas of a suite."""

    hardest: tuple[Lemma, ...]
    easiest: tuple[Lemma, ...]
    labels: tuple[str, ...]  # the labels of the contexts
    # `never`, `always`: the number of lemmas whose correct form is more likely in no context, and in every context
    never: int
    always: int
    total: int  # the number of all lemmas


def lemmas(run: Run, suite: str, most: int = LEMMAS) -> Lemmas:
    """Rank the lemmas by the proportion of contexts in which the correct form is more likely, then by probability."""
    # All labels have equal weight. If there are at most twice `most` lemmas, all of them are in `hardest`.
    table = gaps.lemma_sums(run, suite).filter(pl.col("contexts") > 0)
    labels = tuple(label for label in gaps.words(run).labels if (table["label"] == label).any())
    ranked = (
        table.group_by("row", maintain_order=True)
        .agg(
            accuracy=(pl.col("won") / pl.col("contexts")).mean(),
            mass=(pl.col("right").sum() + pl.col("wrong").sum()),
        )
        .sort("accuracy", "mass", "row", descending=[False, True, False])
    )
    order = ranked["row"].to_list()
    easy = ranked.sort("accuracy", "mass", "row", descending=[True, True, False])["row"].to_list()
    hardest, easiest = (order, []) if len(order) <= 2 * most else (order[:most], easy[:most])
    chosen = table.filter(pl.col("row").is_in([*hardest, *easiest]))
    never, always = (int((ranked["accuracy"] == end).sum()) for end in (0.0, 1.0))
    ends = [tuple(_lemma(run, row, chosen.filter(pl.col("row") == row)) for row in rows) for rows in (hardest, easiest)]
    return Lemmas(ends[0], ends[1], labels, never, always, len(order))


def _lemma(run: Run, row: int, rows: pl.DataFrame) -> Lemma:
    listed = gaps.words(run).rows[row]
    won = {counts["label"]: (counts["won"], counts["contexts"]) for counts in rows.iter_rows(named=True)}
    right, wrong = float(rows["right"].sum()), float(rows["wrong"].sum())
    share = right / (right + wrong) if right + wrong > 0 else float("nan")
    return Lemma(listed.forms, listed.tags.get("band", ""), won, share)


def contexts(run: Run, suite: str, most: int = CONTEXTS) -> list[dict[str, Any]]:
    """Choose contexts with the lowest and the highest equal weight, and a sample: rows of `gaps.contexts` with a reason `why`."""
    # If a suite has at most 3 * `most` contexts, all are returned in their order, without a reason.
    table = gaps.contexts(run, suite)
    if len(table) <= 3 * most:
        return [context | {"why": ""} for context in table.iter_rows(named=True)]
    defined = table.with_row_index("place").filter(pl.col("equal_weight").is_not_nan())
    order = defined.sort("equal_weight", "model_weight", "place")["place"].to_list()
    chosen = dict.fromkeys(order[:most], "lowest") | dict.fromkeys(order[most:][-most:], "highest")
    remaining = [place for place in range(len(table)) if place not in chosen]
    sample = sorted(random.Random(f"{SEED} {suite}").sample(remaining, min(most, len(remaining))))
    return [table.row(place, named=True) | {"why": why} for place, why in _order(chosen, sample)]


def most_probable(run: Run, suite: str, contexts: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], Any]]:
    """Return contexts with the most probable entries in each: rows of `gaps.top_words` with probability and form."""
    # The list is empty if the run has kept no entries.
    if "top_words.parquet" not in run.tables:
        return []
    names = [context["context"] for context in contexts]
    entries = gaps.top_words(run, suite).filter(pl.col("context").is_in(names))
    rows = list(entries.with_columns(gaps.PROBABILITY, gaps.FORM).iter_rows(named=True))
    return [(context, [row for row in rows if row["context"] == context["context"]]) for context in contexts]


def _order(chosen: Mapping[int, str], sample: Sequence[int]) -> list[tuple[int, str]]:
    return [*chosen.items(), *((place, "sampled") for place in sample)]
