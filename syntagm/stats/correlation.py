"""Plain and partial correlations with intervals; those of the accuracies of models over suites, and an order of models.

Intervals are those of `association`, for other suites. Two models are compared on the suites with a value under both. The
correlation is nan with fewer than three suites, or if all values of a model are equal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations
from math import atanh, factorial, inf, isnan, nan, prod, sqrt, tanh

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from syntagm.stats.bootstrap import FEW
from syntagm.stats.interval import Interval, critical

# A partial correlation is the correlation of the residuals of two variables after a least-squares fit on the control
# variables (for Spearman, of ranks). Its p is from Student's t with n - 2 - (number of control variables) degrees of
# freedom. The p of a plain correlation is from Student's t with n - 2 degrees of freedom. It is exact if there are few
# pairs or if all pairs are on one line: the proportion of all permutations with |r| at least as large. Intervals are
# Fisher's (1921), with the variance of Bonett & Wright (2000) for ranks; each control variable counts as one pair less.
#
# Fisher's interval presumes normal variables; that of r between skewed variables covers much less. So from nine pairs
# on, Pearson's r has the wider of Fisher's interval and that of the jackknife of Fisher's z (Hinkley 1978), and the
# larger of their p-values. Interval and p agree: p is at most .05 exactly where the interval doesn't contain 0.

METHODS = ("Pearson", "Spearman")
# The largest number of pairs for which p is computed from all permutations.
EXACT = 8
# Tolerance of numerical error in correlations.
_ROUNDING = 1e-9
_Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Association:
    method: str  # "Pearson" or "Spearman"
    # From -1 to 1. nan with fewer than 3 pairs + 1 for each control variable, because residuals are then always on a
    # line; nan also if a variable is constant.
    value: float
    # Two-sided, of the hypothesis of no correlation. nan if the value is nan, and for a partial correlation of 1 or -1.
    # Exact for a plain correlation of at most eight pairs, if the interval doesn't contain 0.
    p: float
    # `low`, `high`: the 95% interval; nan with fewer than 4 pairs + 1 for each control variable, and for 1 or -1
    low: float
    high: float
    n: int  # the number of pairs


def association(x: ArrayLike, y: ArrayLike, method: str = "Pearson", given: Sequence[ArrayLike] = ()) -> Association:
    """Correlate x and y, or compute their partial correlation given control variables.

    Arguments:
        x, y: finite numbers. Shape (n,).
        method: "Pearson" or "Spearman".
        given: the control variables of a partial correlation, each of shape (n,).

    >>> correlation = association([1, 2, 3, 4], [1, 3, 2, 4])
    >>> round(correlation.value, 3), round(correlation.p, 3), correlation.n
    (0.8, 0.333, 4)
    >>> round(association([1, 2, 3, 4], [1, 8, 27, 65], "Spearman").value, 3)
    1.0
    """
    columns = np.array([x, y, *given], np.float64)
    n = columns.shape[1]
    freedom = n - 2 - len(given)
    if freedom < 1:
        return Association(method, *(float("nan"),) * 4, n)
    # All variables are scaled to the same range, so that the tolerance of numerical error suits numbers of any size.
    spread = np.ptp(columns, axis=1, keepdims=True)
    columns = (columns - columns.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1)
    # So that numbers that differ by rounding alone, such as 0.81 and 0.8100000000000002, have the same rank.
    columns = columns.round(12) if method == "Spearman" else columns
    value = float(_correlations(columns[:, None, :], method)[0])
    p = _student(value, freedom) if given else _p_of_plain(columns, value, method)
    found = _interval(value, n - len(given), method, p)
    if method == "Pearson" and n - len(given) > EXACT and not isnan(found.low):
        found = _not_narrower(found, value, _jackknife(columns), freedom)
    found = found.agreeing()
    return Association(method, value, found.p, found.low, found.high, n)


def _interval(value: float, n: int, method: str, p: float) -> Interval:
    if n < 4 or not abs(value) < 1 - _ROUNDING:
        return Interval(nan, nan, "", p)
    variance = (1 + value**2 / 2 if method == "Spearman" else 1.0) / (n - 3)
    reach = critical(inf) * sqrt(variance)
    return Interval(tanh(atanh(value) - reach), tanh(atanh(value) + reach), "", p)


def _jackknife(columns: _Array) -> float:
    """Return the standard error of Fisher's z of Pearson's r, by leaving out one pair after another."""
    n = columns.shape[1]
    others = np.array([[k for k in range(n) if k != left] for left in range(n)])
    left_out = np.arctanh(np.clip(_correlations(columns[:, others], "Pearson"), -1 + _ROUNDING, 1 - _ROUNDING))
    return float(np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum()))


def _not_narrower(found: Interval, value: float, error: float, freedom: int) -> Interval:
    """Widen an interval of a correlation to that of a standard error of Fisher's z, with Student's t."""
    from scipy.special import stdtr

    z, reach = atanh(value), critical(freedom) * error
    if isnan(error):  # without one of the pairs, a variable is constant
        return Interval(-1.0, 1.0, "", 1.0)
    p = float(2 * stdtr(freedom, -abs(z) / error)) if error > 0 else 0.0
    return Interval(min(found.low, tanh(z - reach)), max(found.high, tanh(z + reach)), "", max(found.p, p))


def method_of(kind: str, n: int, units: str) -> str:
    """Name the method of a correlation's interval, with a remark if there are few pairs.

    >>> method_of("Spearman", 5, "suites"), method_of("Pearson", 31, "suites")
    ('Fisher (Bonett & Wright); random: suites; only 5 suites', 'Fisher and jackknife, conservative; random: suites')
    """
    few = f"; only {n} {units}" if n < FEW else ""
    other = " (Bonett & Wright)" if kind == "Spearman" else " and jackknife, conservative" if n > EXACT else ""
    return f"Fisher{other}; random: {units}{few}"


def _of_centred(x: tuple[_Array, _Array], y: tuple[_Array, _Array]) -> _Array:
    spread = np.sqrt(x[1] * y[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        correlations: _Array = np.where(spread > 1e-12, (x[0] * y[0]).sum(-1) / spread, np.nan)
    return np.clip(correlations, -1, 1)


def ranks(values: _Array) -> _Array:
    """Rank numbers along the last axis, from 1; equal numbers get the mean of their ranks.

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
    result = np.empty(values.shape)
    np.put_along_axis(result, order, (first + last) / 2 + 1, axis=-1)
    return result


