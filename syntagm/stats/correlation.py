"""Correlations of the accuracies of models over suites, and an order of models by similarity.

Intervals are those of `association`, for other suites. Two models are compared on the suites with a value under both. The
correlation is nan with fewer than three suites, or if all values of a model are equal.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.stats.association import METHODS, association, method_of

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
