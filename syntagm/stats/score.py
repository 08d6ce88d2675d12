"""Scores from results: means by suite and measure and over suites, differences of measures, contrasts of suites.

A suite may have several predictions. Two published rules combine them into one verdict for each item: `first` uses the
first prediction (the raw results of Hu et al. 2020), `all` requires that all predictions hold (the Hugging Face metric
`cpllab/syntaxgym`). Under `all`, an item is undefined if any of its predictions is. The name of a measure is also a
rule: it uses that measure, in the suites that have it.

Tables of results have the columns model, suite, item, measure, value and margin. A tally is what numbers need of them:
one row for each model, suite and measure. It is a hundred times smaller than the results of a large suite, and several
scores are computed from one.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import inf

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from syntagm.evaluation import Estimate, Group, Kind
from syntagm.stats import interval, suite_intervals
from syntagm.stats.interval import mean_of, means_of
from syntagm.stats.matching import OCCURRENCE, joined, numbered

Predictions = Mapping[str, Sequence[str]]
KindOf = Callable[[str], Kind]
_ITEM = ("model", "suite", "item")
# The most names of measures that are looked for one by one.
_NAMES = 8


@dataclass(frozen=True, slots=True)
class Sample:
    """The values of the items of one suite under one model."""

    suite: str
    kind: Kind  # the kind of the values; for paired differences, that of the values that differ
    values: NDArray[np.float64]  # the defined values. Shape (items,).
    ties: int  # the number of defined values with a margin within the tolerance
    undefined: int  # the number of further items without a value

    @property
    def value(self) -> float:
        """The mean; nan without values."""
        return mean_of(self.values) if len(self.values) else np.nan


def accuracy(results: pl.DataFrame, kind_of: KindOf, tolerance: float) -> list[Estimate]:
    """Compute the accuracy of each model, suite and measure, in the order of first appearance.

    Arguments:
        kind_of: measure -> kind of its values.
        tolerance: margins within this many bits are ties.

    >>> table = {"model": ["m"] * 3, "suite": ["s"] * 3, "item": ["1", "2", "3"], "measure": ["0"] * 3}
    >>> table |= {"value": [1.0, 0.0, float("nan")], "margin": [2.5, 0.0, float("nan")]}
    >>> [estimate] = accuracy(pl.DataFrame(table), lambda measure: Kind.VERDICT, 1e-4)
    >>> estimate.value, estimate.n, estimate.ties, estimate.undefined
    (0.5, 2, 1, 1)
    """
    return accuracies(tally(results, tolerance), kind_of)


def accuracies(tallied: pl.DataFrame, kind_of: KindOf) -> list[Estimate]:
    return [estimate(group, [sample]) for group, sample in samples(tallied, kind_of)]


def score(
    results: pl.DataFrame,
    predictions: Predictions,
    kind: Kind,
    tolerance: float,
    rule: str = "first",
    tag: str = "",
    labels: Mapping[str, str] | None = None,
) -> list[Estimate]:
    """Compute the unweighted mean accuracy over all suites, or over the suites with each label."""
    # The score is nan if a suite has no defined item, because a score over fewer suites would not be comparable.
    # `predictions` has the names of the predictions of each suite to include, in order.
    return scores(tally(verdicts(results, predictions, rule), tolerance), predictions, kind, rule, tag, labels)


def scores(
    tallied: pl.DataFrame,
    predictions: Predictions,
    kind: Kind,
    rule: str,
    tag: str = "",
    labels: Mapping[str, str] | None = None,
) -> list[Estimate]:
    suites = [suite for suite, names in predictions.items() if names and (rule in ("first", "all") or rule in names)]
    labels = dict.fromkeys(suites, "") if labels is None else labels
    by_model: dict[str, dict[str, Sample]] = {}
    for group, sample in samples(tallied, lambda measure: kind):
        by_model.setdefault(group.model, {})[sample.suite] = sample
    estimates = []
    for model, by_suite in by_model.items():
        for label in dict.fromkeys(labels[suite] for suite in suites if suite in labels):
            chosen = [
                by_suite.get(suite, Sample(suite, kind, np.empty(0), 0, 0))
                for suite in suites
                if labels.get(suite) == label
            ]
            group = Group(str(model), rule=rule, labels=((tag, label),) if tag else ())
            estimates.append(estimate(group, chosen))
    return estimates


def verdicts(results: pl.DataFrame, predictions: Predictions, rule: str) -> pl.DataFrame:
    """Return the results under a rule: one row for each item, with the rule in the column `measure`.

    >>> rows = [("m", "s", "1", "0", 1.0, 2.0), ("m", "s", "1", "1", 0.0, -3.0)]
    >>> table = pl.DataFrame(rows, schema=["model", "suite", "item", "measure", "value", "margin"], orient="row")
    >>> verdicts(table, {"s": ["0", "1"]}, "all").select("measure", "value", "margin").rows()
    [('all', 0.0, -3.0)]
    """
    return _conjunction(results, predictions) if rule == "all" else selected(results, predictions, rule)


def selected(table: pl.DataFrame, predictions: Predictions, rule: str) -> pl.DataFrame:
    """Return the rows of the one measure of each suite that a rule other than "all" selects, under the rule's name."""
    if rule == "first":
        measure_of_suite = {suite: names[0] for suite, names in predictions.items() if names}
    else:
        measure_of_suite = {suite: rule for suite, names in predictions.items() if rule in names}
    return _rows_of(table, measure_of_suite).with_columns(measure=pl.lit(rule))


