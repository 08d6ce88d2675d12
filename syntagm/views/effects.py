"""Effects: the mean difference in bits between the two sides of each comparison, with interval and d.

A prediction is a comparison, or several joined by `&` or `|`; each comparison has its own effect. The effect is the
mean over items of the difference between its two sides within the item, computed so that a positive effect supports the
prediction: b - a for `a < b`, and a - b for `a > b`. For `a = b`, it is a - b, and 0 supports the prediction. For
formulas with sums, it is the difference of differences, such as the garden-path effect or the interaction in a 2x2
design.
"""

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isfinite, isnan, nan
from typing import Annotated, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import UsageError, shown
from syntagm.evaluation import Estimate, Group, Kind, Reading, SuiteRecord, regions, whole_sentences
from syntagm.runs import Run, named, titles
from syntagm.stats import Alike, difference, interval, matching
from syntagm.suites import Formula, Reference, parse
from syntagm.views import shared_words
from syntagm.views.comparison import letters, shared_suites
from syntagm.views.drawing import dots, text, vega
from syntagm.views.drawing.chart import INK, Figure, Spec, finish
from syntagm.views.drawing.table import Cell, Table
from syntagm.views.drawing.text import IN_FIGURE, distinct, lines, only, or_none, spoken
from syntagm.views.drawing.vega import COLOURS
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
    if not (compared := comparisons(run.suite(suite), measure)):
        return []
    if sentences is None or not run.task.surprisals:
        sentences = run.scored(suite)
    return within(sentences, run.reading(suite), compared)


def comparisons(record: SuiteRecord, measure: str = "each") -> list[tuple[str, Formula]]:
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


def suite_effects(
    run: Run, suite: str, measure: str = "each", model: str = "", sentences: pl.DataFrame | None = None
) -> list[Effect]:
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
                for effect in suite_effects(run, record.name, measure, model):
                    group = replace(effect.estimate.group, suite=names[record.name, record.hash])
                    count += 1
                    yield replace(effect, estimate=replace(effect.estimate, group=group))

    if not count:
        raise nothing(suite, measure)


def nothing(suite: str, measure: str) -> UsageError:
    chosen = " ".join(filter(None, (f"suite={suite}" if suite else "", f"measure={measure}")))
    return UsageError(f"effects, {chosen}", "no comparison of regions", "predictions of a run of `syntagm run`")


SCHEMA: dict[str, Any] = {
    "model": pl.String, "suite": pl.String, "measure": pl.String, "comparison": pl.String, "contrast": pl.String,
    "n": pl.Int64, "effect_bits": pl.Float64, "low": pl.Float64, "high": pl.Float64, "d": pl.Float64,
}  # fmt: skip
WIDTH = 420
# A figure with more effects than this also has an axis at the top.
MANY = 25


def draw_figure(runs: Sequence[Run], suite: Suite = "", measure: Measure = "each") -> Figure:
    """Draw the effects, one panel for each suite and one row for each comparison.

    The errors are the same as for `make_table`.
    """
    drawn = list(all_effects(runs, suite, measure))
    skipped = any(len(record.predictions) > 1 for run in runs for record in run.suites if suite in ("", record.name))
    return draw(drawn, "Effects", measure if skipped else "each")


