"""Means of items that are not independent, with intervals for other clusters.

Items that share a word, a frame or a source sentence are correlated: a suite of 16,800 pairs with seven verbs says less
about other verbs than 16,800 independent pairs would. The variance of the mean is computed from the sums of the
clusters, which are random, with the items in them (`stats.cluster_intervals.of_clusters`). The design effect is this variance
divided by that of independent items: n items contain as much information as n / effect independent ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from syntagm.core import UsageError
from syntagm.evaluation import Kind
from syntagm.stats import bootstrap, cluster_intervals, interval
from syntagm.stats.adjust import benjamini_hochberg
from syntagm.stats.interval import LEVEL, Interval, Numbers

NUMBERS = ("value", "low", "high", "n", "units", "method")


@dataclass(frozen=True, slots=True)
class Clustered:
    """A mean with two intervals."""

    value: float
    items: Interval  # the interval if items were independent
    clusters: Interval  # the interval for other clusters; nan with one cluster
    effect: float  # the design effect; nan if one of the two variances is 0
    n: int  # `n`, `count`: the number of items and of clusters
    count: int


def clustered(values: ArrayLike, kind: Kind, clusters: Mapping[str, Sequence[str]]) -> Clustered:
    """Compute the mean of items with both intervals; nan is excluded.

    Arguments:
        values: one number for each item. Shape (items,).
        kind: the kind of the values.
        clusters: the kind of cluster -> the cluster of each item. With two kinds, they are crossed.

    >>> lemmas = {"lemmas": ["swim", "swim", "go", "go", "laugh", "laugh"]}
    >>> estimate = clustered([0, 1, 0, 0, 1, 1], Kind.VERDICT, lemmas)
    >>> estimate.value, round(estimate.effect, 2), estimate.clusters.method
    (0.5, 2.0, 'Wilson with t(2); random: lemmas; only 3 lemmas')
    """
    array = np.asarray(values, np.float64)
    kept = ~np.isnan(array)
    labels = {
        name: [label for label, keep in zip(labels, kept, strict=True) if keep] for name, labels in clusters.items()
    }
    array = array[kept]
    if not len(array):
        none = interval.of_items(array, kind)
        return Clustered(nan, none, none, nan, 0, 0)
    mean = float(array.mean())
    spread = cluster_intervals.spread_of_clusters((array - mean) / len(array), labels)
    independent = interval.spread_of_items(array, kind).variance if len(array) > 1 else nan
    effect = spread.variance / independent if spread and spread.variance > 0 and independent > 0 else nan
    count = min((len(set(names)) for names in labels.values()), default=0)
    independently, clustering = interval.of_items(array, kind), cluster_intervals.of_clusters(array, kind, labels)
    return Clustered(mean, independently, clustering, effect, len(array), count)


# A smaller design effect changes little: the coverage of an interval for independent items is .926 then.
_LEAST_EFFECT = 1.2
# With fewer items of either verdict, nothing tells whether these are alike.
_EITHER = 5


@dataclass(frozen=True, slots=True)
class Alike:
    """How alike items with the same value of a tag are."""

    name: str  # what is estimated from the items, such as a suite
    tag: str  # `tag`, `count`: the tag for which this is clearest, and the number of its values
    count: int
    effect: float  # the design effect; nan if it is unknown
    p: float  # that of independent items, adjusted for the number of tags; 1 if it is unknown
    few: bool = False  # whether the values of the tag are too few for the data to tell


def alike(name: str, values: Numbers, kind: Kind, tags: Mapping[str, ArrayLike], few: str = "") -> Alike:
    """Compare the variance between the values of each tag with that of independent items.

    With independent items, the design effect is distributed about as chi-squared divided by its degrees of freedom.

    Arguments:
        name: what is estimated from the items.
        values: one number for each item; nan is undefined. Shape (items,).
        kind: the kind of the values.
        tags: tag -> its value for each item; items with "" are left out.
        few: a tag with too few values for the data to tell, which is taken if no other is clear.

    >>> lemmas = {"lemma": np.repeat(list("abcd"), 10)}
    >>> found = alike("s", np.repeat([1.0, 0.0, 1.0, 0.0], 10), Kind.VERDICT, lemmas)
    >>> found.count, round(found.effect, 2), found.p < 0.001  # 4/3 of the 10 items that always agree
    (4, 13.33, True)
    """
    from scipy.special import chdtrc

    found = []
    for tag, tagged in tags.items():
        labels = np.asarray(tagged)
        kept = np.isfinite(values) & (labels != "")
        part, (names, codes) = values[kept], np.unique(labels[kept], return_inverse=True)
        count, effect, p = len(names), nan, 1.0
        # Of three values, as of differences of verdicts, the rarest two tell.
        if 1 < count < len(part) and len(part) - np.unique(part, return_counts=True)[1].max() >= _EITHER:
            spread = cluster_intervals.spread_of_clusters((part - part.mean()) / len(part), {tag: codes})
            if spread and (independent := interval.spread_of_items(part, kind).variance) > 0:
                effect = spread.variance / independent
                p = min(1.0, len(tags) * float(chdtrc(spread.freedom, effect * spread.freedom)))
        found.append(Alike(name, tag, count, effect, p, tag == few and count > 1))
    none = Alike(name, "", 0, nan, 1.0)
    return min(found, key=lambda each: (each.p > LEVEL, not each.few, each.p), default=none)


def evident(found: Sequence[Alike]) -> list[Alike]:
    """Return those that rest on few words or whose items are clearly alike, the largest effect first."""
    # Clear are a design effect of 1.2, and a p of at most .05 by the method of Benjamini and Hochberg over all of a
    # table.
    found = [each for each in found if each.tag]
    adjusted = benjamini_hochberg([each.p for each in found])
    told = [
        each
        for each, p in zip(found, adjusted, strict=True)
        if each.few or (p <= LEVEL and each.effect >= _LEAST_EFFECT)
    ]
    return sorted(told, key=lambda each: -each.effect if isfinite(each.effect) else 0.0)


Units = Mapping[str, Sequence[str]]


def means(
    table: pl.DataFrame, by: Sequence[str], column: str, kind: Kind, units: Units | None = None, resampled: bool = False
) -> pl.DataFrame:
    """Compute the mean of a column with its interval for each group, in the order of first appearance.

    The columns of the result are `by` and `NUMBERS`: n is the number of rows, `units` that of the clusters of which
    there are fewest (0 without clusters). If there is one cluster of each kind, rows are random.

    Arguments:
        by: the columns that name a group.
        column: the column to average.
        kind: the kind of its values; `NUMBER` for differences.
        units: kind of cluster -> the columns that name its clusters; two kinds are crossed. By default, rows are
            independent.
        resampled: whether intervals are plain percentiles of a bootstrap of rows, or of one kind of cluster and of the rows
            within each that was drawn, as in the figures of some papers. They are too narrow with few clusters.

    Raises:
        UsageError: several kinds of cluster are resampled.

    >>> table = pl.DataFrame({"suite": ["a", "a", "b", "b", "c", "c"], "seed": [1, 2] * 3, "score": [1.0, 1, 0, 0, 1, 0]})
    >>> units = {"suites": ["suite"], "models": ["seed"]}
    >>> means(table.with_columns(all=1), ["all"], "score", Kind.SHARE, units)["method"].item()
    'Wilson with t(2.91); random: models, suites; only 2 models'
    """
    if resampled and len(units or {}) > 1:
        raise UsageError("units", ", ".join(units or {}), "one kind of cluster, to be resampled")
    rows = []
    for group, members in table.group_by(by, maintain_order=True):
        labels = {
            name: members.select(pl.concat_str(*columns, separator="/")).to_series().to_list()
            for name, columns in (units or {}).items()
        }
        counts = [len(set(names)) for names in labels.values()]
        values = members[column].to_numpy()
        if resampled:
            found = _resampled(values, labels, "/".join(map(str, group)))
        elif max(counts, default=0) > 1:
            found = cluster_intervals.of_clusters(values, kind, labels)
        else:
            found = interval.of_items(values, kind, "rows")
        rows.append(
            (*group, float(values.mean()), found.low, found.high, len(values), min(counts, default=0), found.method)
        )
    schema = {name: table.schema[name] for name in by} | _SCHEMA
    return pl.DataFrame(rows, schema=schema, orient="row")


def _resampled(values: Numbers, labels: Mapping[str, Sequence[str]], key: str) -> Interval:
    """Return the percentile interval of a bootstrap of rows, or of clusters and of the rows within each that was drawn."""
    parts, kind = [values], "rows"
    for name, of_rows in labels.items():
        kind = f"{name} and rows within"
        parts = [values[[other == label for other in of_rows]] for label in dict.fromkeys(of_rows)]
    resampling, count = bootstrap.current(), len(parts) if labels else len(values)
    drawn = bootstrap.counts(len(parts), key)
    source = bootstrap.generator(f"{key}, rows", resampling.seed)
    sums = np.zeros(len(drawn))
    for times, part in zip(drawn.T, parts, strict=True):
        sums += source.multinomial(times * len(part), np.full(len(part), 1 / len(part))) @ part
    low, high = np.percentile(sums / (drawn @ [len(part) for part in parts]), (2.5, 97.5)) if count > 1 else (nan, nan)
    return Interval(float(low), float(high), f"percentile {resampling.method(kind, count)}")


_SCHEMA = {
    "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "units": pl.Int64, "method": pl.String,
}  # fmt: skip
