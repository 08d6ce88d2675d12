"""How alike the accuracies of models are over suites: correlations, their intervals, and an order that puts like by like.

Pearson's r of the accuracies, and Spearman's, which is Pearson's of their ranks, equal ones sharing the mean rank. The
suites are the units: intervals draw them anew with replacement, and rank what was drawn. A pair of models is compared on the
suites that have a value under both; with fewer than three, or if all values of a model are equal, there is no correlation.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.analysis import interval

SCHEMA = {
    "a": pl.String, "b": pl.String, "kind": pl.String, "r": pl.Float64, "low": pl.Float64, "high": pl.Float64,
    "n": pl.Int64, "method": pl.String,
}  # fmt: skip
KINDS = ("pearson", "spearman")
FEWEST = 3
# Ranking each draw is the work here, and 2,000 draws give percentiles to two digits.
DRAWS = 2000
METHOD = f"bootstrap(suites, {DRAWS}, seed {interval.SEED})"

Numbers = NDArray[np.float64]


def correlations(accuracies: Mapping[str, Mapping[str, float]]) -> pl.DataFrame:
    """A row a pair of models and kind of correlation, with columns as in `SCHEMA`.

    Arguments:
        accuracies: model -> suite -> accuracy; nan where it is undefined.

    >>> table = correlations({"a": {"s": 0.1, "t": 0.2, "u": 0.4}, "b": {"s": 0.5, "t": 0.6, "u": 0.8}})
    >>> table.select("a", "b", "kind", pl.col("r").round(6), "n").rows()
    [('a', 'b', 'pearson', 1.0, 3), ('a', 'b', 'spearman', 1.0, 3)]
    """
    ranked: dict[tuple[str, bytes], Numbers] = {}
    rows: list[tuple[object, ...]] = []
    for a, b in combinations(accuracies, 2):
        shared = [suite for suite in accuracies[a] if _defined(accuracies[a], suite) and _defined(accuracies[b], suite)]
        values = {model: np.array([accuracies[model][suite] for suite in shared]) for model in (a, b)}
        key = "\n".join(shared).encode()
        rows += [(a, b, kind, *_row(values, kind, ranked, key), len(shared), METHOD) for kind in KINDS]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def order(table: pl.DataFrame, models: Sequence[str], kind: str = "pearson") -> list[str]:
    """The models so that those most alike stand together: leaves of a tree of average linkage over 1 - r.

    A pair without a correlation is at distance 1, as if uncorrelated. Among the orders of the tree the one whose neighbours
    are nearest (Bar-Joseph et al. 2001); the first model of `models` stands in its first half.
    """
    from scipy.cluster import hierarchy
    from scipy.spatial.distance import squareform

    if len(models) < FEWEST:
        return list(models)
    distance = 1 - np.nan_to_num(matrix(table, models, kind))
    np.fill_diagonal(distance, 0)
    condensed = squareform(np.clip(distance, 0, 2), checks=False)
    tree = hierarchy.linkage(condensed, "average", optimal_ordering=True)
    leaves = [models[index] for index in hierarchy.leaves_list(tree)]
    return leaves[::-1] if leaves.index(models[0]) > (len(leaves) - 1) / 2 else leaves


def matrix(table: pl.DataFrame, models: Sequence[str], kind: str) -> Numbers:
    """The correlations as a symmetric matrix, 1 on the diagonal. Shape (models, models)."""
    places = {model: index for index, model in enumerate(models)}
    made = np.eye(len(models))
    for a, b, r in table.filter(pl.col("kind") == kind).select("a", "b", "r").iter_rows():
        made[places[a], places[b]] = made[places[b], places[a]] = r
    return made


def pearson(x: Numbers, y: Numbers) -> Numbers:
    """Pearson's r along the last axis; nan where all values of one side are equal."""
    x, y = x - x.mean(-1, keepdims=True), y - y.mean(-1, keepdims=True)
    # Equal values leave sums of squares that are rounding noise, not 0.
    scales = [np.where(np.ptp(one, -1) > 1e-12, np.sqrt((one * one).sum(-1)), np.nan) for one in (x, y)]
    found: Numbers = np.clip((x * y).sum(-1) / (scales[0] * scales[1]), -1, 1)
    return found


def _row(
    values: Mapping[str, Numbers], kind: str, ranked: dict[tuple[str, bytes], Numbers], key: bytes
) -> tuple[float, float, float]:
    """r and the ends of its interval."""
    from scipy.stats import rankdata

    n = len(next(iter(values.values())))
    if n < FEWEST:
        return (np.nan,) * 3
    chosen = np.random.default_rng([interval.SEED, n]).integers(0, n, size=(DRAWS, n))
    sides = []
    for model, one in values.items():
        if kind == "pearson":
            sides.append((one, one[chosen]))
            continue
        if (model, key) not in ranked:
            ranked[model, key] = rankdata(one[chosen], axis=-1)
        sides.append((rankdata(one), ranked[model, key]))
    (x, drawn_x), (y, drawn_y) = sides
    # A draw in which a side has one value only has no correlation, and is left out.
    drawn = pearson(drawn_x, drawn_y)
    low, high = np.nanpercentile(drawn, interval.PERCENTILES) if np.isfinite(drawn).any() else (np.nan, np.nan)
    return float(pearson(x, y)), float(low), float(high)


def _defined(values: Mapping[str, float], suite: str) -> bool:
    return not np.isnan(values.get(suite, np.nan))
