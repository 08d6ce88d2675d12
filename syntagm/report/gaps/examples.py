"""What a report shows of a suite asked about in gaps: the lemmas that go wrong and right most often, and a few contexts."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from syntagm.runs.store import Run
from syntagm.views.gaps import kept

LEMMAS, CONTEXTS, SEED = 8, 3, 1


@dataclass(frozen=True, slots=True)
class Lemma:
    """A row of the word list in the contexts of a suite.

    Arguments:
        forms: in the order of the list's labels.
        won: label -> in how many of how many contexts that want it the right form is the likelier one; with more than two
            labels, shares of the other forms are added up.
        right: the probability of right forms as a share of that of all forms, summed over the contexts.
    """

    forms: tuple[str, ...]
    band: str
    won: Mapping[str, tuple[float, int]]
    right: float


@dataclass(frozen=True, slots=True)
class Lemmas:
    """The lemmas of a suite: the hardest, and the easiest; `never` and `always` count those that win nowhere and everywhere."""

    hardest: tuple[Lemma, ...]
    easiest: tuple[Lemma, ...]
    labels: tuple[str, ...]
    never: int
    always: int
    of: int


def lemmas(run: Run, suite: str, most: int = LEMMAS) -> Lemmas:
    """Lemmas by the share of contexts in which the right form wins, each label counting the same; then by probability.

    If there are no more than twice as many as are asked for, all of them stand under `hardest`.
    """
    table = kept.lemmas(run, suite).filter(pl.col("contexts") > 0)
    labels = tuple(one for one in kept.words(run).labels if (table["label"] == one).any())
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
    made = [tuple(_lemma(run, row, chosen.filter(pl.col("row") == row)) for row in rows) for rows in (hardest, easiest)]
    return Lemmas(made[0], made[1], labels, never, always, len(order))


def _lemma(run: Run, row: int, rows: pl.DataFrame) -> Lemma:
    listed = kept.words(run).rows[row]
    won = {one["label"]: (one["won"], one["contexts"]) for one in rows.iter_rows(named=True)}
    right, wrong = float(rows["right"].sum()), float(rows["wrong"].sum())
    share = right / (right + wrong) if right + wrong > 0 else float("nan")
    return Lemma(listed.forms, listed.tags.get("band", ""), won, share)


def contexts(run: Run, suite: str, most: int = CONTEXTS) -> list[dict[str, Any]]:
    """Contexts with the lowest and the highest equal weight, and a sample, as rows of `kept.contexts` with a reason `why`.

    If all fit, they stand in their order, without a reason.
    """
    table = kept.contexts(run, suite)
    if len(table) <= 3 * most:
        return [one | {"why": ""} for one in table.iter_rows(named=True)]
    defined = table.with_row_index("place").filter(pl.col("equal_weight").is_not_nan())
    order = defined.sort("equal_weight", "model_weight", "place")["place"].to_list()
    chosen = dict.fromkeys(order[:most], "lowest") | dict.fromkeys(order[most:][-most:], "highest")
    rest = [place for place in range(len(table)) if place not in chosen]
    sample = sorted(random.Random(f"{SEED} {suite}").sample(rest, min(most, len(rest))))
    return [table.row(place, named=True) | {"why": why} for place, why in _ordered(chosen, sample)]


def _ordered(chosen: Mapping[int, str], sample: Sequence[int]) -> list[tuple[int, str]]:
    return [*chosen.items(), *((place, "sampled") for place in sample)]