def _rows_of(table: pl.DataFrame, measure_of_suite: Mapping[str, str]) -> pl.DataFrame:
    suites_of: dict[str, list[str]] = {}
    for suite, measure in measure_of_suite.items():
        suites_of.setdefault(measure, []).append(suite)
    if len(suites_of) <= _NAMES:
        # Usually all suites have the same few names: looking for each takes a fifth of the time of a join.
        named = [
            (pl.col("measure") == measure) & pl.col("suite").is_in(suites) for measure, suites in suites_of.items()
        ]
        return table.filter(pl.any_horizontal(named) if named else pl.lit(False))
    pairs = pl.DataFrame(
        {"suite": list(measure_of_suite), "measure": list(measure_of_suite.values())},
        schema=_strings("suite", "measure"),
    )
    return table.join(pairs, on=["suite", "measure"], how="semi", maintain_order="left")


def _conjunction(results: pl.DataFrame, predictions: Predictions) -> pl.DataFrame:
    most = max(map(len, predictions.values()), default=0)
    by_place = [
        _rows_of(results, {suite: names[place] for suite, names in predictions.items() if place < len(names)})
        for place in range(most)
    ]
    first, *others = [rows for rows in by_place if len(rows)] or [results.clear()]
    items = first.select(_ITEM)
    if all(items.equals(other.select(_ITEM)) for other in others):
        # Usually all measures have the same items in the same order: then nothing has to be grouped.
        both = [tuple(table[name].to_numpy() for table in (first, *others)) for name in ("value", "margin")]
        # `minimum` is nan if a value is, `fmin` is not.
        least = items.with_columns(value=reduce(np.minimum, both[0]), margin=reduce(np.fmin, both[1]))
    else:
        places = [(suite, name) for suite, names in predictions.items() for name in names]
        named = pl.DataFrame(places, schema=_strings("suite", "measure"), orient="row")
        chosen = results.join(named, on=["suite", "measure"], maintain_order="left")
        chosen = numbered(chosen, "model", "suite", "measure")
        groups = chosen.group_by(*_ITEM, OCCURRENCE, maintain_order=True)
        least = groups.agg(pl.col("value").nan_min(), pl.col("margin").min())
    margin = pl.when(pl.col("value").is_nan()).then(np.nan).otherwise(pl.col("margin"))
    return least.select(*_ITEM, pl.lit("all").alias("measure"), "value", margin.alias("margin"))