def draw(
    estimated: Sequence[Effect], title: str = "", measure: str = "each", ends: tuple[float, float] | None = None
) -> Figure:
    """Draw effects, one panel for each suite, in the order of first appearance."""
    # If every suite has the same single comparison, as minimal pairs do, one panel has a row for each suite.
    ends = ends or extent(estimated)
    models = list(distinct(effect.estimate.group.model for effect in estimated).values())
    by_suite: dict[str, list[Effect]] = {}
    for effect in estimated:
        by_suite.setdefault(effect.estimate.group.suite, []).append(effect)
    below = ["mean difference within items in bits, 95% interval; right of 0 supports the prediction", *only(models)]
    below += [] if measure == "each" else [_named(measure)]
    compared = {contrast(effect.comparison) for effect in estimated}
    if len(compared) == 1 and len(by_suite) > 1 and not several(estimated):
        below.append(f"effect: {compared.pop()}")
        spec = panel(estimated, models, "", ends, by_suite=True)
    else:
        labelled = [""] * (len(by_suite) - 1) + ["bottom"]
        if len(estimated) > MANY:
            labelled[0] = "top"
        plots = [
            panel(of_suite, models, suite, ends, at == 0, labelled[at])
            for at, (suite, of_suite) in enumerate(by_suite.items())
        ]
        spec = vega.pile(plots, 8)
    return Figure(finish(spec, title, [*below, *lines(limits(estimated, IN_FIGURE))], offset=14), frame(estimated))


def _in_bits(effect_bits: float, low: float, high: float) -> str:
    """Format an effect with its interval, for the right edge of the figure.

    >>> _in_bits(-0.5, -1.25, 0.25), _in_bits(-1e-9, nan, nan), _in_bits(nan, nan, nan)
    ('−0.50 [−1.25, 0.25]', '0.00', 'undefined')
    """
    if isnan(effect_bits):
        return "undefined"
    value, *ends = (f"{round(number, 2) + 0.0:.2f}" for number in (effect_bits, low, high))
    return (value if isnan(low) else f"{value} [{', '.join(ends)}]").replace("-", "−")


def _named(measure: str) -> str:
    return "first prediction of each suite only" if measure == "first" else f"prediction {shown(measure)} only"


