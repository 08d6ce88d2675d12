"""Accuracy by a property of items, in bins with about equal numbers of items; equal values share a bin.

Items of the same suite are similar, so the bootstrap resamples suites, and items within them. If suites differ a lot,
intervals are far wider than for the same number of independent items.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.stats import bootstrap

SCHEMA = {
    "model": pl.String, "property": pl.String, "start": pl.Float64, "end": pl.Float64, "middle": pl.Float64,
    "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "suites": pl.Int64, "method": pl.String,
}  # fmt: skip
BINS, DRAWS = 10, 1000
METHOD = bootstrap.Resampling(DRAWS).method("suites, and items within them")

Numbers = NDArray[np.float64]


def curves(pairs: pl.DataFrame, properties: Sequence[str], bins: int = BINS) -> pl.DataFrame:
    """Compute accuracy with its interval, and the mean of the property, for each model, property and bin.

    The result has the columns of `SCHEMA`.

    Arguments:
        pairs: a table with the columns model, suite, value (1, 0 or nan) and one numeric column for each property. Rows
            without a finite property or without a value are excluded.
        properties: the names of the properties.
        bins: the maximum number of bins for each model.
    """
    rows: list[tuple[object, ...]] = []
    for (model,), table in pairs.group_by("model", maintain_order=True):
        for name in properties:
            kept = table.filter(pl.col("value").is_not_nan() & pl.col(name).is_finite())
            rows += [(model, name, *numbers, METHOD) for numbers in _bins(kept, name, bins)]
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
    suites = table["suite"].rank("dense").to_numpy().astype(int) - 1
    shape = int(suites.max()) + 1, len(borders) - 1
    counts, correct = np.zeros(shape, int), np.zeros(shape, int)
    np.add.at(counts, (suites, places), 1)
    np.add.at(correct, (suites, places), values.astype(int))
    low, high = _interval(counts, correct)
    n, sums = counts.sum(0), np.bincount(places, numbers, minlength=shape[1])
    return [
        (
            float(borders[at]), float(borders[at + 1]), float(sums[at] / n[at]), float(correct[:, at].sum() / n[at]),
            float(low[at]), float(high[at]), int(n[at]), int((counts[:, at] > 0).sum()),
        )
        for at in range(shape[1])
        if n[at]
    ]  # fmt: skip


def _interval(counts: NDArray[np.int64], correct_counts: NDArray[np.int64]) -> Numbers:
    """Return the ends of the intervals; nan for a bin of one item. Shape (2, bins)."""
    # A draw depends only on the numbers of items and of correct items of each suite and bin. So suites are drawn from a
    # multinomial and correct items from binomial distributions, in a time that doesn't depend on the number of items.
    generator = np.random.default_rng([bootstrap.SEED, *counts.shape])
    suites = len(counts)
    times = generator.multinomial(suites, np.full(suites, 1 / suites), size=DRAWS)
    sampled_counts = times[:, :, None] * counts
    correct = generator.binomial(sampled_counts, correct_counts / np.maximum(counts, 1)).sum(1)
    total = sampled_counts.sum(1)
    # A bin that is empty in a draw has no value in this draw.
    shares = np.where(total > 0, correct / np.maximum(total, 1), np.nan)
    shares[:, counts.sum(0) < 2] = np.nan
    ends = np.full((2, counts.shape[1]), np.nan)
    defined = np.isfinite(shares).any(0)
    ends[:, defined] = np.nanpercentile(shares[:, defined], bootstrap.PERCENTILES, axis=0)
    return ends