def tally(results: pl.DataFrame, tolerance: float) -> pl.DataFrame:
    """Return one row for each model, suite and measure, in the order of first appearance."""
    defined = pl.col("value").is_not_nan()
    tied = pl.col("margin").abs() <= tolerance
    models = results["model"].unique()
    # The results of a run have one model, by which nothing has to be grouped.
    keys = ("suite", "measure") if len(models) == 1 else ("model", "suite", "measure")
    tallied = results.group_by(*keys, maintain_order=True).agg(
        pl.col("value").filter(defined), (tied & defined).sum().alias("ties"), (~defined).sum().alias("undefined")
    )
    if len(models) == 1:
        tallied = tallied.with_columns(model=pl.lit(models[0]))
    return tallied.select("model", "suite", "measure", "value", "ties", "undefined")


def samples(tallied: pl.DataFrame, kind_of: KindOf) -> Iterator[tuple[Group, Sample]]:
    if tallied.is_empty():
        return
    sizes = tallied["value"].list.len()
    # In one piece, of which the samples are parts: an empty list would leave a null.
    flat = tallied["value"].filter(sizes > 0).explode().to_numpy().astype(np.float64)
    parts = np.split(flat, sizes.cum_sum().to_list()[:-1])
    rows = tallied.select("model", "suite", "measure", "ties", "undefined").iter_rows()
    kinds = {measure: kind_of(measure) for measure in tallied["measure"].unique(maintain_order=True)}
    for values, (model, suite, measure, ties, undefined) in zip(parts, rows, strict=True):
        yield Group(model, suite, measure), Sample(suite, kinds[measure], values, ties, undefined)


def estimate(group: Group, samples: Sequence[Sample], difference: bool = False) -> Estimate:
    """Estimate the unweighted mean over suites of the means of their items, with its interval."""
    values = {sample.suite: sample.values for sample in samples}
    found = suite_intervals.over_suites(values, samples[0].kind, difference)
    return found.estimate(
        group,
        mean_of(means_of(sample.values for sample in samples)),
        sum(len(sample.values) for sample in samples),
        sum(sample.ties for sample in samples),
        sum(sample.undefined for sample in samples),
        over(len(samples), found.method),
    )


def over(suites: int, method: str) -> str:
    """Name the method of a number over suites, beginning with the number of suites if there are several.

    >>> over(31, "t(30); random: suites, items")
    'mean of 31 suites; t(30); random: suites, items'
    """
    return method if suites == 1 else f"mean of {suites} suites; {method}"


def _strings(*names: str) -> dict[str, type[pl.String]]:
    return dict.fromkeys(names, pl.String)


# A mean over suites is unweighted, with the interval of `suite_intervals.over_suites`. A difference between suites is the
# mean of the differences of pairs of suites, about these suites: their items are unrelated and random, the suites are
# fixed. A difference between two measures of the same items is computed item by item.

Key = tuple[str, str]
_OCCURRENCE = ("model", "suite", "item", OCCURRENCE)


def of_results(results: pl.DataFrame, measure: str, kind: Kind, tolerance: float) -> dict[Key, Sample]:
    """Return the values of one measure: (model, suite) -> items, in the order of first appearance."""
    chosen = results.filter(pl.col("measure") == measure)
    found = samples(tally(chosen, tolerance), lambda _: kind)
    return {(group.model, group.suite): sample for group, sample in found}


def of_values(suite: str, kind: Kind, values: ArrayLike, ties: int = 0, undefined: int = 0) -> Sample:
    return Sample(suite, kind, np.asarray(values, np.float64), ties, undefined)


def of_counts(suite: str, right: int, n: int) -> Sample:
    """Return the items of a suite of which only the counts are known.

    Arguments:
        right: the number of items with value 1.
        n: the number of items.

    >>> of_counts("agreement", 3, 4).value
    0.75
    """
    return of_values(suite, Kind.VERDICT, np.repeat([1.0, 0.0], [right, n - right]))


