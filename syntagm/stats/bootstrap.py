"""Intervals by resampling items: what the number would have been with other items of the same kind.

Percentile bootstrap: the items of a suite are redrawn with replacement, 10,000 times, and the interval runs from the
2.5th to the 97.5th percentile of the means. For a number over several suites, items are redrawn within each suite.

The stream of random numbers is derived from the seed and the name of the suite, so that a suite has the same interval
whatever stands beside it. Where several numbers stand in a row (`column_means`), rows are redrawn, and nan are left out in each
draw. Clusters are redrawn in `stats.clustered`, suites with their items in `stats.binned`.

Edges: without items, and with one, there is no interval (nan, nan), and in a score over suites a suite of one item adds no
spread; if all items agree, the bootstrap has seen no spread and the interval has no width.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

DRAWS, SEED = 10_000, 1
METHOD = f"bootstrap(items, {DRAWS}, seed {SEED})"
PERCENTILES = (2.5, 97.5)
_FEW = 8
_CHUNK = 1 << 20
_KEPT = 1 << 22

Draws = NDArray[np.float64]


def redrawn_means(values: ArrayLike, key: str, draws: int = DRAWS, seed: int = SEED) -> Draws:
    """Means of `values` redrawn with replacement. Shape (draws,), in the unit of the values.

    Arguments:
        values: one number an item. Shape (items,). With fewer than two, or if one is not finite, the means are nan.
        key: whose items these are, e.g. the suite's name: the random numbers depend on it and on `seed` only.

    >>> redrawn_means([0, 1, 1], "agreement", draws=4).round(2).tolist()  # each of them 0, 1/3, 2/3 or 1
    [1.0, 0.67, 0.33, 1.0]
    """
    array = np.sort(np.asarray(values, np.float64), axis=None)
    if len(array) < 2 or not np.isfinite(array).all():
        return np.full(draws, np.nan)
    if few := _few(array):
        return _of_few(*few, key, draws, seed)
    return _by_items(array, generator(key, seed), draws)


def _few(ordered: Draws) -> tuple[tuple[float, ...], tuple[int, ...]] | None:
    """The distinct values and how often each stands there, if they are few."""
    distinct, counts = np.unique(ordered, return_counts=True)
    return (tuple(distinct.tolist()), tuple(counts.tolist())) if len(distinct) <= _FEW else None


# The verdicts of a suite stand behind many numbers: its accuracy, means over suites of several kinds, each pair of models.
# So it is kept how often each value was drawn, in as few bytes as can be; of the last value, the rest was drawn.
@lru_cache(maxsize=2048)
def _often(counts: tuple[int, ...], key: str, draws: int, seed: int) -> NDArray[np.unsignedinteger[Any]]:
    drawn = _multinomial(np.array(counts), generator(key, seed), draws)
    return drawn[:, :-1].astype(np.min_scalar_type(sum(counts)))


def _of_few(distinct: tuple[float, ...], counts: tuple[int, ...], key: str, draws: int, seed: int) -> Draws:
    kept, n = _often(counts, key, draws, seed), sum(counts)
    drawn = np.empty((draws, len(distinct)))
    drawn[:, :-1] = kept
    drawn[:, -1] = n - drawn[:, :-1].sum(axis=1)
    means: Draws = drawn @ np.array(distinct) / n
    return means


@lru_cache(maxsize=4096)
def _interval_of_few(distinct: tuple[float, ...], counts: tuple[int, ...], key: str) -> tuple[float, float]:
    return interval(_of_few(distinct, counts, key, DRAWS, SEED))


def resampled_means(values: Draws, source: np.random.Generator, draws: int) -> Draws:
    """Means of `values` redrawn with replacement, from random numbers that the caller has. Shape (draws,).

    Arguments:
        values: finite, in ascending order, so that the order of the items makes no difference. Shape (items,).
    """
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) <= _FEW:
        return _by_counts(distinct, counts, source, draws)
    return _by_items(values, source, draws)


def redrawn_means_of_each(lists: Sequence[NDArray[np.float64]], key: str, draws: int = DRAWS) -> list[Draws]:
    """What `redrawn_means` gives for each of the lists, but for rounding; lists of one length are redrawn together.

    Arguments:
        lists: of one suite, e.g. the bits of its regions. Shapes (items,).

    >>> lists = [np.arange(20) / 7, np.arange(20.0) ** 2]
    >>> together = redrawn_means_of_each(lists, "agreement")
    >>> all(np.allclose(one, redrawn_means(values, "agreement")) for one, values in zip(together, lists))
    True
    """
    found: dict[int, Draws] = {}
    many: dict[int, list[int]] = {}
    for place, values in enumerate(lists):
        if len(values) < 2 or not np.isfinite(values).all() or len(np.unique(values)) <= _FEW:
            found[place] = redrawn_means(values, key, draws)
        else:
            many.setdefault(len(values), []).append(place)
    for places in many.values():
        means = _together(np.sort(np.array([lists[place] for place in places]), axis=1), key, draws)
        found |= dict(zip(places, means, strict=True))
    return [found[place] for place in range(len(lists))]


def column_means(values: NDArray[np.float64], key: str, draws: int = DRAWS, seed: int = SEED) -> Draws:
    """The mean of each column over the rows redrawn. Shape (draws, columns); nan where a draw has no value.

    Arguments:
        values: shape (rows, columns); nan is undefined. With fewer than two rows the means are nan.
        key: whose rows these are: the random numbers depend on it and on `seed` only.

    >>> values = np.array([[0.0, 1.0], [1.0, np.nan], [1.0, 1.0]])
    >>> column_means(values, "agreement", draws=3).round(2).tolist()
    [[0.33, 1.0], [1.0, 1.0], [0.67, 1.0]]
    """
    rows, columns = values.shape
    found = np.full((draws, columns), np.nan)
    if rows < 2:
        return found
    defined = ~np.isnan(values)
    both = np.hstack([np.where(defined, values, 0.0), defined])
    first = 0
    for often in how_often(generator(key, seed), rows, draws):
        sums = often.astype(np.float64) @ both
        with np.errstate(invalid="ignore"):
            found[first : first + len(often)] = sums[:, :columns] / sums[:, columns:]
        first += len(often)
    return found


def column_intervals(draws: Draws) -> Draws:
    """The 2.5th and 97.5th percentile of each column, without the draws that have no value there. Shape (2, columns).

    Arguments:
        draws: as `column_means` gives them. Columns without any value have the ends nan.

    >>> column_intervals(np.array([[0.0, np.nan], [np.nan, np.nan], [1.0, np.nan]])).round(3).tolist()
    [[0.025, nan], [0.975, nan]]
    """
    held = ~np.isnan(draws).all(axis=0)
    found = np.full((2, draws.shape[1]), np.nan)
    found[:, held] = np.nanpercentile(draws[:, held], PERCENTILES, axis=0)
    return found


def column_estimates(values: NDArray[np.float64], key: str) -> list[tuple[float, float, float, int]]:
    """Of each column the mean, the two ends of its interval, and how many rows are defined; undefined ones are left out.

    With fewer than two defined rows there is no interval (nan), without any no mean. Arguments as of `column_means`.

    >>> [(mean, n) for mean, _, _, n in column_estimates(np.array([[0.0, np.nan], [1.0, np.nan]]), "agreement")]
    [(0.5, 2), (nan, 0)]
    """
    low, high = column_intervals(column_means(values, key))
    found = []
    for number in range(values.shape[1]):
        defined = values[~np.isnan(values[:, number]), number]
        mean = float(defined.mean()) if len(defined) else np.nan
        between = (float(low[number]), float(high[number])) if len(defined) > 1 else (np.nan, np.nan)
        found.append((mean, *between, len(defined)))
    return found


def interval(means: Draws) -> tuple[float, float]:
    """The 2.5th and 97.5th percentile of redrawn means, (nan, nan) if they are nan."""
    # As np.percentile does it, which takes three times as long to find out that this is all it has to do.
    places = (len(means) - 1) * (np.array(PERCENTILES) / 100)
    below = places.astype(np.intp)
    above = np.minimum(below + 1, len(means) - 1)
    ordered = np.partition(means, [*below, *above, len(means) - 1])
    if np.isnan(ordered[-1]):
        return np.nan, np.nan
    a, b, part = ordered[below], ordered[above], places - below
    low, high = np.where(part < 0.5, a + (b - a) * part, b - (b - a) * (1 - part))
    return float(low), float(high)


def mean_over_suites(values: Mapping[str, ArrayLike]) -> Draws:
    """The unweighted mean over suites of the means of their redrawn items. Shape (draws,).

    A suite of one item stays as it is beside suites of more: nothing can be redrawn in it. Without any suite of two items,
    or with a suite of none, the means are nan.

    Arguments:
        values: suite -> one number an item.
    """
    sizes = [np.size(one) for one in values.values()]
    if max(sizes, default=0) < 2 or 0 in sizes:
        return np.full(DRAWS, np.nan)
    total = np.zeros(DRAWS)
    for suite, one in values.items():
        total += redrawn_means(one, suite) if np.size(one) > 1 else np.asarray(one, np.float64)
    means: Draws = total / len(values)
    return means


def interval_over_suites(values: Mapping[str, ArrayLike]) -> tuple[float, float]:
    """The interval of what `mean_over_suites` gives for these values; that of one suite is kept, as many numbers need it.

    >>> values = {"agreement": [0, 1, 1, 1]}
    >>> interval_over_suites(values) == interval(mean_over_suites(values))
    True
    """
    if len(values) == 1:
        [(suite, one)] = values.items()
        array = np.sort(np.asarray(one, np.float64), axis=None)
        if len(array) > 1 and np.isfinite(array).all() and (few := _few(array)):
            return _interval_of_few(*few, suite)
    return interval(mean_over_suites(values))


def method_over_suites(suites: int) -> str:
    """What to call the method of a mean over so many suites.

    >>> method_over_suites(31)
    'mean of 31 suites; bootstrap(items within suites, 10000, seed 1)'
    """
    counted = "1 suite" if suites == 1 else f"{suites} suites"
    return f"mean of {counted}; bootstrap(items within suites, {DRAWS}, seed {SEED})"


def remark(method: str, sizes: Mapping[str, int]) -> str:
    """The method, and what suites with fewer than two items do to the interval, as far as there are any.

    Arguments:
        sizes: suite -> how many defined items it has.

    >>> remark(METHOD, {"agreement": 1})
    'bootstrap(items, 10000, seed 1); no interval: fewer than two items in agreement'
    >>> remark(METHOD, {"agreement": 1, "licensing": 20})
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
    # How often each value is drawn is multinomial; for values 0 and 1 the sum of the draw is binomial(n, mean). The
    # distribution is that of drawing items one by one, at a cost that doesn't grow with their number.
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
    """As `_by_items` for several lists of one length, with the same items drawn in each. Shape (lists, draws)."""
    n = lists.shape[1]
    # The models of a report are redrawn one after another, with the same items.
    parts = _kept(key, n, draws) if n * draws <= _KEPT else _columns(key, n, draws)
    return np.concatenate([lists @ often / n for often in parts], axis=1)


