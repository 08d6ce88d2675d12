"""Cluster bootstrap: intervals for means of items that are not independent.

Items that share a word, a frame or a source sentence are correlated: a suite of 16,800 pairs with seven verbs tells
less about other verbs than 16,800 independent pairs would. The bootstrap has two stages (Davison & Hinkley 1997,
section 3.8): it resamples clusters with replacement, and the items within each sampled cluster; the mean is over all
sampled items. (seaborn calls clusters `units`.) Without clusters, rows are resampled. The design effect is the variance
of these means divided by their variance in a bootstrap over items: n items contain as much information as n / effect
independent ones.

Percentile intervals from few clusters are too narrow. With fewer than about twenty clusters, the true interval is at
least as wide (Cameron, Gelbach & Miller 2008). If items are crossed (for example, each verb with each subject),
clusters cover only one of the two groupings; a logistic model with both as random effects (`stats.mixed.logistic`)
covers both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from syntagm.stats import bootstrap
from syntagm.stats.bootstrap import DEFAULT, DRAWS, SEED, Draws

FEW = 20
NUMBERS = ("value", "low", "high", "n", "units", "method")
# The number of random numbers drawn at a time, which bounds the memory.
_CHUNK = 1 << 17


@dataclass(frozen=True, slots=True)
class Clustered:
    """A mean with two intervals.

    Arguments:
        low, high: the interval from a bootstrap over items.
        clustered_low, clustered_high: the interval from a bootstrap over clusters and the items within them; nan with
            one cluster.
        effect: the design effect; nan if one of the two variances is 0.
        n, clusters: the number of items and of clusters.
    """

    value: float
    low: float
    high: float
    clustered_low: float
    clustered_high: float
    effect: float
    n: int
    clusters: int

    @property
    def method(self) -> str:
        """The method of the clustered interval."""
        if self.clusters < 2:
            return "no interval: fewer than two clusters"
        few = f"; only {self.clusters} clusters" if self.clusters < FEW else ""
        return f"{DEFAULT.method('clusters, then items')}{few}"


def clustered(values: ArrayLike, clusters: Sequence[str], key: str) -> Clustered:
    """Compute the mean of items with both intervals, excluding nan.

    Arguments:
        values: one number for each item. Shape (items,).
        clusters: the cluster of each item.
        key: a name for the data, for example that of the suite; the random numbers depend on it.

    >>> estimate = clustered([0, 0, 1, 1], ["swim", "swim", "laugh", "laugh"], "agreement")
    >>> estimate.value, (estimate.low, estimate.high), (estimate.clustered_low, estimate.clustered_high)
    (0.5, (0.0, 1.0), (0.0, 1.0))
    >>> round(estimate.effect, 1)  # two clusters without variance inside: twice the variance of four items
    2.0
    """
    array = np.asarray(values, np.float64)
    kept = ~np.isnan(array)
    labels = [label for label, keep in zip(clusters, kept, strict=True) if keep]
    array, count = array[kept], len(set(labels))
    of_items = bootstrap.resampled_means(array, key)
    of_clusters = resampled_means(array, labels, key) if count > 1 else np.full(DRAWS, np.nan)
    spreads = float(of_items.var()), float(of_clusters.var())
    return Clustered(
        float(array.mean()) if len(array) else np.nan,
        *bootstrap.interval(of_items),
        *bootstrap.interval(of_clusters),
        spreads[1] / spreads[0] if spreads[0] > 0 and spreads[1] > 0 else np.nan,
        len(array),
        count,
    )


def resampled_means(
    values: ArrayLike, clusters: Sequence[str], key: str, draws: int = DRAWS, seed: int = SEED
) -> Draws:
    """Compute the means of values resampled in two stages. Shape (draws,), in the unit of the values.

    The means are nan with fewer than two values.

    Arguments:
        values: shape (rows,).
        clusters: the cluster of each row.
        key: a name for the data; the random numbers depend only on it and on `seed`.
        draws: the number of bootstrap samples.

    >>> resampled_means([0, 0, 1, 1], ["a", "a", "b", "b"], "toy", draws=4).tolist()  # both, twice a, or twice b
    [0.0, 0.5, 0.5, 1.0]
    """
    array = np.asarray(values, np.float64)
    if len(array) < 2 or not np.isfinite(array).all():
        return np.full(draws, np.nan)
    groups = _groups(array, clusters)
    generator = bootstrap.generator(key, seed)
    counts_of_clusters = _counts(len(groups), draws, generator)
    sums, rows = np.zeros(draws), np.zeros(draws)
    for group, counts in zip(groups, counts_of_clusters, strict=True):
        times = counts.astype(np.int64)
        sampled_means = bootstrap.resampled_means_from(group, generator, int(times.sum())) * len(group)
        sums += np.bincount(np.repeat(np.arange(draws), times), sampled_means, draws)
        rows += times * len(group)
    means: Draws = sums / rows
    return means


def means(table: pl.DataFrame, by: Sequence[str], column: str, units: str = "") -> pl.DataFrame:
    """Compute the mean of a column with its interval for each group, in the order of first appearance.

    The columns of the result are `by` and `NUMBERS`: n is the number of rows, and `units` is the number of clusters (0
    without clusters). With a single cluster, rows are resampled; with a single row there is no interval.

    Arguments:
        by: the columns that name a group.
        column: the column to average.
        units: the column that names clusters; if empty, rows are resampled.
    """
    rows = []
    for group, table_of_group in table.group_by(by, maintain_order=True):
        labels = table_of_group[units].cast(pl.String).to_list() if units else []
        key = "/".join((column, *(str(name) for name in group)))
        rows.append((*group, *_numbers(table_of_group[column].to_numpy(), labels, units, key)))
    schema = {name: table.schema[name] for name in by} | _SCHEMA
    return pl.DataFrame(rows, schema=schema, orient="row")


def _groups(values: NDArray[np.float64], clusters: Sequence[str]) -> list[NDArray[np.float64]]:
    """Return the values of each cluster in ascending order; clusters are in the order of their names."""
    _, places, sizes = np.unique(np.asarray(clusters, dtype=str), return_inverse=True, return_counts=True)
    ordered = values[np.argsort(places, kind="stable")]
    return [np.sort(part) for part in np.split(ordered, np.cumsum(sizes)[:-1])]


def _counts(count: int, draws: int, source: np.random.Generator) -> NDArray[np.unsignedinteger[Any]]:
    """Return how often each of `count` clusters occurs in each bootstrap sample. Shape (count, draws)."""
    chunks = bootstrap.resampled_counts(source, count, draws, _CHUNK)
    # A cluster rarely occurs more than a dozen times, so a byte is enough; a chunk with larger counts has a larger
    # type.
    return np.concatenate([counts.T.astype(np.min_scalar_type(counts.max())) for counts in chunks], axis=1)


def _numbers(values: NDArray[np.float64], labels: Sequence[str], units: str, key: str) -> tuple[object, ...]:
    has_clusters = len(set(labels)) > 1
    sampled_means = resampled_means(values, labels, key) if has_clusters else bootstrap.resampled_means(values, key)
    low, high = bootstrap.interval(sampled_means)
    resampled = f"{units}, then rows" if has_clusters else "rows"
    method = DEFAULT.method(resampled) if len(values) > 1 else "no interval: one row"
    return float(values.mean()), low, high, len(values), len(set(labels)), method


_SCHEMA = {
    "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "units": pl.Int64, "method": pl.String,
}  # fmt: skip
