"""Intervals where items hang together: the score of a suite with its clusters redrawn, beside the same with items redrawn.

Items that share a word, a frame or a source sentence go up and down together, so that a suite of 16,800 pairs over seven
verbs says less about other verbs than 16,800 draws would. Clusters are redrawn with replacement, as many as there are, and
the items within each drawn cluster (two stages, as `stats.units`); the mean is over all items drawn. The design effect is
the variance of these means over that of means with items redrawn: n items are worth n / effect independent ones.

Percentile intervals from few clusters are too narrow: below some twenty take them for a lower bound (Cameron, Gelbach & Miller
2008). Where items are crossed (each verb with each subject) one kind of cluster covers its own words only; a logistic model
with both as random effects (`stats.mixed.logistic`) covers both.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from syntagm.stats import bootstrap, units
from syntagm.stats.bootstrap import DRAWS, SEED

FEW = 20


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
    of_clusters = units.redrawn_means(array, labels, key) if count > 1 else np.full(DRAWS, np.nan)
    spreads = float(of_items.var()), float(of_clusters.var())
    return Clustered(
        float(array.mean()) if len(array) else np.nan,
        *bootstrap.interval(of_items),
        *bootstrap.interval(of_clusters),
        spreads[1] / spreads[0] if spreads[0] > 0 and spreads[1] > 0 else np.nan,
        len(array),
        count,
    )