@lru_cache(maxsize=1)
def _kept(key: str, n: int, draws: int) -> tuple[Draws, ...]:
    return tuple(_columns(key, n, draws))


def _columns(key: str, n: int, draws: int) -> Iterator[Draws]:
    """How often each item is drawn, a column a draw. Shapes (n, some draws)."""
    return (often.T.astype(np.float64, order="C") for often in how_often(generator(key, SEED), n, draws))


def how_often(source: np.random.Generator, n: int, draws: int, at_once: int = _CHUNK) -> Iterator[NDArray[np.int64]]:
    """How often each of n rows is drawn in draws of n, some draws at a time. Shapes (some draws, n).

    A product with these counts gives the sums of all draws at once.

    Arguments:
        at_once: so many numbers are drawn at a time, which makes no difference but to the memory.
    """
    rows = max(1, at_once // n)
    for start in range(0, draws, rows):
        count = min(rows, draws - start)
        chosen = source.integers(0, n, size=(count, n), dtype=np.uint32) + n * np.arange(count)[:, None]
        yield np.bincount(chosen.ravel(), minlength=count * n).reshape(count, n)


def generator(key: str, seed: int) -> np.random.Generator:
    """The random numbers that belong to a name and a seed."""
    digest = hashlib.sha256(key.encode()).digest()
    words: Sequence[int] = np.frombuffer(digest, "<u4").tolist()
    return np.random.Generator(np.random.PCG64([seed, *words]))
