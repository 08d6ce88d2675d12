"""The numbers of effects: differences within items, their means with intervals, and contrasts in words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isnan, nan
from typing import Annotated

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import UsageError
from syntagm.evaluation import Estimate, Group, Kind, Reading, SuiteRecord, regions, whole_sentences
from syntagm.runs import Run, named, titles
from syntagm.stats import Alike, difference, interval, matching
from syntagm.suites import Formula, Reference, parse
from syntagm.views import shared_words
from syntagm.views.drawing import text
from syntagm.views.options import Named, measures
from syntagm.views.shared_words import SharedWords


def _suites(runs: Sequence[Run]) -> list[str]:
    return [suite.name for run in runs for suite in run.suites]


Suite = Annotated[str, Named("name of a suite; default: every suite", _suites)]
Measure = Annotated[str, Named("name of a prediction, `first` (of each suite) or `each`", measures, ("first", "each"))]


# A difference of fewer bits is that of rounding, far below any tolerance.
_ROUNDING = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """The differences in bits between the two sides of a comparison, within each item."""

    measure: str  # the name of the prediction that contains the comparison
    comparison: Formula
    items: pl.DataFrame  # the items, with the columns item and occurrence
    bits: NDArray[np.float64]  # the difference of each item; nan if a region is missing or undefined. Shape (items,).


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of a comparison."""

    comparison: Formula
    estimate: Estimate  # the mean of the differences in bits; its group has model, suite and measure
    # The mean divided by the standard deviation of the differences (Cohen's d_z); nan if there are fewer than two
    # items, or if all differences are equal within the tolerance.
    d: float
    alike: Alike  # how alike items that share words are

    @property
    def missing(self) -> str:
        """What the effect lacks, interval and d or only d, and why; "" if it has both."""
        if not isnan(self.d):
            return ""
        if self.estimate.n < 2:
            why = "fewer than two defined items"
        elif not isfinite(self.estimate.value):
            why = "an infinite difference"
        else:
            why = "all items have the same difference"
        return f"no {'interval and no ' if isnan(self.estimate.low) else ''}d: {why}"


def differences(
    run: Run, suite: str, measure: str = "each", sentences: pl.DataFrame | None = None
) -> list[Differences]:
    """Compute the differences of all items for each comparison of the predictions of a suite."""
    if not (compared := comparisons(run.suite(suite), measure)):
        return []
    if sentences is None or not run.task.surprisals:
        sentences = run.scored(suite)
    return within(sentences, run.reading(suite), compared)


def comparisons(record: SuiteRecord, measure: str = "each") -> list[tuple[str, Formula]]:
    """Return the comparisons of the predictions of a suite, each with the name of its prediction."""
    return [
        (name, comparison)
        for name, formula in _formulas(record, measure).items()
        for comparison in formula.comparisons()
    ]


def within(sentences: pl.DataFrame, reading: Reading, compared: Sequence[tuple[str, Formula]]) -> list[Differences]:
    """Compute the differences of all items for some comparisons."""
    table = matching.numbered(sentences, "condition")
    items = table.select("item", matching.OCCURRENCE).unique(maintain_order=True).with_row_index("number")
    # Items with the same id are told apart by their number, which takes the place of the id.
    table = table.join(items, on=["item", matching.OCCURRENCE], maintain_order="left")
    table = table.with_columns(item=pl.col("number").cast(pl.String))
    values = pl.concat(
        [
            regions(table, reading).select("item", "condition", "region", "bits"),
            whole_sentences(table, reading).select("item", "condition", pl.lit("*").alias("region"), "bits"),
        ]
    ).unique(["item", "condition", "region"], keep="first", maintain_order=True)
    by_place = values.partition_by("region", "condition", as_dict=True)

    def value(region: str, condition: str) -> NDArray[np.float64]:
        bits = np.full(len(items), nan)
        if (rows := by_place.get((region, condition))) is not None:
            bits[rows["item"].cast(pl.Int64).to_numpy()] = rows["bits"].to_numpy()
        return bits

    with np.errstate(invalid="ignore"):  # the difference of two infinite values is nan
        bits = [comparison.difference(value) for _, comparison in compared]
    # Sums of the same bits in another order differ by rounding.
    exact = [np.where(np.abs(of_items) < _ROUNDING, 0.0, of_items) for of_items in bits]
    return [
        Differences(name, comparison, items.drop("number"), of_items)
        for (name, comparison), of_items in zip(compared, exact, strict=True)
    ]


def _formulas(record: SuiteRecord, measure: str) -> dict[str, Formula]:
    names = record.predictions if measure == "each" else record.predictions_for(measure)
    return {name: parse(text) for name in names if (text := record.predictions[name])}


def references(record: SuiteRecord) -> tuple[Reference, ...]:
    """Return the regions and conditions that the first prediction of a suite compares, including repetitions."""
    return tuple(reference for formula in _formulas(record, "first").values() for reference in formula.references())


def first_of_several(record: SuiteRecord) -> str:
    """Return the name of the first prediction if the suite has several; otherwise ""."""
    return next(iter(record.predictions_for("first")), "") if len(record.predictions) > 1 else ""


def effects(
    run: Run, suite: str, measure: str = "each", model: str = "", sentences: pl.DataFrame | None = None
) -> list[Effect]:
    """Estimate the effect of each comparison of the predictions of a suite."""
    # The arguments and errors are the same as for `differences`, and:
    words, tolerance = SharedWords(), run.tolerance_in_bits
    return [
        _effect(found, Group(model or run.model, suite, found.measure), found.bits, tolerance, run, words)
        for found in differences(run, suite, measure, sentences)
    ]


