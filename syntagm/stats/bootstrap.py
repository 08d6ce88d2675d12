"""Percentile bootstrap over items: intervals for means of suites, and for means over suites.

The items of a suite are resampled with replacement, 10,000 times, and the interval extends from the 2.5th to the 97.5th
percentile of the means. For a mean over several suites, items are resampled within each suite.

The random numbers depend only on the seed and the name of the suite, so a suite has the same interval in any context.
If each item has several numbers (`column_means`), whole rows are resampled, and nan is ignored in each draw.
`stats.clustered` has the cluster bootstrap, and `stats.binned` has the bootstrap over suites and their items.

With fewer than two items there is no interval (nan, nan). In a mean over suites, a suite with one item adds no
variance. If all items have the same value, the interval has no width.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syntagm.errors import UsageError

DRAWS, SEED = 10_000, 1
PERCENTILES = (2.5, 97.5)
_FEW = 8
_CHUNK = 1 << 20
_KEPT = 1 << 22

Draws = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Resampling:
    """The settings of a bootstrap: the number of draws and the seed.

    Raises:
        UsageError: there are fewer than 100 draws, too few for percentiles, or the seed is negative.
    """

    draws: int = DRAWS
    seed: int = SEED

    def __post_init__(self) -> None:
        if self.draws < 100:
            raise UsageError("draws", str(self.draws), "at least 100")
        if self.seed < 0:
            raise UsageError("seed", str(self.seed), "at least 0")

    def method(self, what: str = "items") -> str:
        """Name the method.

        >>> Resampling(2000, 7).method()
        'bootstrap(items, 2000, seed 7)'
        """
        return f"bootstrap({what}, {self.draws}, seed {self.seed})"


DEFAULT = Resampling()


def resampled_means(values: ArrayLike, key: str, draws: int = DRAWS, seed: int = SEED) -> Draws:
    """Compute the means of resampled values. Shape (draws,), in the unit of the values.

    Arguments:
        values: one number for each item. Shape (items,). The means are nan with fewer than two items, or if a value is
            not finite.
        key: a name for the items, such as that of the suite; the random numbers depend only on it and on `seed`.
        draws: the number of bootstrap samples.

    >>> resampled_means([0, 1, 1], "agreement", draws=4).round(2).tolist()  # possible means: 0, 1/3, 2/3, 1
    [1.0, 0.67, 0.33, 1.0]
    """
    array = np.sort(np.asarray(values, np.float64), axis=None)
    if len(array) < 2 or not np.isfinite(array).all():
        return np.full(draws, np.nan)
    if few := _few(array):
        return _of_few(*few, key, draws, seed)
    return _by_items(array, generator(key, seed), draws)


def _few(ordered: Draws) -> tuple[tuple[float, ...], tuple[int, ...]] | None:
    """Return the distinct values and their counts, or None if there are too many."""
    distinct, counts = np.unique(ordered, return_counts=True)
    return (tuple(distinct.tolist()), tuple(counts.tolist())) if len(distinct) <= _FEW else None


# The verdicts of a suite are used in many numbers: its accuracy, means over suites, comparisons of models. So the
# counts of each value in each draw are cached, in as few bytes as possible; the count of the last value follows from
# the others.
@lru_cache(maxsize=2048)
def _cached_counts(counts: tuple[int, ...], key: str, draws: int, seed: int) -> NDArray[np.unsignedinteger[Any]]:
    counts_of_draws = _multinomial(np.array(counts), generator(key, seed), draws)
    return counts_of_draws[:, :-1].astype(np.min_scalar_type(sum(counts)))


def _of_few(distinct: tuple[float, ...], counts: tuple[int, ...], key: str, draws: int, seed: int) -> Draws:
    kept, n = _cached_counts(counts, key, draws, seed), sum(counts)
    counts_of_draws = np.empty((draws, len(distinct)))
    counts_of_draws[:, :-1] = kept
    counts_of_draws[:, -1] = n - counts_of_draws[:, :-1].sum(axis=1)
    means: Draws = counts_of_draws @ np.array(distinct) / n
    return means


@lru_cache(maxsize=4096)
def _interval_of_few(
    distinct: tuple[float, ...], counts: tuple[int, ...], key: str, resampling: Resampling
) -> tuple[float, float]:
    return interval(_of_few(distinct, counts, key, resampling.draws, resampling.seed))


def resampled_means_from(values: Draws, source: np.random.Generator, draws: int) -> Draws:
    """Compute the means of resampled values, using a given random generator. Shape (draws,).

    Arguments:
        values: finite values in ascending order, so that the order of the items makes no difference. Shape (items,).
        source: the random generator.
        draws: the number of bootstrap samples.
    """
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) <= _FEW:
        return _by_counts(distinct, counts, source, draws)
    return _by_items(values, source, draws)


def resampled_means_of_each(lists: Sequence[NDArray[np.float64]], key: str, draws: int = DRAWS) -> list[Draws]:
    """Compute `resampled_means` for each list, up to numerical error; lists of the same length are resampled together.

    Arguments:
        lists: lists of numbers for one suite, for example the bits of its regions. Shapes (items,).
        key, draws: as in `resampled_means`.

    >>> lists = [np.arange(20) / 7, np.arange(20.0) ** 2]
    >>> together = resampled_means_of_each(lists, "agreement")
    >>> all(np.allclose(means, resampled_means(values, "agreement")) for means, values in zip(together, lists))
    True
    """
    results: dict[int, Draws] = {}
    same_length: dict[int, list[int]] = {}
    for place, values in enumerate(lists):
        if len(values) < 2 or not np.isfinite(values).all() or len(np.unique(values)) <= _FEW:
            results[place] = resampled_means(values, key, draws)
        else:
            same_length.setdefault(len(values), []).append(place)
    for places in same_length.values():
        means = _together(np.sort(np.array([lists[place] for place in places]), axis=1), key, draws)
        results |= dict(zip(places, means, strict=True))
    return [results[place] for place in range(len(lists))]


def column_means(values: NDArray[np.float64], key: str, draws: int = DRAWS, seed: int = SEED) -> Draws:
    """Compute the mean of each column over resampled rows. Shape (draws, columns); nan if a draw has no value.

    Arguments:
        values: the rows, shape (rows, columns); nan is undefined. With fewer than two rows, the means are nan.
        key: a name for the rows; the random numbers depend only on it and on `seed`.
        draws: the number of bootstrap samples.

    >>> values = np.array([[0.0, 1.0], [1.0, np.nan], [1.0, 1.0]])
    >>> column_means(values, "agreement", draws=3).round(2).tolist()
    [[0.33, 1.0], [1.0, 1.0], [0.67, 1.0]]
    """
    rows, columns = values.shape
    means = np.full((draws, columns), np.nan)
    if rows < 2:
        return means
    defined = ~np.isnan(values)
    both = np.hstack([np.where(defined, values, 0.0), defined])
    first = 0
    for row_counts in resampled_counts(generator(key, seed), rows, draws):
        sums = row_counts.astype(np.float64) @ both
        with np.errstate(invalid="ignore"):
            means[first : first + len(row_counts)] = sums[:, :columns] / sums[:, columns:]
        first += len(row_counts)
    return means


def column_intervals(draws: Draws) -> Draws:
    """Return the 2.5th and 97.5th percentile of each column, ignoring nan. Shape (2, columns).

    Arguments:
        draws: the means that `column_means` returns. The percentiles of a column without values are nan.

    >>> column_intervals(np.array([[0.0, np.nan], [np.nan, np.nan], [1.0, np.nan]])).round(3).tolist()
    [[0.025, nan], [0.975, nan]]
    """
    defined = ~np.isnan(draws).all(axis=0)
    ends = np.full((2, draws.shape[1]), np.nan)
    ends[:, defined] = np.nanpercentile(draws[:, defined], PERCENTILES, axis=0)
    return ends


def column_estimates(values: NDArray[np.float64], key: str) -> list[tuple[float, float, float, int]]:
    """Return the mean of each column, the two ends of its interval, and the number of defined rows.

    The interval is nan with fewer than two defined rows; the mean is nan with none. The arguments are those of
    `column_means`.

    >>> [(mean, n) for mean, _, _, n in column_estimates(np.array([[0.0, np.nan], [1.0, np.nan]]), "agreement")]
    [(0.5, 2), (nan, 0)]
    """
    low, high = column_intervals(column_means(values, key))
    estimates = []
    for number in range(values.shape[1]):
        defined = values[~np.isnan(values[:, number]), number]
        mean = float(defined.mean()) if len(defined) else np.nan
        between = (float(low[number]), float(high[number])) if len(defined) > 1 else (np.nan, np.nan)
        estimates.append((mean, *between, len(defined)))
    return estimates


def interval(means: Draws) -> tuple[float, float]:
    """Return the 2.5th and 97.5th percentile of resampled means; (nan, nan) if the means are nan."""
    # The same numbers as np.percentile, three times as fast.
    places = (len(means) - 1) * (np.array(PERCENTILES) / 100)
    below = places.astype(np.intp)
    above = np.minimum(below + 1, len(means) - 1)
    ordered = np.partition(means, [*below, *above, len(means) - 1])
    if np.isnan(ordered[-1]):
        return np.nan, np.nan
    a, b, part = ordered[below], ordered[above], places - below
    low, high = np.where(part < 0.5, a + (b - a) * part, b - (b - a) * (1 - part))
    return float(low), float(high)


def mean_over_suites(values: Mapping[str, ArrayLike], resampling: Resampling = DEFAULT) -> Draws:
    """Compute the unweighted mean over suites of the means of their resampled items. Shape (draws,).

    A suite with one item can't be resampled and stays constant. The means are nan if no suite has at least two items,
    or if a suite has no items.

    Arguments:
        values: suite -> one number for each item.
    """
    sizes = [np.size(items) for items in values.values()]
    if max(sizes, default=0) < 2 or 0 in sizes:
        return np.full(resampling.draws, np.nan)
    total = np.zeros(resampling.draws)
    for suite, items in values.items():
        several = np.size(items) > 1
        total += (
            resampled_means(items, suite, resampling.draws, resampling.seed)
            if several
            else np.asarray(items, np.float64)
        )
    means: Draws = total / len(values)
    return means


def interval_over_suites(values: Mapping[str, ArrayLike], resampling: Resampling = DEFAULT) -> tuple[float, float]:
    """Return the interval of `mean_over_suites`. The interval of a single suite is cached, because it is used often.

    >>> values = {"agreement": [0, 1, 1, 1]}
    >>> interval_over_suites(values) == interval(mean_over_suites(values))
    True
    """
    if len(values) == 1:
        [(suite, items)] = values.items()
        array = np.sort(np.asarray(items, np.float64), axis=None)
        if len(array) > 1 and np.isfinite(array).all() and (few := _few(array)):
            return _interval_of_few(*few, suite, resampling)
    return interval(mean_over_suites(values, resampling))


def method_over_suites(suites: int, resampling: Resampling = DEFAULT) -> str:
    """Return the name of the method for a mean over a number of suites.

    >>> method_over_suites(31)
    'mean of 31 suites; bootstrap(items within suites, 10000, seed 1)'
    """
    counted = "1 suite" if suites == 1 else f"{suites} suites"
    return f"mean of {counted}; {resampling.method('items within suites')}"


def remark(method: str, sizes: Mapping[str, int]) -> str:
    """Append a remark to a method's name if any suite has fewer than two items.

    Arguments:
        method: the name of the method.
        sizes: suite -> number of defined items.

    >>> remark(DEFAULT.method(), {"agreement": 1})
    'bootstrap(items, 10000, seed 1); no interval: fewer than two items in agreement'
    >>> remark(DEFAULT.method(), {"agreement": 1, "licensing": 20})
    'bootstrap(items, 10000, seed 1); one item, so no spread: agreement'
    """
    few = [suite for suite, size in sizes.items() if size < 2]
    if not few:
        return method
    none = max(sizes.values()) < 2 or 0 in sizes.values()
    reason = "no interval: fewer than two items in" if none else "one item, so no spread:"
    return f"{method}; {reason} {', '.join(few[:3])}{' ...' if len(few) > 3 else ''}"


def _by_counts(distinct: Draws, counts: NDArray[np.int64], source: np.random.Generator, draws: int) -> Draws:
    means: Draws = _multinomial(counts, source, draws) @ distinct / int(counts.sum())
    return means


def _multinomial(counts: NDArray[np.int64], source: np.random.Generator, draws: int) -> NDArray[np.int64]:
    # The counts of the values in a bootstrap sample have a multinomial distribution (for values 0 and 1, a binomial
    # one). Drawing them is equivalent to drawing items one by one, and the cost doesn't depend on the number of items.
    n = int(counts.sum())
    return source.multinomial(n, counts / n, size=draws)


def _by_items(values: Draws, source: np.random.Generator, draws: int) -> Draws:
    n = len(values)
    rows = max(1, _CHUNK // n)
    means = np.empty(draws)
    for start in range(0, draws, rows):
        chosen = source.integers(0, n, size=(min(rows, draws - start), n), dtype=np.uint32)
        means[start : start + rows] = values[chosen].mean(axis=1)
    return means


def _together(lists: NDArray[np.float64], key: str, draws: int) -> Draws:
    """Resample several lists of the same length, as in `_by_items`, with the same items in each. Shape (lists, draws)."""
    n = lists.shape[1]
    # The models of a report are resampled one after another with the same items, so the last counts are cached.
    parts = _kept(key, n, draws) if n * draws <= _KEPT else _columns(key, n, draws)
    return np.concatenate([lists @ item_counts / n for item_counts in parts], axis=1)


@lru_cache(maxsize=1)
def _kept(key: str, n: int, draws: int) -> tuple[Draws, ...]:
    return tuple(_columns(key, n, draws))


def _columns(key: str, n: int, draws: int) -> Iterator[Draws]:
    """Yield the counts of each item, with one column for each draw. Shapes (n, draws in the chunk)."""
    return (chunk.T.astype(np.float64, order="C") for chunk in resampled_counts(generator(key, SEED), n, draws))


def resampled_counts(
    source: np.random.Generator, n: int, draws: int, at_once: int = _CHUNK
) -> Iterator[NDArray[np.int64]]:
    """Yield how often each of n rows occurs in each bootstrap sample, in chunks. Shapes (draws in the chunk, n).

    A matrix product with these counts gives the sums of all samples at once.

    Arguments:
        source: the random generator.
        at_once: the approximate number of random numbers in a chunk. It limits memory use and doesn't change results.
    """
    rows = max(1, at_once // n)
    for start in range(0, draws, rows):
        count = min(rows, draws - start)
        chosen = source.integers(0, n, size=(count, n), dtype=np.uint32) + n * np.arange(count)[:, None]
        yield np.bincount(chosen.ravel(), minlength=count * n).reshape(count, n)


def generator(key: str, seed: int) -> np.random.Generator:
    """Return the random generator for a name and a seed."""
    digest = hashlib.sha256(key.encode()).digest()
    words: Sequence[int] = np.frombuffer(digest, "<u4").tolist()
    return np.random.Generator(np.random.PCG64([seed, *words]))