def of_differences(results: pl.DataFrame, first: str, second: str, kind: Kind, tolerance: float) -> dict[Key, Sample]:
    """Return the differences of two measures of one kind, `first` minus `second`, item by item: (model, suite) -> items."""
    # Only suites with both measures are included. An item that is undefined under either measure counts as undefined;
    # an item that is a tie under either counts as a tie.
    sides = [
        numbered(results.filter(pl.col("measure") == measure), "model", "suite").select(
            *_OCCURRENCE,
            pl.col("value").alias(f"value{side}"),
            (pl.col("margin").abs() <= tolerance).alias(f"tied{side}"),
        )
        for measure, side in ((first, ""), (second, "_second"))
    ]
    both = (
        joined(sides[0], sides[1], _OCCURRENCE)
        .with_columns(pl.col("value", "value_second").fill_null(np.nan))
        .with_columns(difference=pl.col("value") - pl.col("value_second"), tied=pl.col("tied") | pl.col("tied_second"))
    )
    defined = pl.col("difference").is_not_nan()
    table = both.group_by("model", "suite", maintain_order=True).agg(
        pl.col("difference").filter(defined),
        (pl.col("tied").fill_null(False) & defined).sum().alias("ties"),
        (~defined).sum().alias("undefined"),
    )
    present = [set(side.select("model", "suite").unique().iter_rows()) for side in sides]
    return {
        (model, suite): of_values(suite, kind, values.to_numpy(), ties, undefined)
        for model, suite, values, ties, undefined in zip(*table.get_columns(), strict=True)
        if (model, suite) in present[0] & present[1]
    }


def mean(suites: Sequence[Sample], group: Group) -> Estimate:
    """Compute the unweighted mean over suites; nan if one of them has no defined item.

    >>> [mean([of_counts("a", 1, 2), of_counts("b", 2, 2)], Group()).value]
    [0.75]
    """
    return estimate(group, suites)


def mean_difference(suites: Sequence[Sample], group: Group) -> Estimate:
    """Compute the unweighted mean over suites of the differences that `of_differences` returns."""
    return estimate(group, suites, difference=True)


def contrast(pairs: Sequence[tuple[Sample, Sample]], group: Group) -> Estimate:
    """Compute the mean over pairs of suites of the first minus the second; a suite may be in several pairs.

    The interval joins those of the suites (Newcombe 1998, method 10; Zou & Donner 2008), so that it has a width also
    where all items of a suite agree.

    >>> found = contrast([(of_counts("near", 4, 4), of_counts("far", 1, 4))], Group())
    >>> found.value, found.method
    (0.75, 'difference, 1 pair of suites; Newcombe; random: items; fixed: suites; only 4 items')
    """
    weights: dict[str, float] = defaultdict(float)
    members: dict[str, Sample] = {}
    for pair in pairs:
        for sign, sample in zip((1, -1), pair, strict=True):
            weights[sample.suite] += sign / len(pairs)
            members[sample.suite] = sample
    value = float(sum(weights[suite] * sample.value for suite, sample in members.items()))
    below = above = 0.0
    for suite, sample in members.items():
        found = interval.of_items(sample.values, sample.kind)
        to_low, to_high = weights[suite] * (found.low - sample.value), weights[suite] * (found.high - sample.value)
        below += min(to_low, to_high) ** 2
        above += max(to_low, to_high) ** 2
    sizes = [len(sample.values) for sample in members.values()]
    number = "1 pair of suites" if len(pairs) == 1 else f"{len(pairs)} pairs of suites"
    kind = "no interval: fewer than two items in a suite" if min(sizes) < 2 else "Newcombe"
    spread = interval.Spread(0.0, inf, (("items", min(sizes)),), "suites")
    joint = spread.interval(value - below**0.5, value + above**0.5, f"difference, {number}; {kind}")
    ties, undefined = (sum(getattr(sample, name) for sample in members.values()) for name in ("ties", "undefined"))
    return joint.estimate(group, value, sum(sizes), ties, undefined)
