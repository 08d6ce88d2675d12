"""Equal weight and model weight of groups of lemmas of a word list.

The accuracy of a lemma is the proportion of its contexts in which its correct form is more probable. `equal_weight` of
a group is the mean accuracy of its lemmas. `model_weight` is the probability of all correct forms, summed over lemmas
and contexts, divided by that of all forms: a ratio of sums, to which frequent lemmas contribute most. Intervals come
from a bootstrap over the lemmas of a group.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.result import Estimate, Group
from syntagm.stats import bootstrap
from syntagm.stats.paired import Comparison

MEASURES = ("equal_weight", "model_weight")
METHOD = bootstrap.DEFAULT.method("lemmas")
_Array = NDArray[np.float64]


def by_lemma(table: pl.DataFrame) -> pl.DataFrame:
    """Sum `contexts`, `won`, `right` and `wrong` over suites and labels, with one row for each lemma that has contexts.

    Arguments:
        table: a table with these columns, `row` and `lemma`.
    """
    sums = table.group_by("row", "lemma", maintain_order=True).agg(pl.col("contexts", "won", "right", "wrong").sum())
    return sums.filter(pl.col("contexts") > 0)


def balanced(table: pl.DataFrame, labels: Sequence[str]) -> pl.DataFrame:
    """Compute the sums of `by_lemma` with equal weight for each label, for lemmas that have contexts with all labels.

    This cancels a preference of the model for one form that doesn't depend on the label.

    >>> sums = {"row": [0, 0], "lemma": ["be", "be"], "label": ["s", "p"], "contexts": [4, 1], "won": [1.0, 1.0]}
    >>> table = pl.DataFrame(sums).with_columns(right=0.0, wrong=0.0)
    >>> balanced(table, ["s", "p"]).select("contexts", "won").row(0)  # 1/4 + 1/1
    (2, 1.25)
    """
    parts = [by_lemma(table.filter(pl.col("label") == label)) for label in labels]
    means = [part.with_columns(pl.col("won", "right", "wrong") / pl.col("contexts"), contexts=1) for part in parts]
    sums = pl.concat(means).group_by("row", "lemma", maintain_order=True).agg(pl.exclude("row", "lemma").sum())
    return sums.filter(pl.col("contexts") == len(labels))


def share(table: pl.DataFrame, measure: str, key: str, group: Group | None = None) -> Estimate:
    """Compute equal weight or model weight of a group of lemmas; n counts lemmas.

    Arguments:
        table: the table that `by_lemma` or `balanced` returns.
        measure: one of `MEASURES`.
        key: the name of the group; the random numbers depend on it.
        group: the group of the estimate.

    >>> table = pl.DataFrame({"contexts": [2, 2], "won": [2.0, 1.0], "right": [0.3, 0.1], "wrong": [0.0, 0.1]})
    >>> share(table, "equal_weight", "").value, share(table, "model_weight", "").value
    (0.75, 0.8)
    """
    return _estimate(*_value_and_draws(table, measure, key), table.height, group or Group())


def difference(group_a: pl.DataFrame, group_b: pl.DataFrame, measure: str, key: str, within: str = "") -> Comparison:
    """Compute the difference of a measure between two disjoint groups of lemmas; n counts the lemmas of the first group.

    Arguments:
        measure: one of `MEASURES`.
        key: the name of the comparison; the random numbers depend on it.
        within: a column such as a frequency band. Lemmas are then compared within each of its values, and the
            differences are averaged, weighted by the number of lemmas of the first group. Lemmas with values that the
            other group lacks are excluded, and don't count in n.

    >>> a, b = (pl.DataFrame({"contexts": [2, 2], "won": won, "band": ["1", "2"]}) for won in ([1.0, 1.0], [2.0, 1.0]))
    >>> difference(a, b, "equal_weight", "").difference.value, difference(a, b, "equal_weight", "", "band").n
    (-0.25, 2)
    """
    strata = [
        _matched(group_a, group_b, within, value) for value in (group_a[within].unique().sort() if within else [""])
    ]
    strata = [(first, second) for first, second in strata if first.height and second.height]
    n = sum(first.height for first, _ in strata)
    value, draws = (0.0, np.zeros(bootstrap.DRAWS)) if strata else (np.nan, np.full(bootstrap.DRAWS, np.nan))
    for number, (first, second) in enumerate(strata):
        first_value, first_draws = _value_and_draws(first, measure, f"{key}/{number}")
        second_value, second_draws = _value_and_draws(second, measure, f"{key}/{number}/other")
        value += first.height / n * (first_value - second_value)
        draws = draws + first.height / n * (first_draws - second_draws)
    spread = any(height > 1 for first, second in strata for height in (first.height, second.height))
    group = Group(measure=measure)
    return Comparison(group, _estimate(value, draws if spread else np.full_like(draws, np.nan), n, group))


def _matched(
    group_a: pl.DataFrame, group_b: pl.DataFrame, within: str, value: str
) -> tuple[pl.DataFrame, pl.DataFrame]:
    return (
        (group_a.filter(pl.col(within) == value), group_b.filter(pl.col(within) == value))
        if within
        else (group_a, group_b)
    )


def _value_and_draws(table: pl.DataFrame, measure: str, key: str) -> tuple[float, _Array]:
    """Return the value and its bootstrap distribution over lemmas; with one lemma, all draws equal the value."""
    columns = _columns(table, measure)
    value = _ratio(columns.mean(axis=0)) if table.height else np.nan
    if table.height < 2:
        return float(value), np.full(bootstrap.DRAWS, value)
    return float(value), _ratio(bootstrap.column_means(columns, key))


def _columns(table: pl.DataFrame, measure: str) -> _Array:
    """Return the values to average over lemmas: numerator, and denominator if there is one. Shape (lemmas, 1 or 2)."""
    if measure == "equal_weight":
        return table.select(pl.col("won") / pl.col("contexts")).to_numpy()
    return table.select("right", (pl.col("right") + pl.col("wrong")).alias("all")).to_numpy()


def _ratio(means: _Array) -> _Array:
    if means.shape[-1] == 1:
        return means[..., 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios: _Array = means[..., 0] / means[..., 1]
    return ratios


def _estimate(value: float, draws: _Array, lemmas: int, group: Group) -> Estimate:
    defined = draws[~np.isnan(draws)]
    low, high = bootstrap.interval(defined) if lemmas > 1 and len(defined) else (np.nan, np.nan)
    return Estimate(group, value, low, high, lemmas, bootstrap.remark(METHOD, {"a group": lemmas}))


def tagged(table: pl.DataFrame, tags: Mapping[str, Mapping[str, str]], names: Sequence[str]) -> pl.DataFrame:
    """Add a column for each tag of the lemmas, with empty text for a lemma without the tag.

    Arguments:
        tags: lemma -> tag -> value.
        names: the tags.
    """
    columns = [[tags.get(lemma, {}).get(name, "") for lemma in table["lemma"]] for name in names]
    return table.with_columns(pl.Series(name, column, pl.String) for name, column in zip(names, columns, strict=True))
