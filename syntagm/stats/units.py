"""Means of groups with intervals by two-stage resampling: units first, then rows within each drawn unit.

Rows that share a unit, say, the corpus a model was trained on, go up and down together. So the units are redrawn with
replacement, as many as there are, and within each drawn unit its rows; the mean is over all rows drawn (Davison & Hinkley
1997, section 3.8; what seaborn calls `units`). Without units, rows are redrawn. Percentile bootstrap, 95%.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from syntagm.stats import bootstrap
from syntagm.stats.bootstrap import DRAWS, SEED, Draws

NUMBERS = ("value", "low", "high", "n", "units", "method")
# So many numbers are drawn at a time, whatever the units and draws are: it bounds the memory.
_CHUNK = 1 << 17


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
    groups = _groups(array, units)
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


def _groups(values: NDArray[np.float64], units: Sequence[str]) -> list[NDArray[np.float64]]:
    """The values of each unit, ascending; units in the order of their names."""
    _, places, sizes = np.unique(np.asarray(units, dtype=str), return_inverse=True, return_counts=True)
    ordered = values[np.argsort(places, kind="stable")]
    return [np.sort(part) for part in np.split(ordered, np.cumsum(sizes)[:-1])]


def _often(count: int, draws: int, source: np.random.Generator) -> NDArray[np.unsignedinteger[Any]]:
    """How often each of `count` units is drawn in each draw of as many. Shape (count, draws)."""
    parts = []
    rows = max(1, _CHUNK // count)
    for start in range(0, draws, rows):
        drawn = min(rows, draws - start)
        chosen = source.integers(0, count, size=(drawn, count)) + count * np.arange(drawn)[:, None]
        often = np.bincount(chosen.ravel(), minlength=drawn * count).reshape(drawn, count)
        # A unit is rarely drawn more than a dozen times: a byte holds that, and a part that needs more has more.
        parts.append(often.T.astype(np.min_scalar_type(often.max())))
    return np.concatenate(parts, axis=1)


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
