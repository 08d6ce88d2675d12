"""Accuracy by a property of items, in bins with about equal numbers of items; equal values share a bin.

Items of a suite are similar, so suites are random, with their items: the variance of a bin is that of the sums of its
suites. If suites differ much, intervals are far wider than those of the same number of independent items. With
`suites="fixed"`, or in a bin of one suite, items are random.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.evaluation import Kind
from syntagm.stats import cluster_intervals

SCHEMA = {
    "model": pl.String, "property": pl.String, "start": pl.Float64, "end": pl.Float64, "middle": pl.Float64,
    "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "suites": pl.Int64, "method": pl.String,
}  # fmt: skip
BINS = 10

Numbers = NDArray[np.float64]


def curves(pairs: pl.DataFrame, properties: Sequence[str], bins: int = BINS) -> pl.DataFrame:
    """Compute accuracy with its interval, and the mean of the property, for each model, property and bin."""
    # The result has the columns of `SCHEMA`.
    rows: list[tuple[object, ...]] = []
    for (model,), table in pairs.group_by("model", maintain_order=True):
        for name in properties:
            kept = table.filter(pl.col("value").is_not_nan() & pl.col(name).is_finite())
            rows += [(model, name, *numbers) for numbers in _bins(kept, name, bins)]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def edges(values: Numbers, bins: int) -> Numbers:
    """Return the edges of bins with equal counts. There are fewer bins if values are equal. Bins include their upper edge.

    >>> edges(np.array([1.0, 2, 3, 4]), 2).tolist(), edges(np.array([5.0, 5, 5, 5]), 2).tolist()
    ([1.0, 2.0, 4.0], [5.0, 5.0])
    """
    ends = np.unique(np.quantile(values, np.arange(1, bins + 1) / bins, method="inverted_cdf"))
    return np.concatenate([[values.min()], ends])


def _bins(table: pl.DataFrame, name: str, bins: int) -> list[tuple[object, ...]]:
    if table.is_empty():
        return []
    numbers, values = table[name].cast(pl.Float64).to_numpy(), table["value"].to_numpy()
    borders = edges(numbers, bins)
    places = np.searchsorted(borders[1:], numbers, side="left")
    suites = table["suite"].rank("dense").to_numpy().astype(int)
    rows: list[tuple[object, ...]] = []
    for place, (start, end) in enumerate(pairwise(borders)):
        inside = places == place
        if n := int(inside.sum()):
            count = len(np.unique(suites[inside]))
            found = cluster_intervals.of_items(values[inside], Kind.VERDICT, suites[inside])
            means = float(numbers[inside].mean()), float(values[inside].mean())
            rows.append((float(start), float(end), *means, found.low, found.high, n, count, found.method))
    return rows
