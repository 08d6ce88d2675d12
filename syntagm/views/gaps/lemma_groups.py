"""Equal weight and model weight of groups of lemmas of a word list.

The accuracy of a lemma is the proportion of its contexts in which its correct form is more probable. `equal_weight` of
a group is the mean accuracy of its lemmas. `model_weight` is the probability of all correct forms, summed over lemmas
and contexts, divided by that of all forms: a ratio of sums, to which frequent lemmas contribute most. Intervals are for
other lemmas in the same contexts: runs keep sums over contexts, not each context with each lemma.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from syntagm.evaluation import Estimate, Group
from syntagm.stats import Comparison, Spread, cluster_intervals, interval

MEASURES = ("equal_weight", "model_weight")
_FIXED = "contexts"


def by_lemma(table: pl.DataFrame) -> pl.DataFrame:
    """Sum `contexts`, `won`, `right` and `wrong` over suites and labels, with one row for each lemma that has contexts."""
    sums = table.group_by("row", "lemma", maintain_order=True).agg(pl.col("contexts", "won", "right", "wrong").sum())
    return sums.filter(pl.col("contexts") > 0)


def balance_labels(table: pl.DataFrame, labels: Sequence[str]) -> pl.DataFrame:
    """Compute the sums of `by_lemma` with equal weight for each label, for lemmas that have contexts with all labels.

    This cancels a preference of the model for one form that doesn't depend on the label.

    >>> sums = {"row": [0, 0], "lemma": ["be", "be"], "label": ["s", "p"], "contexts": [4, 1], "won": [1.0, 1.0]}
    >>> table = pl.DataFrame(sums).with_columns(right=0.0, wrong=0.0)
    >>> balance_labels(table, ["s", "p"]).select("contexts", "won").row(0)  # 1/4 + 1/1
    (2, 1.25)
    """
    parts = [by_lemma(table.filter(pl.col("label") == label)) for label in labels]
    means = [part.with_columns(pl.col("won", "right", "wrong") / pl.col("contexts"), contexts=1) for part in parts]
    sums = pl.concat(means).group_by("row", "lemma", maintain_order=True).agg(pl.exclude("row", "lemma").sum())
    return sums.filter(pl.col("contexts") == len(labels))


def share(table: pl.DataFrame, measure: str, group: Group | None = None) -> Estimate:
    """Compute equal weight or model weight of a group of lemmas; n counts lemmas.

    Arguments:
        table: the table that `by_lemma` or `balance_labels` returns.
        measure: one of `MEASURES`.
        group: the group of the estimate.

    >>> table = pl.DataFrame({"contexts": [2, 2], "won": [2.0, 1.0], "right": [0.3, 0.1], "wrong": [0.0, 0.1]})
    >>> share(table, "equal_weight").value, share(table, "model_weight").value
    (0.75, 0.8)
    """
    value, spread = _value(table, measure)
    few = f"no interval: fewer than two lemmas; fixed: {_FIXED}"
    found = interval.score(value, spread) if spread else interval.Interval(np.nan, np.nan, few)
    return found.estimate(group or Group(), value, table.height)


def difference(group_a: pl.DataFrame, group_b: pl.DataFrame, measure: str, within: str = "") -> Comparison:
    """Compute the difference of a weight between two groups of different lemmas; n counts the first group's lemmas.

    Arguments:
        measure: one of `MEASURES`.
        within: a column such as a frequency band. Lemmas are then compared within each of its values, and the
            differences are averaged, weighted by the number of lemmas of the first group. Lemmas with values that the
            other group lacks are excluded, and don't count in n.

    >>> a, b = (pl.DataFrame({"contexts": [2, 2], "won": won, "band": ["1", "2"]}) for won in ([1.0, 1.0], [2.0, 1.0]))
    >>> difference(a, b, "equal_weight").difference.value, difference(a, b, "equal_weight", "band").n
    (-0.25, 2)
    """
    strata = [
        _matched(group_a, group_b, within, value) for value in (group_a[within].unique().sort() if within else [""])
    ]
    strata = [(first, second) for first, second in strata if first.height and second.height]
    n = sum(first.height for first, _ in strata)
    value, variances, units = 0.0 if strata else np.nan, [], []
    for first, second in strata:
        weight = first.height / n
        for sign, members in ((1, first), (-1, second)):
            of_members, spread = _value(members, measure)
            value += sign * weight * of_members
            # In a stratum, a group of one lemma shows no spread; the other strata show it.
            variances += [weight**2 * spread.variance] if spread else []
            units += [spread.units[0]] if spread else []
    group = Group(measure=measure)
    if not units:
        return Comparison(group, Estimate(group, value, np.nan, np.nan, n, "no interval: fewer than two lemmas"))
    spread = replace(cluster_intervals.combined(variances, units), units=(("lemmas", n),), fixed=_FIXED)
    found = interval.student(value, spread).clipped(-1.0)
    return Comparison(group, found.estimate(group, value, n))


def _matched(
    group_a: pl.DataFrame, group_b: pl.DataFrame, within: str, value: str
) -> tuple[pl.DataFrame, pl.DataFrame]:
    return (
        (group_a.filter(pl.col(within) == value), group_b.filter(pl.col(within) == value))
        if within
        else (group_a, group_b)
    )


def _value(table: pl.DataFrame, measure: str) -> tuple[float, Spread | None]:
    """Return the value and its variance over lemmas; None with fewer than two lemmas, or if the value is undefined."""
    if measure == "equal_weight":
        parts, wholes = (table["won"] / table["contexts"]).to_numpy(), np.ones(table.height)
    else:
        parts, wholes = table["right"].to_numpy(), (table["right"] + table["wrong"]).to_numpy()
    total = float(wholes.sum())
    value = float(parts.sum()) / total if total else np.nan
    if table.height < 2 or not total:
        return value, None
    return value, replace(cluster_intervals.spread_of_ratio(parts, wholes, "lemmas"), fixed=_FIXED)


def add_tags(table: pl.DataFrame, tags: Mapping[str, Mapping[str, str]], names: Sequence[str]) -> pl.DataFrame:
    """Add a column for each tag of the lemmas, with empty text for a lemma without the tag."""
    columns = [[tags.get(lemma, {}).get(name, "") for lemma in table["lemma"]] for name in names]
    return table.with_columns(pl.Series(name, column, pl.String) for name, column in zip(names, columns, strict=True))
