"""Lemmas of a word list compared by group: in how many contexts does the right form win, and which share of the mass does it get?

A lemma's accuracy is the share of its contexts in which its right form is the likelier one; that of a group is the mean over its
lemmas (`equal_weight`). The group's share of mass is the probability of all right forms, summed over lemmas and contexts,
divided by that of all forms (`model_weight`; a ratio of sums, so that frequent lemmas decide it). Intervals redraw lemmas
within their group.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.result import Estimate, Group
from syntagm.stats import bootstrap
from syntagm.stats.paired import Comparison

MEASURES = ("equal_weight", "model_weight")
METHOD = bootstrap.METHOD.replace("items", "lemmas")
_Array = NDArray[np.float64]


def by_lemma(table: pl.DataFrame) -> pl.DataFrame:
    """Sums over suites and labels: a row a lemma, with `contexts`, `won`, `right`, `wrong`; lemmas without a context left out.

    Arguments:
        table: with those columns, and `row` and `lemma`.
    """
    found = table.group_by("row", "lemma", maintain_order=True).agg(pl.col("contexts", "won", "right", "wrong").sum())
    return found.filter(pl.col("contexts") > 0)


def balanced(table: pl.DataFrame, labels: Sequence[str]) -> pl.DataFrame:
    """As `by_lemma`, but each label counts the same, however many contexts it has; only lemmas that have contexts of all.

    What a model gives to one of the forms whatever the label cancels out then.

    >>> sums = {"row": [0, 0], "lemma": ["be", "be"], "label": ["s", "p"], "contexts": [4, 1], "won": [1.0, 1.0]}
    >>> table = pl.DataFrame(sums).with_columns(right=0.0, wrong=0.0)
    >>> balanced(table, ["s", "p"]).select("contexts", "won").row(0)  # 1/4 + 1/1
    (2, 1.25)
    """
    parts = [by_lemma(table.filter(pl.col("label") == label)) for label in labels]
    each = [part.with_columns(pl.col("won", "right", "wrong") / pl.col("contexts"), contexts=1) for part in parts]
    found = pl.concat(each).group_by("row", "lemma", maintain_order=True).agg(pl.exclude("row", "lemma").sum())
    return found.filter(pl.col("contexts") == len(labels))


def share(table: pl.DataFrame, measure: str, key: str, group: Group | None = None) -> Estimate:
    """The mean accuracy, or the share of mass, of the lemmas of a table as `by_lemma` gives it; n counts lemmas.

    Arguments:
        measure: one of `MEASURES`.
        key: whose lemmas these are; the random numbers depend on it.
        group: what the estimate is about.

    >>> table = pl.DataFrame({"contexts": [2, 2], "won": [2.0, 1.0], "right": [0.3, 0.1], "wrong": [0.0, 0.1]})
    >>> share(table, "equal_weight", "").value, share(table, "model_weight", "").value
    (0.75, 0.8)
    """
    return _estimate(*_value_and_draws(table, measure, key), table.height, group or Group())


def difference(one: pl.DataFrame, other: pl.DataFrame, measure: str, key: str, within: str = "") -> Comparison:
    """The share of one group less that of another, which has other lemmas; n counts those of the first that are compared.

    Arguments:
        key: whose lemmas these are; the random numbers depend on it.
        within: a column, such as a frequency band: the two are compared among lemmas of the same value, and the differences
            weighed by the lemmas that the first group has there. Lemmas of values that the other lacks are left out of n.

    >>> one, other = (pl.DataFrame({"contexts": [2, 2], "won": won, "band": ["1", "2"]}) for won in ([1.0, 1.0], [2.0, 1.0]))
    >>> difference(one, other, "equal_weight", "").difference.value, difference(one, other, "equal_weight", "", "band").n
    (-0.25, 2)
    """
    parts = [_matched(one, other, within, value) for value in (one[within].unique().sort() if within else [""])]
    parts = [(ours, theirs) for ours, theirs in parts if ours.height and theirs.height]
    counted = sum(ours.height for ours, _ in parts)
    value, draws = (0.0, np.zeros(bootstrap.DRAWS)) if parts else (np.nan, np.full(bootstrap.DRAWS, np.nan))
    for number, (ours, theirs) in enumerate(parts):
        mine, my_draws = _value_and_draws(ours, measure, f"{key}/{number}")
        its, its_draws = _value_and_draws(theirs, measure, f"{key}/{number}/other")
        value += ours.height / counted * (mine - its)
        draws = draws + ours.height / counted * (my_draws - its_draws)
    spread = any(height > 1 for ours, theirs in parts for height in (ours.height, theirs.height))
    group = Group(measure=measure)
    return Comparison(group, _estimate(value, draws if spread else np.full_like(draws, np.nan), counted, group))


def _matched(one: pl.DataFrame, other: pl.DataFrame, within: str, value: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    return (one.filter(pl.col(within) == value), other.filter(pl.col(within) == value)) if within else (one, other)


def _value_and_draws(table: pl.DataFrame, measure: str, key: str) -> tuple[float, _Array]:
    """The value, and what it would be of lemmas redrawn; of one lemma, always the same."""
    columns = _columns(table, measure)
    value = _ratio(columns.mean(axis=0)) if table.height else np.nan
    if table.height < 2:
        return float(value), np.full(bootstrap.DRAWS, value)
    return float(value), _ratio(bootstrap.column_means(columns, key))


def _columns(table: pl.DataFrame, measure: str) -> _Array:
    """What is averaged over lemmas: numerator, and denominator where there is one. Shape (lemmas, 1 or 2)."""
    if measure == "equal_weight":
        return table.select(pl.col("won") / pl.col("contexts")).to_numpy()
    return table.select("right", (pl.col("right") + pl.col("wrong")).alias("all")).to_numpy()


def _ratio(means: _Array) -> _Array:
    if means.shape[-1] == 1:
        return means[..., 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        found: _Array = means[..., 0] / means[..., 1]
    return found


def _estimate(value: float, draws: _Array, lemmas: int, group: Group) -> Estimate:
    known = draws[~np.isnan(draws)]
    low, high = bootstrap.interval(known) if lemmas > 1 and len(known) else (np.nan, np.nan)
    return Estimate(group, value, low, high, lemmas, bootstrap.remark(METHOD, {"a group": lemmas}))


def tagged(table: pl.DataFrame, tags: Mapping[str, Mapping[str, str]], names: Sequence[str]) -> pl.DataFrame:
    """The table with a column for each tag of its lemmas, empty where a lemma has none."""
    columns = [[tags.get(lemma, {}).get(name, "") for lemma in table["lemma"]] for name in names]
    return table.with_columns(pl.Series(name, column, pl.String) for name, column in zip(names, columns, strict=True))
