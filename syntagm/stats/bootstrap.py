"""Which units are random, and the bootstrap for numbers whose interval has no formula.

`Resampling` is the only setting of intervals and tests: whether suites are random or fixed, and how bootstrap samples
are drawn. It is set for a block of code with `using`, so that every number of a page follows the same design. Intervals
of means are computed (`stats.interval`). Positions of crossings and areas between curves are bootstrapped: units are
resampled with replacement, and the interval lies between percentiles that are expanded for few units (Hesterberg
2015, section 5).
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import sqrt
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syntagm.core import Progress, UsageError, public

# Percentiles and p-values of fewer samples than the last are meaningless.
DRAWS, SEED, LEAST = 2_000, 1, 100
# With fewer units than this, an interval is said to rest on few.
FEW = 10
Suites = Literal["random", "fixed"]

Draws = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
@public
class Resampling:
    """Which units are random, and how to resample.

    Arguments:
        suites: "random": suites are a sample of those that could have been written, and numbers over several suites
            generalise to other suites. "fixed": numbers are about these suites alone, and only their items are
            random.
        draws: the number of bootstrap samples, at least 100.
        seed: the seed of the bootstrap's random numbers.
        simulated: the number of responses that are simulated for each likelihood-ratio test of linear models, at least
            100, or 0 for the chi-squared distribution. None: as many as `mixed.few_groups` needs where groups are few,
            otherwise 0, as always in logistic models, unless it is 0.

    Raises:
        UsageError: a value is not allowed.
    """

    suites: Suites = "random"
    draws: int = DRAWS
    seed: int = SEED
    simulated: int | None = None

    def __post_init__(self) -> None:
        if self.suites not in get_args(Suites):
            raise UsageError("suites", repr(self.suites), "random or fixed")
        if self.draws < LEAST:
            raise UsageError("draws", str(self.draws), f"at least {LEAST}")
        if self.seed < 0:
            raise UsageError("seed", str(self.seed), "at least 0")
        if self.simulated and self.simulated < LEAST:
            raise UsageError("simulated", str(self.simulated), f"at least {LEAST}, or 0")

    def method(self, units: str, count: int) -> str:
        """Name the bootstrap over a number of units, with a remark if they are few.

        >>> Resampling(draws=500, seed=7).method("suites", 5)
        'bootstrap(suites, 500, seed 7); only 5 suites'
        """
        few = f"; only {count} {units}" if count < FEW else ""
        return f"bootstrap({units}, {self.draws}, seed {self.seed}){few}"


_CURRENT: ContextVar[Resampling] = ContextVar("resampling")
_PROGRESS: ContextVar[Progress] = ContextVar("progress")


def current() -> Resampling:
    """Return the resampling of the surrounding `using` block, or the default.

    >>> with using(Resampling(suites="fixed")):
    ...     current().suites
    'fixed'
    >>> current().suites
    'random'
    """
    return _CURRENT.get(Resampling())


def progress() -> Progress:
    """Return the progress callbacks of the surrounding `using` block, or those that do nothing."""
    return _PROGRESS.get(Progress())


@contextmanager
def using(resampling: Resampling | None, progress: Progress | None = None) -> Iterator[None]:
    """Compute the intervals and tests of a block of code with one resampling; None keeps the current one."""
    token = _CURRENT.set(resampling or current())
    reporting = _PROGRESS.set(progress or _PROGRESS.get(Progress()))
    try:
        yield
    finally:
        _PROGRESS.reset(reporting)
        _CURRENT.reset(token)


def counts(units: int, key: str) -> NDArray[np.int64]:
    """Draw how often each of some units occurs in each bootstrap sample. Shape (draws, units).

    Arguments:
        units: the number of units.
        key: the name of the units; the random numbers depend only on it, the seed and the number of units.

    >>> counts(3, "suites").sum(axis=1).tolist()[:4]
    [3, 3, 3, 3]
    """
    resampling = current()
    source = generator(key, resampling.seed)
    return source.multinomial(units, np.full(units, 1 / max(units, 1)), size=resampling.draws)


def interval(draws: ArrayLike, units: int) -> tuple[float, float]:
    """Return the 95% interval of bootstrapped numbers, which may be infinite; nan with fewer than two units.

    The percentiles are 2.5 and 97.5 for many units and further out for few, so that the interval of a mean would be as
    wide as Student's (Hesterberg 2015, eq. 19 and 20).

    Arguments:
        draws: the bootstrapped numbers. Draws that are nan have no value and are left out.
        units: the number of units that were resampled.

    >>> interval([4.0] * 60 + [np.inf] * 40, units=50)
    (4.0, inf)
    """
    from scipy.special import ndtr, stdtrit

    array = np.asarray(draws, np.float64)
    array = array[~np.isnan(array)]
    if units < 2 or not len(array):
        return np.nan, np.nan
    tail = float(ndtr(sqrt(units / (units - 1)) * stdtrit(units - 1, 0.025)))
    # Without interpolation, which would fail between a number and infinity.
    low, high = np.percentile(array, (100 * tail, 100 - 100 * tail), method="inverted_cdf")
    return float(low), float(high)


def generator(key: str, seed: int) -> np.random.Generator:
    digest = hashlib.sha256(key.encode()).digest()
    words: Sequence[int] = np.frombuffer(digest, "<u4").tolist()
    return np.random.Generator(np.random.PCG64([seed, *words]))
