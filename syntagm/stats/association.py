"""How closely two numbers go together over a set of models: Pearson's r and Spearman's rho, plain or with others held constant.

A partial correlation is that of what is left of each number after its least-squares fit on the others (for Spearman, of
ranks); its p is that of Student's t with n - 2 - (number of others) degrees of freedom. That of a plain correlation is
Student's too, but exact where pairs are few or all on one line: the share of all ways to pair the numbers in which |r| is as
large. Intervals redraw pairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import permutations
from math import factorial, prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syntagm.stats import bootstrap
from syntagm.stats.bootstrap import DRAWS

METHODS = ("Pearson", "Spearman")
# Up to so many pairs all permutations are counted.
EXACT = 8
# Correlations that differ by less differ by rounding alone.
_ROUNDING = 1e-9
_Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Association:
    """A correlation.

    Arguments:
        method: "Pearson" or "Spearman".
        value: from -1 to 1; nan with fewer than three pairs besides one for each number held constant, since what is left is
            on a line then whatever the numbers are; nan too if one of the numbers doesn't vary.
        p: two-sided, of no correlation; nan where the value is, and for a partial correlation of 1 or -1. Exact up to eight
            pairs if nothing is held constant.
        low, high: the 95% interval.
        n: how many pairs.
    """

    method: str
    value: float
    p: float
    low: float
    high: float
    n: int


def association(
    x: ArrayLike, y: ArrayLike, method: str = "Pearson", given: Sequence[ArrayLike] = (), key: str = ""
) -> Association:
    """The correlation of x and y, what is `given` held constant.

    Arguments:
        x, y: shape (n,), finite.
        given: the numbers that are held constant, each of shape (n,).
        key: what the numbers are about; the random numbers of the interval depend on it.

    >>> found = association([1, 2, 3, 4], [1, 3, 2, 4])
    >>> round(found.value, 3), round(found.p, 3), found.n
    (0.8, 0.333, 4)
    >>> round(association([1, 2, 3, 4], [1, 8, 27, 65], "Spearman").value, 3)
    1.0
    """
    columns = np.array([x, y, *given], np.float64)
    n = columns.shape[1]
    freedom = n - 2 - len(given)
    if freedom < 1:
        return Association(method, *(float("nan"),) * 4, n)
    # In one unit, so that what is left by rounding can be told from what varies, however small the numbers are.
    spread = np.ptp(columns, axis=1, keepdims=True)
    columns = (columns - columns.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1)
    value = float(_correlations(columns[:, None, :], method)[0])
    low, high = bootstrap.interval(_redrawn(columns, method, f"{method}/{key}"))
    p = _student(value, freedom) if given else _plain(columns, value, method)
    return Association(method, value, p, low, high, n)


def _redrawn(columns: _Array, method: str, key: str) -> _Array:
    if len(columns) == 2:
        found = _of_centred(*(_centred(one.tobytes(), method, key) for one in columns))
    else:
        found = _correlations(columns[:, _chosen(columns.shape[1], key)], method)
    # Where all redrawn pairs are one pair there is no correlation to speak of.
    kept: _Array = found[np.isfinite(found)]
    return kept if len(kept) > DRAWS // 2 else np.full(DRAWS, np.nan)


def _chosen(n: int, key: str) -> NDArray[np.int64]:
    return bootstrap.generator(key, bootstrap.SEED).integers(0, n, size=(DRAWS, n))


# A model's accuracies are correlated with those of each other model, the same suites drawn for all.
@lru_cache(maxsize=8)
def _centred(column: bytes, method: str, key: str) -> tuple[_Array, _Array]:
    """A column redrawn, less the mean of each draw, and the sums of its squares. Shapes (draws, n), (draws,)."""
    values = np.frombuffer(column, np.float64)
    drawn = values[_chosen(len(values), key)]
    drawn = ranks(drawn) if method == "Spearman" else drawn
    # Summed one after the other, as numpy does it for several columns at once: other orders differ in the last digit.
    drawn = drawn - np.cumsum(drawn, axis=-1)[:, -1:] / len(values)
    return drawn, (drawn**2).sum(-1)


def _of_centred(x: tuple[_Array, _Array], y: tuple[_Array, _Array]) -> _Array:
    spread = np.sqrt(x[1] * y[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        found: _Array = np.where(spread > 1e-12, (x[0] * y[0]).sum(-1) / spread, np.nan)
    return np.clip(found, -1, 1)


def ranks(values: _Array) -> _Array:
    """The rank of each number among those of the last axis, from 1; equal numbers share the mean of their ranks.

    >>> ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    order = np.argsort(values, axis=-1)
    ordered = np.take_along_axis(values, order, axis=-1)
    n = values.shape[-1]
    places = np.broadcast_to(np.arange(n), values.shape)
    new = np.ones(values.shape, bool)
    new[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    first = np.maximum.accumulate(np.where(new, places, 0), axis=-1)
    ends = np.ones(values.shape, bool)
    ends[..., :-1] = new[..., 1:]
    last = np.minimum.accumulate(np.where(ends, places, n)[..., ::-1], axis=-1)[..., ::-1]
    found = np.empty(values.shape)
    np.put_along_axis(found, order, (first + last) / 2 + 1, axis=-1)
    return found


def _correlations(columns: _Array, method: str) -> _Array:
    """Correlations of the first two of some numbers, the others held constant. `columns`: (numbers, draws, n)."""
    if method == "Spearman":
        columns = ranks(columns)
    x, y, *given = columns - columns.mean(axis=-1, keepdims=True)
    for number, one in enumerate(given):
        x, y, *rest = (_without(other, one) for other in (x, y, *given[number + 1 :]))
        given[number + 1 :] = rest
    return _of_centred((x, (x**2).sum(-1)), (y, (y**2).sum(-1)))


def _without(values: _Array, one: _Array) -> _Array:
    """Centred values less their projection on another centred number."""
    norm = (one**2).sum(-1, keepdims=True)
    slope = np.divide((values * one).sum(-1, keepdims=True), norm, out=np.zeros_like(norm), where=norm > 1e-12)
    left: _Array = values - slope * one
    return left


def _plain(columns: _Array, value: float, method: str) -> float:
    n = columns.shape[1]
    if np.isnan(value):
        return float("nan")
    x, y = ranks(columns) if method == "Spearman" else columns
    if n <= EXACT:
        x, y = ((one - one.mean()) / np.linalg.norm(one - one.mean()) for one in (x, y))
        return float((abs(x[_orders(n)] @ y) >= abs(value) - _ROUNDING).mean())
    return _on_a_line(x) if abs(value) > 1 - _ROUNDING else _student(value, n - 2)


@cache
def _orders(n: int) -> NDArray[np.int8]:
    return np.array(list(permutations(range(n))), np.int8)


def _on_a_line(x: _Array) -> float:
    """The share of permutations of x that give x itself, or x turned round where it is its own mirror image."""
    values, counts = np.unique(x.round(9), return_counts=True)
    ends = values[0] + values[-1]
    mirrored = bool((counts == counts[::-1]).all() and np.allclose(ends - values, values[::-1], atol=_ROUNDING))
    return float((1 + mirrored) * prod(factorial(int(one)) for one in counts) / factorial(len(x)))


def _student(value: float, freedom: int) -> float:
    from scipy.special import stdtr

    if np.isnan(value) or abs(value) > 1 - _ROUNDING:
        return float("nan")
    return float(2 * stdtr(freedom, -abs(value) * np.sqrt(freedom / (1 - value**2))))