def frame(estimated: Sequence[Effect]) -> pl.DataFrame:
    rows = [
        (group.model, group.suite, group.measure, str(effect.comparison), contrast(effect.comparison), effect.estimate.n,
         *effect.estimate.numbers[:3], effect.d)
        for effect in estimated for group in [effect.estimate.group]
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def extent(estimated: Sequence[Effect]) -> tuple[float, float]:
    """Return the lowest and the highest number of bits to draw, including all intervals and 0."""
    ends = [end for effect in estimated for end in effect.estimate.numbers[:3] if isfinite(end)]
    return min([0.0, *ends]), max([0.0, *ends])


def panel(
    estimated: Sequence[Effect],
    models: Sequence[str],
    title: str,
    ends: tuple[float, float],
    key: bool = True,
    labelled: str = "bottom",
    by_suite: bool = False,
) -> Spec:
    apart = several(estimated)
    rows = []
    for of_row, row in zip(estimated, frame(estimated).iter_rows(named=True), strict=True):
        effect = f"{row['measure']}, {row['contrast']}" if apart else row["contrast"]
        name = row["suite"] if by_suite else effect
        numbers = {key: row[key] if isfinite(row[key]) else nan for key in ("effect_bits", "low", "high")}
        described = f"{row['model']}, {row['suite']}, {effect}: {spoken(*numbers.values())} bits, n={row['n']}"
        rows.append(
            {
                **{
                    "name": "\n".join(textwrap.wrap(shown(name), 48, break_on_hyphens=False)),
                    "series": row["model"],
                    "note": _in_bits(**numbers),
                    "method": of_row.estimate.method,
                },
                **dict(zip(("value", "low", "high"), numbers.values(), strict=True)),
                "said": described + ("" if isnan(row["d"]) else f", d={row['d']:.2f}"),
            }
        )
    title_of_axis = "effect (bits)" if labelled else None
    scale = {"domain": list(ends), "nice": True}
    edge = {"labels": bool(labelled), "ticks": bool(labelled), "orient": labelled or "bottom"}
    axis = vega.quantity("value", title_of_axis, scale, tickCount=6, **edge)
    # A single model is not a series: its colour could be taken for that of a condition.
    colours = COLOURS if len(models) > 1 else (INK,)
    return dots.panel(rows, axis, title, 0.0, models, WIDTH, key=key and len(models) > 1, colours=colours)


COLUMNS = ("model", "suite", "measure", "n", "effect_bits", "low", "high", "d", "undefined", "comparison", "contrast")
OF_PAIRS = ("A", "B", *COLUMNS[1:4], "effect A", "effect B", "B - A", *COLUMNS[5:])
MEANING = (
    "A positive effect supports the prediction: for a < b the effect is b - a, for a > b it is a - b. For a = b it is a - b, "
    "and 0 supports the prediction."
)


def make_table(
    runs: Sequence[Run],
    suite: Suite = "",
    measure: Measure = "each",
    paired: Annotated[bool, "differences between models within items, B - A, instead of effects"] = False,
) -> Table:
    """Make one row for each comparison and model; if `paired`, one for each comparison and pair of models.

    Raises:
        UsageError: there is no such suite or prediction, or there are fewer than two runs to pair.
        RunError: a run has no sentences, or two runs to pair have no suite in common.
    """
    if paired:
        return _table_of_pairs(runs, suite, measure)
    found = list(all_effects(runs, suite, measure))
    rows = tuple((effect.estimate.group.model, *_about(effect), *_numbers(effect), *_rest(effect)) for effect in found)
    notes = (*_notes("of the item differences"), *limits(found), *_reasons(found))
    narrow = (*COLUMNS[:2], *_told_apart(found), *COLUMNS[3:8], "contrast")
    return Table("Effects", COLUMNS, rows, notes=notes, narrow=narrow)


def _table_of_pairs(runs: Sequence[Run], suite: str, measure: str) -> Table:
    if len(runs) < 2:
        raise UsageError("paired=", "one run", "two or more runs")
    rows: list[tuple[Cell, ...]] = []
    changes: list[Effect] = []
    skipped: list[str] = []
    for (a, first), (b, second) in combinations(named(runs), 2):
        shared, reasons = shared_suites(first, second)
        skipped += [note for reason in reasons if (note := f"Skipped: {reason}.") not in skipped]
        for name in shared:
            for of_a, of_b, change in between(first, second, name, measure) if suite in ("", name) else ():
                sides = (of_a.estimate.value, of_b.estimate.value)
                rows.append((a, b, *_about(change), *map(or_none, sides), *_numbers(change), *_rest(change)))
                changes.append(change)
    if not rows:
        raise nothing(suite, measure)
    notes = (
        *letters(runs),
        *_notes("of the item differences B - A"),
        *limits(changes),
        "Only items that are defined under both models count.",
        *_reasons(changes),
        *skipped,
    )
    narrow = (*(OF_PAIRS[:2] if len(runs) > 2 else ()), "suite", *_told_apart(changes), *OF_PAIRS[4:11], "contrast")
    return Table("Effects compared", OF_PAIRS, tuple(rows), notes=notes, narrow=narrow)


def _notes(deviation: str) -> tuple[str, ...]:
    return (
        "Means over items, in bits; each difference is within an item. d: the mean divided by the standard deviation "
        f"{deviation}. contrast: the effect as a difference of conditions.",
        MEANING,
        f"low, high: 95% interval, {interval.OF_NUMBERS}.",
    )


def _told_apart(estimated: Sequence[Effect]) -> tuple[str, ...]:
    return ("measure",) if several(estimated) else ()


def _reasons(estimated: Sequence[Effect]) -> tuple[str, ...]:
    counts = Counter(reason for effect in estimated if (reason := effect.missing))
    return tuple(
        f"{reason[0].upper()}{reason[1:]}, in {count} of {len(estimated)} rows." for reason, count in counts.items()
    )


def _about(effect: Effect) -> tuple[Cell, ...]:
    return (effect.estimate.group.suite, effect.estimate.group.measure, effect.estimate.n)


def _numbers(effect: Effect) -> Iterator[Cell]:
    return map(or_none, (*effect.estimate.numbers[:3], effect.d))


def _rest(effect: Effect) -> tuple[Cell, ...]:
    return (effect.estimate.undefined, str(effect.comparison), contrast(effect.comparison))


__all__ = ["draw_figure", "make_table"]