def _correlations(columns: _Array, method: str) -> _Array:
    """Correlate the first two variables in each draw, given the others. `columns` has shape (variables, draws, n)."""
    if method == "Spearman":
        columns = ranks(columns)
    x, y, *controls = columns - columns.mean(axis=-1, keepdims=True)
    for number, control in enumerate(controls):
        x, y, *rest = (_residual(values, control) for values in (x, y, *controls[number + 1 :]))
        controls[number + 1 :] = rest
    return _of_centred((x, (x**2).sum(-1)), (y, (y**2).sum(-1)))


def _residual(values: _Array, control: _Array) -> _Array:
    """Subtract the projection on another centred variable from centred values."""
    norm = (control**2).sum(-1, keepdims=True)
    slope = np.divide((values * control).sum(-1, keepdims=True), norm, out=np.zeros_like(norm), where=norm > 1e-12)
    residual: _Array = values - slope * control
    return residual


def _p_of_plain(columns: _Array, value: float, method: str) -> float:
    n = columns.shape[1]
    if np.isnan(value):
        return float("nan")
    x, y = ranks(columns) if method == "Spearman" else columns
    if n <= EXACT:
        x, y = ((values - values.mean()) / np.linalg.norm(values - values.mean()) for values in (x, y))
        return float((abs(x[_orders(n)] @ y) >= abs(value) - _ROUNDING).mean())
    return _p_of_line(x) if abs(value) > 1 - _ROUNDING else _student(value, n - 2)


@cache
def _orders(n: int) -> NDArray[np.int8]:
    return np.array(list(permutations(range(n))), np.int8)


