"""Means of groups with intervals by two-stage resampling: units first, then rows within each drawn unit.

Rows that share a unit, say, the corpus a model was trained on, go up and down together. So the units are redrawn with
replacement, as many as there are, and within each drawn unit its rows; the mean is over all rows drawn (Davison & Hinkley
1997, section 3.8; what seaborn calls `units`). Without units, rows are redrawn. Percentile bootstrap, 95%.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from syntagm.analysis import interval
from syntagm.analysis.interval import DRAWS, SEED, Draws

NUMBERS = ("value", "low", "high", "n", "units", "method")


def redrawn_means(values: ArrayLike, units: Sequence[str], key: str, draws: int = DRAWS, seed: int = SEED) -> Draws:
    """Means of values redrawn in two stages. Shape (draws,), in the unit of the values; nan with fewer than two values.

    Arguments:
        values: shape (rows,).
        units: the unit of each row.
        key: what the numbers are about: the random numbers depend on it and on `seed` only.

    >>> redrawn_means([0, 0, 1, 1], ["a", "a", "b", "b"], "toy", draws=4).tolist()  # both, twice a, or twice b
    [0.0, 0.5, 0.5, 1.0]
    """
    array = np.asarray(values, np.float64)
    if len(array) < 2 or not np.isfinite(array).all():
        return np.full(draws, np.nan)
    labels = np.asarray(units, dtype=str)
    groups = [np.sort(array[labels == unit]) for unit in np.unique(labels)]
    generator = interval.generator(key, seed)
    chosen = generator.integers(0, len(groups), size=(draws, len(groups)))
    sums, rows = np.zeros(draws), np.zeros(draws)
    for index, group in enumerate(groups):
        times = (chosen == index).sum(axis=1)
        found = interval.resampled_means(group, generator, int(times.sum())) * len(group)
        sums += np.bincount(np.repeat(np.arange(draws), times), found, draws)
        rows += times * len(group)
    means: Draws = sums / rows
    return means


def means(table: pl.DataFrame, by: Sequence[str], column: str, units: str = "") -> pl.DataFrame:
    """The mean of a column for each group, in the order of first appearance: columns `by`, and `NUMBERS`.

    n counts rows, `units` units (0 without). With one unit only, rows are redrawn; with one row there is no interval.

    Arguments:
        by: columns that name a group.
        units: the column to redraw by; empty: rows are redrawn.
    """
    rows = []
    for group, part in table.group_by(by, maintain_order=True):
        names = [str(name) for name in group]
        rows.append(
            (
                *group,
                *_numbers(
                    part[column].to_numpy(),
                    part[units].cast(pl.String).to_list() if units else [],
                    units,
                    "/".join((column, *names)),
                ),
            )
        )
    schema = {name: table.schema[name] for name in by} | _SCHEMA
    return pl.DataFrame(rows, schema=schema, orient="row")


def _numbers(values: NDArray[np.float64], labels: Sequence[str], units: str, key: str) -> tuple[object, ...]:
    several = len(set(labels)) > 1
    found = redrawn_means(values, labels, key) if several else interval.redrawn_means(values, key)
    low, high = interval.interval(found)
    redrawn = f"{units}, then rows" if several else "rows"
    method = f"bootstrap({redrawn}, {DRAWS}, seed {SEED})" if len(values) > 1 else "no interval: one row"
    return float(values.mean()), low, high, len(values), len(set(labels)), method


_SCHEMA = {
    "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "units": pl.Int64, "method": pl.String,
}  # fmt: skip