def between(first: Run, second: Run, suite: str, measure: str = "each") -> list[tuple[Effect, Effect, Effect]]:
    """Estimate the effects under two models, and their difference within items, for each comparison that both have."""
    # The effects of the two models use the items that are defined under both.
    others = {(found.measure, found.comparison): found for found in differences(second, suite, measure)}
    on, estimated, words = ["item", matching.OCCURRENCE], [], SharedWords()
    for found in differences(first, suite, measure):
        if (other := others.get((found.measure, found.comparison))) is None:
            continue
        sides = [side.items.with_columns(pl.Series(name, side.bits)) for name, side in (("a", found), ("b", other))]
        both = matching.joined(sides[0], sides[1], on).with_columns(pl.col("a", "b").fill_null(nan))
        a, b = both["a"].to_numpy(), both["b"].to_numpy()
        defined = difference(a, b)
        missing = np.isnan(defined)
        tolerance = max(first.tolerance_in_bits, second.tolerance_in_bits)
        group = Group(suite=suite, measure=found.measure)
        bits, paired = (np.where(missing, nan, a), np.where(missing, nan, b), defined), replace(found, items=both)
        estimated.append(tuple(_effect(paired, group, values, tolerance, first, words) for values in bits))
    return [(a_effect, b_effect, change) for a_effect, b_effect, change in estimated]


def _effect(
    of: Differences, group: Group, bits: NDArray[np.float64], tolerance: float, run: Run, words: SharedWords
) -> Effect:
    defined = bits[~np.isnan(bits)]
    n = len(defined)
    with np.errstate(invalid="ignore"):  # of infinite values
        mean = float(defined.mean()) if n else nan
        deviation = float(defined.std(ddof=1)) if n > 1 else nan
    found = interval.of_numbers(defined)
    estimate = found.estimate(group, mean, n, undefined=len(bits) - n)
    alike = words.of_items(run, group.suite, of.items.with_columns(value=pl.Series(bits)), Kind.BITS, group.model)
    return Effect(of.comparison, estimate, mean / deviation if deviation > tolerance else nan, alike)


def contrast(comparison: Formula) -> str:
    """Describe the effect of a comparison as a difference of conditions.

    >>> contrast(parse("(verb;%good%) < (verb;%bad%)"))
    'verb: bad − good'
    >>> contrast(parse("(v;%a%) - (v;%b%) > (v;%c%) - (v;%d%)"))
    'v: a − b − c + d'
    >>> contrast(parse("((v;%a%) - (v;%b%)) + (((n;%c%) + (v;%c%)) - ((n;%d%) + (v;%d%))) > 0"))
    'v: a − b, plus n + v: c − d'
    """
    by_condition: dict[tuple[str, int], list[str]] = {}
    for sign, reference in comparison.terms():
        region = "sentence" if reference.region == "*" else reference.region
        by_condition.setdefault((reference.condition, sign), []).append(region)
    parts: dict[tuple[str, ...], list[tuple[str, int]]] = {}
    for term, names in by_condition.items():
        parts.setdefault(tuple(names), []).append(term)
    if comparison.difference(lambda region, condition: 0.0) or any(sign < 0 for (_, sign), *_ in parts.values()):
        return str(comparison)
    return ", plus ".join(f"{' + '.join(names)}: {_signed(terms)}" for names, terms in parts.items())


def _signed(terms: Sequence[tuple[str, int]]) -> str:
    (first, _), *rest = terms
    return first + "".join(f" {'+' if sign > 0 else '−'} {condition}" for condition, sign in rest)


def limits(estimated: Sequence[Effect], most: int = text.MOST) -> tuple[str, ...]:
    """Return what limits effects as sentences: the remarks on them, and what intervals for other items don't know."""
    names = [" ".join(filter(None, (effect.estimate.group.suite, contrast(effect.comparison)))) for effect in estimated]
    models = [effect.estimate.group.model for effect in estimated]
    numbers = [
        (f"{name} ({model})" if model else name, effect.estimate)
        for name, model, effect in zip(names, models, estimated, strict=True)
    ]
    return (*text.limits(numbers, most), *shared_words.remark([effect.alike for effect in estimated]))


def several(estimated: Sequence[Effect]) -> bool:
    """Return whether a suite has effects of several predictions, so that a contrast may occur more than once."""
    places = {(effect.estimate.group.suite, effect.estimate.group.measure) for effect in estimated}
    return len(places) > len({suite for suite, _ in places})


def all_effects(runs: Sequence[Run], suite: str, measure: str) -> Iterator[Effect]:
    """Yield the effects of all runs; their groups have distinct names of models and suites."""
    names, count = titles(runs), 0
    for model, run in named(runs):
        for record in run.suites:
            if suite in ("", record.name):
                for effect in effects(run, record.name, measure, model):
                    group = replace(effect.estimate.group, suite=names[record.name, record.hash])
                    count += 1
                    yield replace(effect, estimate=replace(effect.estimate, group=group))

    if not count:
        raise nothing(suite, measure)


def nothing(suite: str, measure: str) -> UsageError:
    """Return the error for a suite and a measure that have no effects."""
    chosen = " ".join(filter(None, (f"suite={suite}" if suite else "", f"measure={measure}")))
    return UsageError(f"effects, {chosen}", "no comparison of regions", "predictions of a run of `syntagm run`")