def _p_of_line(x: _Array) -> float:
    """Return the exact p-value if x and y are on a line: the proportion of permutations of x that leave |r| at 1."""
    values, counts = np.unique(x.round(9), return_counts=True)
    ends = values[0] + values[-1]
    mirrored = bool((counts == counts[::-1]).all() and np.allclose(ends - values, values[::-1], atol=_ROUNDING))
    return float((1 + mirrored) * prod(factorial(int(count)) for count in counts) / factorial(len(x)))


def _student(value: float, freedom: int) -> float:
    from scipy.special import stdtr

    if np.isnan(value) or abs(value) > 1 - _ROUNDING:
        return float("nan")
    return float(2 * stdtr(freedom, -abs(value) * np.sqrt(freedom / (1 - value**2))))


SCHEMA = {
    "a": pl.String, "b": pl.String, "kind": pl.String, "r": pl.Float64, "low": pl.Float64, "high": pl.Float64,
    "n": pl.Int64, "method": pl.String,
}  # fmt: skip

# A correlation of fewer suites says nothing.
LEAST = 3


def correlations(accuracies: Mapping[str, Mapping[str, float]]) -> pl.DataFrame:
    """Compute Pearson's and Spearman's correlation for each pair of models; columns as in `SCHEMA`.

    Arguments:
        accuracies: model -> suite -> accuracy; nan if undefined.

    >>> table = correlations({"a": {"s": 0.1, "t": 0.2, "u": 0.4}, "b": {"s": 0.5, "t": 0.6, "u": 0.8}})
    >>> table.select("a", "b", "kind", pl.col("r").round(6), "n").rows()
    [('a', 'b', 'Pearson', 1.0, 3), ('a', 'b', 'Spearman', 1.0, 3)]
    """
    pairs = list(combinations(accuracies, 2))
    rows = [_row(accuracies, a, b, kind) for a, b in pairs for kind in METHODS]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _row(accuracies: Mapping[str, Mapping[str, float]], a: str, b: str, kind: str) -> tuple[object, ...]:
    shared = [suite for suite in accuracies[a] if _defined(accuracies[a], suite) and _defined(accuracies[b], suite)]
    x, y = ([accuracies[model][suite] for suite in shared] for model in (a, b))
    correlation = association(x, y, kind) if len(shared) >= LEAST else None
    numbers = (correlation.value, correlation.low, correlation.high) if correlation else (np.nan,) * 3
    return (a, b, kind, *numbers, len(shared), method_of(kind, len(shared), "suites"))


def order(table: pl.DataFrame, models: Sequence[str], kind: str = "Pearson") -> list[str]:
    """Order models so that similar ones are neighbours, by hierarchical clustering (average linkage) of 1 - r."""
    # A pair without a correlation has distance 1, as if uncorrelated. Of the orders that the tree allows, the result
    # has the smallest distances between neighbours (Bar-Joseph et al. 2001). The first of `models` is in its first
    # half.
    from scipy.cluster import hierarchy
    from scipy.spatial.distance import squareform

    if len(models) < 3:
        return list(models)
    distance = 1 - np.nan_to_num(matrix(table, models, kind))
    np.fill_diagonal(distance, 0)
    condensed = squareform(np.clip(distance, 0, 2), checks=False)
    tree = hierarchy.linkage(condensed, "average", optimal_ordering=True)
    leaves = [models[index] for index in hierarchy.leaves_list(tree)]
    return leaves[::-1] if leaves.index(models[0]) > (len(leaves) - 1) / 2 else leaves


def matrix(table: pl.DataFrame, models: Sequence[str], kind: str) -> NDArray[np.float64]:
    """Return the correlations as a symmetric matrix with 1 on the diagonal. Shape (models, models)."""
    places = {model: index for index, model in enumerate(models)}
    result = np.eye(len(models))
    for a, b, r in table.filter(pl.col("kind") == kind).select("a", "b", "r").iter_rows():
        result[places[a], places[b]] = result[places[b], places[a]] = r
    return result


def _defined(values: Mapping[str, float], suite: str) -> bool:
    return not np.isnan(values.get(suite, np.nan))
