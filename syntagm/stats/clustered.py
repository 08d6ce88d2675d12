"""Intervals where rows hang together: means with clusters redrawn, and of a suite's score the same beside items redrawn.

Items that share a word, a frame or a source sentence go up and down together, so that a suite of 16,800 pairs over seven
verbs says less about other verbs than 16,800 draws would. Clusters are redrawn with replacement, as many as there are, and
the items within each drawn cluster (two stages: Davison & Hinkley 1997, section 3.8; seaborn calls clusters `units`); the mean is
over all items drawn. Without clusters, rows are redrawn. The design effect is the variance of these means over that of means
with items redrawn: n items are worth n / effect independent ones.

Percentile intervals from few clusters are too narrow: below some twenty take them for a lower bound (Cameron, Gelbach & Miller
2008). Where items are crossed (each verb with each subject) one kind of cluster covers its own words only; a logistic model
with both as random effects (`stats.mixed.logistic`) covers both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from syntagm.stats import bootstrap
from syntagm.stats.bootstrap import DRAWS, SEED, Draws

FEW = 20
NUMBERS = ("value", "low", "high", "n", "units", "method")
# So many numbers are drawn at a time, whatever the clusters and draws are: it bounds the memory.
_CHUNK = 1 << 17


@dataclass(frozen=True, slots=True)
class Clustered:
    """A mean with two intervals.

    Arguments:
        low, high: with items redrawn.
        clustered_low, clustered_high: with clusters redrawn, then items; nan with one cluster.
        effect: the design effect; nan where one of the two has no spread.
        n, clusters: how many items and clusters.
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
        """How the clustered interval was made."""
        if self.clusters < 2:
            return "no interval: fewer than two clusters"
        few = f"; only {self.clusters} clusters" if self.clusters < FEW else ""
        return f"bootstrap(clusters, then items, {DRAWS}, seed {SEED}){few}"


def clustered(values: ArrayLike, clusters: Sequence[str], key: str) -> Clustered:
    """The mean of some items with both intervals; nan are left out.

    Arguments:
        values: one number an item. Shape (items,).
        clusters: the cluster of each item.
        key: what the numbers are about, e.g. the suite: the random numbers depend on it.

    >>> found = clustered([0, 0, 1, 1], ["swim", "swim", "laugh", "laugh"], "agreement")
    >>> found.value, (found.low, found.high), (found.clustered_low, found.clustered_high)
    (0.5, (0.0, 1.0), (0.0, 1.0))
    >>> round(found.effect, 1)  # two clusters without spread inside: twice the variance of four items
    2.0
    """
    array = np.asarray(values, np.float64)
    kept = ~np.isnan(array)
    labels = [label for label, keep in zip(clusters, kept, strict=True) if keep]
    array, count = array[kept], len(set(labels))
    of_items = bootstrap.redrawn_means(array, key)
    of_clusters = redrawn_means(array, labels, key) if count > 1 else np.full(DRAWS, np.nan)
    spreads = float(of_items.var()), float(of_clusters.var())
    return Clustered(
        float(array.mean()) if len(array) else np.nan,
        *bootstrap.interval(of_items),
        *bootstrap.interval(of_clusters),
        spreads[1] / spreads[0] if spreads[0] > 0 and spreads[1] > 0 else np.nan,
        len(array),
        count,
    )


def redrawn_means(values: ArrayLike, clusters: Sequence[str], key: str, draws: int = DRAWS, seed: int = SEED) -> Draws:
    """Means of values redrawn in two stages. Shape (draws,), in the unit of the values; nan with fewer than two values.

    Arguments:
        values: shape (rows,).
        clusters: the cluster of each row.
        key: what the numbers are about: the random numbers depend on it and on `seed` only.

    >>> redrawn_means([0, 0, 1, 1], ["a", "a", "b", "b"], "toy", draws=4).tolist()  # both, twice a, or twice b
    [0.0, 0.5, 0.5, 1.0]
    """
    array = np.asarray(values, np.float64)
    if len(array) < 2 or not np.isfinite(array).all():
        return np.full(draws, np.nan)
    groups = _groups(array, clusters)
    generator = bootstrap.generator(key, seed)
    often = _often(len(groups), draws, generator)
    sums, rows = np.zeros(draws), np.zeros(draws)
    for group, counts in zip(groups, often, strict=True):
        times = counts.astype(np.int64)
        found = bootstrap.resampled_means(group, generator, int(times.sum())) * len(group)
        sums += np.bincount(np.repeat(np.arange(draws), times), found, draws)
        rows += times * len(group)
    means: Draws = sums / rows
    return means


def means(table: pl.DataFrame, by: Sequence[str], column: str, units: str = "") -> pl.DataFrame:
    """The mean of a column for each group, in the order of first appearance: columns `by`, and `NUMBERS`.

    n counts rows, `units` clusters (0 without). With one cluster only, rows are redrawn; with one row there is no interval.

    Arguments:
        by: columns that name a group.
        units: the column that names clusters; empty: rows are redrawn.
    """
    rows = []
    for group, part in table.group_by(by, maintain_order=True):
        labels = part[units].cast(pl.String).to_list() if units else []
        key = "/".join((column, *(str(name) for name in group)))
        rows.append((*group, *_numbers(part[column].to_numpy(), labels, units, key)))
    schema = {name: table.schema[name] for name in by} | _SCHEMA
    return pl.DataFrame(rows, schema=schema, orient="row")


def _groups(values: NDArray[np.float64], clusters: Sequence[str]) -> list[NDArray[np.float64]]:
    """The values of each cluster, ascending; clusters in the order of their names."""
    _, places, sizes = np.unique(np.asarray(clusters, dtype=str), return_inverse=True, return_counts=True)
    ordered = values[np.argsort(places, kind="stable")]
    return [np.sort(part) for part in np.split(ordered, np.cumsum(sizes)[:-1])]


def _often(count: int, draws: int, source: np.random.Generator) -> NDArray[np.unsignedinteger[Any]]:
    """How often each of `count` clusters is drawn in each draw of as many. Shape (count, draws)."""
    parts = bootstrap.how_often(source, count, draws, _CHUNK)
    # A cluster is rarely drawn more than a dozen times: a byte holds that, and a part that needs more has more.
    return np.concatenate([often.T.astype(np.min_scalar_type(often.max())) for often in parts], axis=1)


def _numbers(values: NDArray[np.float64], labels: Sequence[str], units: str, key: str) -> tuple[object, ...]:
    several = len(set(labels)) > 1
    found = redrawn_means(values, labels, key) if several else bootstrap.redrawn_means(values, key)
    low, high = bootstrap.interval(found)
    redrawn = f"{units}, then rows" if several else "rows"
    method = f"bootstrap({redrawn}, {DRAWS}, seed {SEED})" if len(values) > 1 else "no interval: one row"
    return float(values.mean()), low, high, len(values), len(set(labels)), method


_SCHEMA = {
    "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "units": pl.Int64, "method": pl.String,
}  # fmt: skip
