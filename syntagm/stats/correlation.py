"""How alike the accuracies of models are over suites: all correlations of two models, and an order that puts like by like.

The suites are the units: intervals draw them anew. Two models are compared on the suites that have a value under both; with
fewer than three, or if all values of one of them are equal, there is no correlation.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.stats import bootstrap
from syntagm.stats.association import METHODS, association

SCHEMA = {
    "a": pl.String, "b": pl.String, "kind": pl.String, "r": pl.Float64, "low": pl.Float64, "high": pl.Float64,
    "n": pl.Int64, "method": pl.String,
}  # fmt: skip
METHOD = f"bootstrap(suites, {bootstrap.DRAWS}, seed {bootstrap.SEED})"


def correlations(accuracies: Mapping[str, Mapping[str, float]]) -> pl.DataFrame:
    """A row a pair of models and kind of correlation, Pearson's and Spearman's, with columns as in `SCHEMA`.

    Arguments:
        accuracies: model -> suite -> accuracy; nan where it is undefined.

    >>> table = correlations({"a": {"s": 0.1, "t": 0.2, "u": 0.4}, "b": {"s": 0.5, "t": 0.6, "u": 0.8}})
    >>> table.select("a", "b", "kind", pl.col("r").round(6), "n").rows()
    [('a', 'b', 'Pearson', 1.0, 3), ('a', 'b', 'Spearman', 1.0, 3)]
    """
    pairs = list(combinations(accuracies, 2))
    # One kind for all pairs, then the next: what is drawn of a model for one pair is then at hand for the others.
    of_kind = [[_row(accuracies, a, b, kind) for a, b in pairs] for kind in METHODS]
    rows = [row for several in zip(*of_kind, strict=True) for row in several]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _row(accuracies: Mapping[str, Mapping[str, float]], a: str, b: str, kind: str) -> tuple[object, ...]:
    shared = [suite for suite in accuracies[a] if _defined(accuracies[a], suite) and _defined(accuracies[b], suite)]
    x, y = ([accuracies[model][suite] for suite in shared] for model in (a, b))
    found = association(x, y, kind, key=f"{len(shared)} suites") if len(shared) > 2 else None
    numbers = (found.value, found.low, found.high) if found else (np.nan,) * 3
    return (a, b, kind, *numbers, len(shared), METHOD)


def order(table: pl.DataFrame, models: Sequence[str], kind: str = "Pearson") -> list[str]:
    """The models so that those most alike stand together: leaves of a tree of average linkage over 1 - r.

    A pair without a correlation is at distance 1, as if uncorrelated. Among the orders of the tree the one whose neighbours
    are nearest (Bar-Joseph et al. 2001); the first model of `models` stands in its first half.
    """
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
    """The correlations as a symmetric matrix, 1 on the diagonal. Shape (models, models)."""
    places = {model: index for index, model in enumerate(models)}
    made = np.eye(len(models))
    for a, b, r in table.filter(pl.col("kind") == kind).select("a", "b", "r").iter_rows():
        made[places[a], places[b]] = made[places[b], places[a]] = r
    return made


def _defined(values: Mapping[str, float], suite: str) -> bool:
    return not np.isnan(values.get(suite, np.nan))
