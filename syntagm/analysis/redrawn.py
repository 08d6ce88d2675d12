"""Several numbers a row, redrawn together: rows are drawn with replacement, and nan are left out in each draw."""

import numpy as np
from numpy.typing import NDArray

from syntagm.analysis import interval
from syntagm.analysis.interval import DRAWS, SEED

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
    generator = interval.generator(key, seed)
    at_once = max(1, _CHUNK // rows)
    for first in range(0, draws, at_once):
        many = min(at_once, draws - first)
        places = generator.integers(0, rows, size=(many, rows)) + rows * np.arange(many)[:, None]
        times = np.bincount(places.ravel(), minlength=many * rows).reshape(many, rows)
        sums = times.astype(np.float64) @ both
        with np.errstate(invalid="ignore"):
            found[first : first + many] = sums[:, :columns] / sums[:, columns:]
    return found
