"""Several numbers a row, redrawn together: rows are drawn with replacement, and nan are left out in each draw."""

import numpy as np
from numpy.typing import NDArray

from syntagm.stats import bootstrap
from syntagm.stats.bootstrap import DRAWS, PERCENTILES, SEED

_CHUNK = 1 << 20


def means(values: NDArray[np.float64], key: str, draws: int = DRAWS, seed: int = SEED) -> NDArray[np.float64]:
    """The mean of each column over the rows redrawn. Shape (draws, columns); nan where a draw has no value.

    Arguments:
        values: shape (rows, columns); nan is undefined. With fewer than two rows the means are nan.
        key: whose rows these are: the random numbers depend on it and on `seed` only.

    >>> values = np.array([[0.0, 1.0], [1.0, np.nan], [1.0, 1.0]])
    >>> means(values, "agreement", draws=3).round(2).tolist()
    [[0.33, 1.0], [1.0, 1.0], [0.67, 1.0]]
    """
    rows, columns = values.shape
    found = np.full((draws, columns), np.nan)
    if rows < 2:
        return found
    defined = ~np.isnan(values)
    both = np.hstack([np.where(defined, values, 0.0), defined])
    generator = bootstrap.generator(key, seed)
    at_once = max(1, _CHUNK // rows)
    for first in range(0, draws, at_once):
        many = min(at_once, draws - first)
        places = generator.integers(0, rows, size=(many, rows)) + rows * np.arange(many)[:, None]
        times = np.bincount(places.ravel(), minlength=many * rows).reshape(many, rows)
        sums = times.astype(np.float64) @ both
        with np.errstate(invalid="ignore"):
            found[first : first + many] = sums[:, :columns] / sums[:, columns:]
    return found


def ends(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """The 2.5th and 97.5th percentile of each column, without the draws that have no value there. Shape (2, columns).

    Arguments:
        draws: as `means` gives them. Columns without any value have the ends nan.

    >>> ends(np.array([[0.0, np.nan], [np.nan, np.nan], [1.0, np.nan]])).round(3).tolist()
    [[0.025, nan], [0.975, nan]]
    """
    held = ~np.isnan(draws).all(axis=0)
    found = np.full((2, draws.shape[1]), np.nan)
    found[:, held] = np.nanpercentile(draws[:, held], PERCENTILES, axis=0)
    return found


def estimated(values: NDArray[np.float64], key: str) -> list[tuple[float, float, float, int]]:
    """Of each column the mean, the two ends of its interval, and how many rows are defined; undefined ones are left out.

    With fewer than two defined rows there is no interval (nan), without any no mean. Arguments as of `means`.

    >>> [(mean, n) for mean, _, _, n in estimated(np.array([[0.0, np.nan], [1.0, np.nan]]), "agreement")]
    [(0.5, 2), (nan, 0)]
    """
    low, high = ends(means(values, key))
    found = []
    for number in range(values.shape[1]):
        defined = values[~np.isnan(values[:, number]), number]
        mean = float(defined.mean()) if len(defined) else np.nan
        between = (float(low[number]), float(high[number])) if len(defined) > 1 else (np.nan, np.nan)
        found.append((mean, *between, len(defined)))
    return found
