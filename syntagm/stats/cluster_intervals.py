"""Intervals of means of rows in clusters (words, people, models); whether items with one word are alike; bins.

The variance is that of leaving out one cluster after another. For two crossed kinds of clusters, the variances of both
are added and that of their cells is subtracted (Cameron, Gelbach & Miller 2011). Clusters of unequal size have the
degrees of freedom of fewer clusters of equal size (Kish 1965).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isfinite, nan

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from syntagm.core import UsageError
from syntagm.evaluation import Kind
from syntagm.stats import bootstrap, interval
from syntagm.stats.adjust import benjamini_hochberg
from syntagm.stats.interval import LEVEL, Interval, Numbers, Spread, of_items as interval_of_items, score, student


def of_clusters(values: ArrayLike, kind: Kind, clusters: Mapping[str, Sequence[str] | NDArray[np.int64]]) -> Interval:
    """Compute the interval of a mean of rows that are correlated within clusters of one or two kinds.

    Arguments:
        values: shape (rows,); at least one.
        kind: the kind of the values.
        clusters: their name ("lemmas", "people", ...) -> the cluster of each row. Two kinds of clusters are crossed. A
            kind with one cluster counts as fixed.

    >>> values = [1, 1, 0, 0, 1, 0]
    >>> of_clusters(values, Kind.VERDICT, {"lemmas": ["be", "be", "do", "do", "go", "go"]}).method
    'Wilson with t(2); random: lemmas; only 3 lemmas'
    """
    array = np.asarray(values, np.float64)
    mean = float(array.mean())
    spread = spread_of_clusters((array - mean) / len(array), clusters)
    if spread is None:
        return Interval(nan, nan, f"no interval: fewer than two {' or '.join(clusters)}")
    return (score if kind.bounded else student)(mean, spread)


def of_items(values: ArrayLike, kind: Kind, suites: Sequence[str] | NDArray[np.int64]) -> Interval:
    """Compute the interval of a mean of items, which may come from several suites.

    Items of a suite are similar, so suites are random, with their items. With `suites="fixed"`, or with one suite, items
    are random.

    Arguments:
        values: defined values. Shape (items,).
        kind: the kind of the values.
        suites: the suite of each item.

    >>> of_items([1, 0, 1, 1], Kind.VERDICT, ["a", "a", "b", "b"]).method
    'Wilson with t(1); random: suites; only 2 suites'
    >>> of_items([1, 0, 1, 1], Kind.VERDICT, ["a", "a", "a", "a"]).method
    'Wilson; random: items; only 4 items'
    """
    if len(set(suites)) > 1 and bootstrap.current().suites == "random":
        return of_clusters(values, kind, {"suites": suites})
    return interval_of_items(values, kind)


def spread_of_clusters(
    influences: Numbers, clusters: Mapping[str, Sequence[str] | NDArray[np.int64]], net: bool = False
) -> Spread | None:
    """Return the variance of an estimate from the influence of each row; None if no kind has two clusters."""
    codes = {kind: np.unique(np.asarray(labels), return_inverse=True)[1] for kind, labels in clusters.items()}
    counts = {kind: int(places.max(initial=-1)) + 1 for kind, places in codes.items()}
    random = [kind for kind in codes if counts[kind] > 1]
    fixed = ", ".join(kind for kind in codes if kind not in random)
    if not random:
        return None
    variances = [_variance(influences, codes[kind]) for kind in random]
    freedoms = [_effective(np.bincount(codes[kind]).astype(np.float64)) - 1 for kind in random]
    if len(random) == 1:
        return Spread(variances[0], freedoms[0], ((random[0], counts[random[0]]),), fixed)
    first, second = (codes[kind] for kind in random)
    cells = _variance(influences, first * (int(second.max()) + 1) + second)
    variance = max(sum(variances) - cells, *variances)
    found = combined(variances, [(kind, counts[kind]) for kind in random], variance, freedoms)
    if not net or not sum(variances) > 0:
        return found
    return replace(found, freedom=max(min(freedoms), found.freedom * (variance / sum(variances)) ** 2))


def spread_of_ratio(parts: Numbers, wholes: Numbers, units: str) -> Spread:
    """Return the variance of a ratio of sums over independent units, by linearisation (Cochran 1977, section 2.11).

    Units with larger wholes decide more: the variance is that of leaving out one unit after another, and the degrees of
    freedom are those of fewer units with equal wholes, as for clusters of unequal size.

    Arguments:
        parts, wholes: two numbers per unit; the ratio is the sum of `parts` divided by the sum of `wholes`. Shape
            (units,).
        units: the name of the units.

    >>> spread_of_ratio(np.array([1.0, 0, 1, 1]), np.ones(4), "lemmas").variance  # of a mean: 3/16 / (4 - 1)
    0.0625
    """
    total = float(wholes.sum())
    influences = (parts - float(parts.sum()) / total * wholes) / total
    count = len(parts)
    moved = influences / np.maximum(1 - wholes / total, 1e-12)
    variance = float((moved**2).sum()) * (count - 1) / count
    return Spread(variance, _effective(wholes) - 1, ((units, count),))


def combined(
    variances: Sequence[float],
    units: Sequence[tuple[str, int]],
    variance: float | None = None,
    freedoms: Sequence[float] | None = None,
) -> Spread:
    """Combine the variances from several kinds of units; the kind with the fewest units is named first."""
    # The degrees of freedom are those of Satterthwaite (1946).
    total = sum(variances)
    freedoms = freedoms or [count - 1.0 for _, count in units]
    pieces = sum(part**2 / each for part, each in zip(variances, freedoms, strict=True))
    freedom = total**2 / pieces if pieces > 0 else min(freedoms)
    named = tuple(sorted(units, key=lambda unit: unit[1]))
    return Spread(total if variance is None else variance, freedom, named)


def _variance(influences: Numbers, codes: NDArray[np.int64]) -> float:
    """Return the variance by leaving out one cluster after another (CR3 of Bell & McCaffrey 2002, for a mean)."""
    sizes = np.bincount(codes)
    # Cells of two crossed kinds that don't occur are no clusters.
    count = int((sizes > 0).sum())
    if count < 2:
        return 0.0
    moved = np.bincount(codes, influences) / (1 - sizes / len(codes))
    return float((moved**2).sum()) * (count - 1) / count


def _effective(sizes: Numbers) -> float:
    """Return the number of units of equal size whose mean would vary as much (Kish 1965), but at least 2.

    >>> _effective(np.array([2.0, 2.0])), round(_effective(np.array([3.0, 1.0, 1.0])), 2)
    (2.0, 2.27)
    """
    return max(2.0, float(sizes.sum() ** 2 / (sizes**2).sum()))


# Means of items that are not independent. Items that share a word, a frame or a source sentence are correlated: a
# suite of 16,800 pairs with seven verbs says less about other verbs than 16,800 independent pairs would. The variance
# of the mean is computed from the sums of the clusters, which are random, with the items in them (`of_clusters`). The
# design effect is this variance divided by that of independent items: n items contain as much information as n /
# effect independent ones.

NUMBERS = ("value", "low", "high", "n", "units", "method")


@dataclass(frozen=True, slots=True)
class Clustered:
    """A mean with two intervals."""

    value: float
    items: Interval  # the interval if items were independent
    clusters: Interval  # the interval for other clusters; nan with one cluster
    effect: float  # the design effect; nan if one of the two variances is 0
    n: int  # `n`, `count`: the number of items and of clusters
    count: int


def clustered(values: ArrayLike, kind: Kind, clusters: Mapping[str, Sequence[str]]) -> Clustered:
    """Compute the mean of items with both intervals; nan is excluded.

    Arguments:
        values: one number for each item. Shape (items,).
        kind: the kind of the values.
        clusters: the kind of cluster -> the cluster of each item. With two kinds, they are crossed.

    >>> lemmas = {"lemmas": ["swim", "swim", "go", "go", "laugh", "laugh"]}
    >>> estimate = clustered([0, 1, 0, 0, 1, 1], Kind.VERDICT, lemmas)
    >>> estimate.value, round(estimate.effect, 2), estimate.clusters.method
    (0.5, 2.0, 'Wilson with t(2); random: lemmas; only 3 lemmas')
    """
    array = np.asarray(values, np.float64)
    kept = ~np.isnan(array)
    labels = {
        name: [label for label, keep in zip(labels, kept, strict=True) if keep] for name, labels in clusters.items()
    }
    array = array[kept]
    if not len(array):
        none = interval.of_items(array, kind)
        return Clustered(nan, none, none, nan, 0, 0)
    mean = float(array.mean())
    spread = spread_of_clusters((array - mean) / len(array), labels)
    independent = interval.spread_of_items(array, kind).variance if len(array) > 1 else nan
    effect = spread.variance / independent if spread and spread.variance > 0 and independent > 0 else nan
    count = min((len(set(names)) for names in labels.values()), default=0)
    independently, clustering = interval.of_items(array, kind), of_clusters(array, kind, labels)
    return Clustered(mean, independently, clustering, effect, len(array), count)


# A smaller design effect changes little: the coverage of an interval for independent items is .926 then.
_LEAST_EFFECT = 1.2
# With fewer items of either verdict, nothing tells whether these are alike.
_EITHER = 5


@dataclass(frozen=True, slots=True)
class Alike:
    """How alike items with the same value of a tag are."""

    name: str  # what is estimated from the items, such as a suite
    tag: str  # `tag`, `count`: the tag for which this is clearest, and the number of its values
    count: int
    effect: float  # the design effect; nan if it is unknown
    p: float  # that of independent items, adjusted for the number of tags; 1 if it is unknown
    few: bool = False  # whether the values of the tag are too few for the data to tell


def alike(name: str, values: Numbers, kind: Kind, tags: Mapping[str, ArrayLike], few: str = "") -> Alike:
    """Compare the variance between the values of each tag with that of independent items.

    With independent items, the design effect is distributed about as chi-squared divided by its degrees of freedom.

    Arguments:
        name: what is estimated from the items.
        values: one number for each item; nan is undefined. Shape (items,).
        kind: the kind of the values.
        tags: tag -> its value for each item; items with "" are left out.
        few: a tag with too few values for the data to tell, which is taken if no other is clear.

    >>> lemmas = {"lemma": np.repeat(list("abcd"), 10)}
    >>> found = alike("s", np.repeat([1.0, 0.0, 1.0, 0.0], 10), Kind.VERDICT, lemmas)
    >>> found.count, round(found.effect, 2), found.p < 0.001  # 4/3 of the 10 items that always agree
    (4, 13.33, True)
    """
    from scipy.special import chdtrc

    found = []
    for tag, tagged in tags.items():
        labels = np.asarray(tagged)
        kept = np.isfinite(values) & (labels != "")
        part, (names, codes) = values[kept], np.unique(labels[kept], return_inverse=True)
        count, effect, p = len(names), nan, 1.0
        # Of three values, as of differences of verdicts, the rarest two tell.
        if 1 < count < len(part) and len(part) - np.unique(part, return_counts=True)[1].max() >= _EITHER:
            spread = spread_of_clusters((part - part.mean()) / len(part), {tag: codes})
            if spread and (independent := interval.spread_of_items(part, kind).variance) > 0:
                effect = spread.variance / independent
                p = min(1.0, len(tags) * float(chdtrc(spread.freedom, effect * spread.freedom)))
        found.append(Alike(name, tag, count, effect, p, tag == few and count > 1))
    none = Alike(name, "", 0, nan, 1.0)
    return min(found, key=lambda each: (each.p > LEVEL, not each.few, each.p), default=none)


def evident(found: Sequence[Alike]) -> list[Alike]:
    """Return those that rest on few words or whose items are clearly alike, the largest effect first."""
    # Clear are a design effect of 1.2, and a p of at most .05 by the method of Benjamini and Hochberg over all of a
    # table.
    found = [each for each in found if each.tag]
    adjusted = benjamini_hochberg([each.p for each in found])
    told = [
        each
        for each, p in zip(found, adjusted, strict=True)
        if each.few or (p <= LEVEL and each.effect >= _LEAST_EFFECT)
    ]
    return sorted(told, key=lambda each: -each.effect if isfinite(each.effect) else 0.0)


Units = Mapping[str, Sequence[str]]


def means(
    table: pl.DataFrame, by: Sequence[str], column: str, kind: Kind, units: Units | None = None, resampled: bool = False
) -> pl.DataFrame:
    """Compute the mean of a column with its interval for each group, in the order of first appearance.

    The columns of the result are `by` and `NUMBERS`: n is the number of rows, `units` that of the clusters of which
    there are fewest (0 without clusters). If there is one cluster of each kind, rows are random.

    Arguments:
        by: the columns that name a group.
        column: the column to average.
        kind: the kind of its values; `NUMBER` for differences.
        units: kind of cluster -> the columns that name its clusters; two kinds are crossed. By default, rows are
            independent.
        resampled: whether intervals are plain percentiles of a bootstrap of rows, or of one kind of cluster and of the rows
            within each that was drawn, as in the figures of some papers. They are too narrow with few clusters.

    Raises:
        UsageError: several kinds of cluster are resampled.

    >>> table = pl.DataFrame({"suite": ["a", "a", "b", "b", "c", "c"], "seed": [1, 2] * 3, "score": [1.0, 1, 0, 0, 1, 0]})
    >>> units = {"suites": ["suite"], "models": ["seed"]}
    >>> means(table.with_columns(all=1), ["all"], "score", Kind.SHARE, units)["method"].item()
    'Wilson with t(2.91); random: models, suites; only 2 models'
    """
    if resampled and len(units or {}) > 1:
        raise UsageError("units", ", ".join(units or {}), "one kind of cluster, to be resampled")
    rows = []
    for group, members in table.group_by(by, maintain_order=True):
        labels = {
            name: members.select(pl.concat_str(*columns, separator="/")).to_series().to_list()
            for name, columns in (units or {}).items()
        }
        counts = [len(set(names)) for names in labels.values()]
        values = members[column].to_numpy()
        if resampled:
            found = _resampled(values, labels, "/".join(map(str, group)))
        elif max(counts, default=0) > 1:
            found = of_clusters(values, kind, labels)
        else:
            found = interval.of_items(values, kind, "rows")
        rows.append(
            (*group, float(values.mean()), found.low, found.high, len(values), min(counts, default=0), found.method)
        )
    schema = {name: table.schema[name] for name in by} | _SCHEMA
    return pl.DataFrame(rows, schema=schema, orient="row")


def _resampled(values: Numbers, labels: Mapping[str, Sequence[str]], key: str) -> Interval:
    """Return the percentile interval of a bootstrap of rows, or of clusters and of the rows within each that was drawn."""
    parts, kind = [values], "rows"
    for name, of_rows in labels.items():
        kind = f"{name} and rows within"
        parts = [values[[other == label for other in of_rows]] for label in dict.fromkeys(of_rows)]
    resampling, count = bootstrap.current(), len(parts) if labels else len(values)
    drawn = bootstrap.counts(len(parts), key)
    source = bootstrap.generator(f"{key}, rows", resampling.seed)
    sums = np.zeros(len(drawn))
    for times, part in zip(drawn.T, parts, strict=True):
        sums += source.multinomial(times * len(part), np.full(len(part), 1 / len(part))) @ part
    low, high = np.percentile(sums / (drawn @ [len(part) for part in parts]), (2.5, 97.5)) if count > 1 else (nan, nan)
    return Interval(float(low), float(high), f"percentile {resampling.method(kind, count)}")


_SCHEMA = {
    "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "units": pl.Int64, "method": pl.String,
}  # fmt: skip


# With fewer lemmas of unequal weight, the interval covers a little less than it should (`benchmarks/coverage.py`).
UNEQUAL = 100


def of_shares(shares: Numbers, parts: Numbers, wholes: Numbers) -> Interval:
    """Compute the interval of the mean of shares (equal or model weight) for other contexts and lemmas, which are crossed.

    In each context, the share is a ratio of sums over lemmas: of wins to lemmas (equal weight), or of the probability of
    right forms to that of all forms (model weight).

    Arguments:
        shares: the share in each context, at least two. Shape (contexts,).
        parts, wholes: of each lemma, summed over contexts; at least two. Shape (lemmas,).

    >>> of_shares(np.array([0.5, 0.75, 0.5]), np.array([3.0, 2, 2, 0]), np.full(4, 3.0)).method
    'Wilson with t(3.88); random: contexts, lemmas; only 3 contexts'
    """
    of_contexts, of_lemmas = (
        interval.spread_of_items(shares, Kind.SHARE, "contexts"), spread_of_ratio(parts, wholes, "lemmas")
    )  # fmt: skip
    variances, units = [of_contexts.variance, of_lemmas.variance], [of_contexts.units[0], of_lemmas.units[0]]
    spread = combined(variances, units, freedoms=[len(shares) - 1.0, of_lemmas.freedom])
    found = interval.score(float(shares.mean()), spread)
    equal = of_lemmas.freedom + 1 > 0.9 * len(wholes)
    if equal or len(wholes) >= UNEQUAL or found.remarks:
        return found
    return found.remarked(f"only {len(wholes)} lemmas of unequal weight")


# Means in bins. Suites are random, as in `of_items`: the variance of a bin is that of the sums of its suites. If
# suites differ much, intervals are far wider than those of as many independent items. With `suites="fixed"`, or in a bin
# of one suite, items are random.

BINNED_SCHEMA = {
    "model": pl.String, "property": pl.String, "start": pl.Float64, "end": pl.Float64, "middle": pl.Float64,
    "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "suites": pl.Int64, "method": pl.String,
}  # fmt: skip
BINS = 10


def means_in_bins(pairs: pl.DataFrame, properties: Sequence[str], bins: int = BINS) -> pl.DataFrame:
    # The result has the columns of `BINNED_SCHEMA`.
    rows: list[tuple[object, ...]] = []
    for (model,), table in pairs.group_by("model", maintain_order=True):
        for name in properties:
            kept = table.filter(pl.col("value").is_not_nan() & pl.col(name).is_finite())
            rows += [(model, name, *numbers) for numbers in _bins(kept, name, bins)]
    return pl.DataFrame(rows, schema=BINNED_SCHEMA, orient="row")


def edges(values: Numbers, bins: int) -> Numbers:
    """Return the edges of bins with equal counts. There are fewer bins if values are equal. Bins include their upper edge.

    >>> edges(np.array([1.0, 2, 3, 4]), 2).tolist(), edges(np.array([5.0, 5, 5, 5]), 2).tolist()
    ([1.0, 2.0, 4.0], [5.0, 5.0])
    """
    ends = np.unique(np.quantile(values, np.arange(1, bins + 1) / bins, method="inverted_cdf"))
    return np.concatenate([[values.min()], ends])


def _bins(table: pl.DataFrame, name: str, bins: int) -> list[tuple[object, ...]]:
    if table.is_empty():
        return []
    numbers, values = table[name].cast(pl.Float64).to_numpy(), table["value"].to_numpy()
    borders = edges(numbers, bins)
    places = np.searchsorted(borders[1:], numbers, side="left")
    suites = table["suite"].rank("dense").to_numpy().astype(int)
    rows: list[tuple[object, ...]] = []
    for place, (start, end) in enumerate(pairwise(borders)):
        inside = places == place
        if n := int(inside.sum()):
            count = len(np.unique(suites[inside]))
            found = of_items(values[inside], Kind.VERDICT, suites[inside])
            means = float(numbers[inside].mean()), float(values[inside].mean())
            rows.append((float(start), float(end), *means, found.low, found.high, n, count, found.method))
    return rows
