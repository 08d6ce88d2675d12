"""Comparison: paired differences between models on each suite and over suites, with tests and adjusted p-values.

Two runs are compared on the suites that both contain with the same content. Notes explain why other suites are skipped.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from syntagm.core import RunError, UsageError, public
from syntagm.evaluation import DEFAULT, Estimate, Kind
from syntagm.runs import Run, different, different_content, listed, named, run_of, treatment, unit as unit_of
from syntagm.stats import LEVEL, Comparison, Resampling, bootstrap, in_words, paired, using, verdicts
from syntagm.views import coverage, gaps
from syntagm.views.drawing import dots, vega
from syntagm.views.drawing.chart import GREY, Figure, Spec, finish
from syntagm.views.drawing.table import Cell, Listing, Table
from syntagm.views.drawing.text import IN_FIGURE, lines, or_none, remarks
from syntagm.views.drawing.vega import COLOURS, Row, estimated
from syntagm.views.estimates import predictions, refuse_conjunction, shared_kind
from syntagm.views.options import Measure
from syntagm.views.shared_words import SharedWords, remark

COLUMNS = (
    *("A", "B", "suite", "n", "score A", "low A", "high A", "score B", "low B", "high B", "B - A", "low", "high"),
    *("only A", "only B", "undefined"),
    *("p", "p Holm", "p Benjamini-Hochberg"),
)
# LaTeX leaves out the rest, which would not fit on a page.
NARROW = ("suite", "n", "score A", "score B", "B - A", "low", "high", "only A", "only B", "p Holm")
SCHEMA: dict[str, Any] = {
    "A": pl.String, "B": pl.String, "suite": pl.String, "difference": pl.Float64, "low": pl.Float64, "high": pl.Float64,
    "n": pl.Int64, "p Holm": pl.Float64, "better": pl.String,
}  # fmt: skip
TITLE = "Paired comparison"
WIDTH = 420
PAIRED = (
    "Scores and differences use the items that are defined under both models. The interval of the difference is paired: "
    "use it to judge the difference, not the overlap of the intervals of the scores."
)
# Over suites, for `Resampling.suites`.
_TESTS_OVER = {
    "random": "Student's t on the differences of the suites, and Hall's where they are skewed, for other suites and their items",
    "fixed": "a score test stratified by suite, for other items of the same suites",
}
TESTS = (
    "p: two-sided. On a suite, McNemar's test (asymptotic, without continuity correction; where nearly all items are "
    "discordant not below the exact p), with Tango's interval of the difference, for other items; over suites, {over}. p is at "
    "most 0.05 exactly where the 95% interval of the difference doesn't contain 0. The p-values of suites are adjusted over the "
    "suites of a pair of models by the methods of Holm (family-wise error rate) and of Benjamini and Hochberg (false discovery "
    "rate). only A, only B: number of items whose prediction holds under one model only."
)
UNJUDGED = "and such values neither hold nor fail, so there are no counts and no test"


@dataclass(frozen=True, slots=True)
class Pairing:
    """The comparison of two runs, a and b."""

    names: tuple[str, ...]  # the names of the models of a and b
    suites: Listing[Comparison]
    overall: Comparison  # the unweighted mean over suites
    # The items that the models judge differently, with the columns of `stats.paired.PAIR_COLUMNS`. Empty for measures
    # that are not verdicts.
    discordant: pl.DataFrame
    skipped: list[str]  # one sentence for each thing that was not compared, with the reason
    # One sentence for each reason why the runs are not comparable at all: other conventions, and those of
    # `gaps.incomparable`; and one for each run in which unknown tokens are compared (`views.coverage`).
    warnings: list[str]
    # What margins are differences of; "" if it is not the same under both models, so that margins can't be compared.
    unit: str = DEFAULT
    shared_words: tuple[str, ...] = ()  # what items that share words say of the differences; see `views.shared_words`

    def table(self) -> Table:
        compared = labelled(self.suites, self.overall)
        limits = remarks((name, comparison.difference.remarks) for name, comparison in compared)
        notes = (
            *_letters(self.names),
            *limits,
            *self.shared_words,
            *(f"Skipped: {reason}." for reason in self.skipped),
        )
        rows = tuple(_row(name, comparison) for name, comparison in compared)
        return Table(TITLE, COLUMNS[2:], rows, notes=notes, warnings=tuple(self.warnings), narrow=NARROW)

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


@public
def compare(
    first: Run | str | Path, second: Run | str | Path, rule: str = "first", resampling: Resampling | None = None
) -> Pairing:
    """Compare two runs on the suites that both have with the same content.

    Arguments:
        first, second: the runs, or their run directories.
        rule: "first" (prediction), "all" (predictions), or the name of a measure; see `stats.score`.
        resampling: which units are random; see `stats.bootstrap.Resampling`.

    Raises:
        RunError: the runs have no suite with the same content in common.
        UsageError: none of these suites has the measure.
    """
    runs = first, second = run_of(first), run_of(second)
    pairs, skipped = pairs_of(first, second, rule)
    tolerances = first.tolerance, second.tolerance
    kind = shared_kind([first, second], rule)
    judged = kind is Kind.VERDICT
    shared = pairs["suite"].unique(maintain_order=True).to_list()
    unit = _unit(first, second, shared, rule)
    with using(resampling):
        suites = paired.by_suite(pairs, kind, tolerances, bool(unit))
        overall = paired.over_suites(pairs, kind, tolerances, bool(unit))
    return Pairing(
        tuple(name for name, _ in named([first, second])),
        Listing(suites, _table_of_suites),
        overall,
        discordant(first, pairs, rule) if judged else pairs.clear(),
        skipped if judged else [*skipped, untested(rule, kind)],
        [
            *filter(None, [different(runs), treatment(runs)]),
            *warnings_of(first, second, kind),
            *(f"{each.short}. {coverage.SCORED}" for each in coverage.unknown(runs, shared) if each.compared),
        ],
        unit,
        remark([*SharedWords().of_pairs(first, pairs)]),
    )


def _unit(first: Run, second: Run, suites: Sequence[str], rule: str) -> str:
    """Return what margins are differences of; "" if it differs between the runs."""
    both = [(unit_of(first, suite, rule), unit_of(second, suite, rule)) for suite in suites]
    return " or ".join(dict.fromkeys(a for a, _ in both)) if all(a == b for a, b in both) else ""


def discordant(run: Run, pairs: pl.DataFrame, rule: str) -> pl.DataFrame:
    """Return the discordant pairs in order, under the rule "first" with the name of the prediction as their measure."""
    items = paired.discordant(pairs)
    if rule != "first":
        return items
    names = {suite: names[0] for suite, names in predictions(run, rule).items() if names}
    return items.with_columns(measure=pl.col("suite").replace_strict(names, return_dtype=pl.String))


def untested(measure: str, kind: Kind) -> str:
    """Say what is not computed for a measure whose values are not verdicts, and why."""
    return (
        f"{measure}: the values are {kind.described}, not verdicts, so there are no discordant items, margins or tests"
    )


def warnings_of(first: Run, second: Run, kind: Kind) -> list[str]:
    return gaps.incomparable(first, second, kind is not Kind.VERDICT)


def pairs_of(first: Run, second: Run, rule: str = "first") -> tuple[pl.DataFrame, list[str]]:
    """Pair the items of the suites that both runs contain with the same content."""
    refuse_conjunction(first, rule)
    shared, skipped = shared_suites(first, second)
    predictions_a, predictions_b = (predictions(run, rule) for run in (first, second))
    # Both runs must have the same predictions: masked models have none about parts of sentences.
    shared_predictions = {
        suite: predictions_a[suite]
        for suite in shared
        if predictions_a[suite] and predictions_a[suite] == predictions_b[suite]
    }
    unmatched = [suite for suite in shared if suite not in shared_predictions]
    if not shared_predictions and rule not in ("first", "all"):
        measures = dict.fromkeys(name for suite in shared for name in predictions(first)[suite])
        raise UsageError(
            "--measure", f"no suite has a measure {rule!r}", "one of " + ", ".join([*measures, "first", "all"])
        )
    for suite in unmatched:
        without = [
            run.model for run, predicted in ((first, predictions_a), (second, predictions_b)) if not predicted[suite]
        ]
        if len(without) == 1:
            skipped.append(f"suite {suite}: measure {rule} was not computed for {without[0]}")
        elif rule not in ("first", "all"):
            skipped.append(f"suite {suite}: it has no measure {rule}")
    pairs = paired.pair(*(verdicts(run.results(), shared_predictions, rule) for run in (first, second)))
    if pairs.is_empty():
        raise RunError(first.place, f"no results on the suites it shares with {second.place}", "at least one")
    return pairs, skipped


def shared_suites(first: Run, second: Run) -> tuple[list[str], list[str]]:
    """Return the suites that two runs contain with the same content, and a sentence for each skipped suite."""
    hashes = [{suite.name: suite.hash for suite in run.suites} for run in (first, second)]
    shared = [name for name, hash in hashes[0].items() if hashes[1].get(name) == hash]
    skipped = []
    for run, own, others in ((first, hashes[0], hashes[1]), (second, hashes[1], hashes[0])):
        if alone := [name for name in own if name not in others]:
            skipped.append(f"{listed(alone)}: only in {run.place}")
    if different := different_content([first, second]):
        skipped.append(different)
    elif some := [name for name in hashes[0] if name in hashes[1] and name not in shared]:
        skipped.append(f"{listed(some)}: people saw some of the items only (`syntagm table ceiling` compares these)")
    if not shared:
        raise RunError(
            f"{first.place} and {second.place}", "no suite with the same content in both", "at least one",
            "; ".join(skipped) + ". To see them side by side anyway, use `syntagm report`.",
        )  # fmt: skip
    unfinished = [run.place for run in (first, second) if not run.done]
    return shared, [
        *skipped,
        *(f"run {place} is not finished: items without results are skipped" for place in unfinished),
    ]


@dataclass(frozen=True, slots=True)
class PairOfRuns:
    """Two of several runs with their paired items."""

    a: str  # `a`, `b`: the names of the runs
    b: str
    first: Run  # `first`, `second`: the runs
    second: Run
    pairs: pl.DataFrame  # the pairs, see `pairs_of`
    kind: Kind  # the kind of the values

    @property
    def tolerances(self) -> tuple[float, float]:
        return self.first.tolerance, self.second.tolerance


def pairs_of_runs(runs: Sequence[Run], rule: str, what: str) -> tuple[list[PairOfRuns], list[str]]:
    if len(runs) < 2:
        raise UsageError(what, "one run", "two or more")
    found: list[PairOfRuns] = []
    skipped: dict[str, None] = {}
    for (a, first), (b, second) in combinations(named(runs), 2):
        pairs, reasons = pairs_of(first, second, rule)
        found.append(PairOfRuns(a, b, first, second, pairs, shared_kind([first, second], rule)))
        skipped |= dict.fromkeys(f"Skipped: {reason}." for reason in reasons)
    return found, list(skipped)


def make_table(runs: Sequence[Run], measure: Measure = "first") -> Table:
    """Make one row for each suite and pair of models, and one for the mean over suites.

    Raises:
        UsageError: there are fewer than two runs.
        RunError: two runs have no suite in common.
    """
    paired_runs, skipped = pairs_of_runs(runs, measure, "comparison")
    compared = [(pair, name, comparison) for pair in paired_runs for name, comparison in labelled(*_compared(pair))]
    rows = [(pair.a, pair.b, *_row(name, comparison)) for pair, name, comparison in compared]
    warnings = [
        f"{pair.a} and {pair.b}: {reason}."
        for pair in paired_runs
        for reason in warnings_of(pair.first, pair.second, pair.kind)
    ]
    kinds_found = {pair.kind for pair in paired_runs}
    unjudged = kinds_found - {Kind.VERDICT}
    kinds = " or ".join(sorted(kind.described for kind in unjudged))
    empty = [f"only A, only B and p are empty: the values of {measure} are {kinds}, {UNJUDGED}."] if unjudged else []
    said = intervals(comparison for *_, comparison in compared)
    over = _TESTS_OVER[bootstrap.current().suites]
    tests = [TESTS.format(over=over)] if Kind.VERDICT in kinds_found else []
    notes = (*letters(runs), PAIRED, *tests, *said, *limits(compared), *empty, *skipped)
    narrow = NARROW if len(runs) == 2 else ("A", "B", *NARROW)
    return Table(TITLE, COLUMNS, tuple(rows), notes=notes, warnings=tuple(warnings), narrow=narrow)


BETTER = ("B is better", "A is better", "no significant difference")


def draw_figure(runs: Sequence[Run], measure: Measure = "first") -> Figure:
    """Draw the differences of each pair of models, one row for each suite, the largest difference first.

    Raises:
        UsageError: fewer than two runs, or a measure whose values are not verdicts.
        RunError: two runs have no suite in common.
    """
    drawn: list[tuple[str, str, list[tuple[str, Comparison]]]] = []
    for pair in pairs_of_runs(runs, measure, "comparison")[0]:
        paired.refuse_others_than_verdicts(measure, pair.kind, "comparison")
        compared = paired.by_suite(pair.pairs, pair.kind, pair.tolerances)
        drawn.append((pair.a, pair.b, [(comparison.group.suite, comparison) for comparison in compared]))
    return draw(drawn, "Differences in accuracy")


def draw(pairings: Sequence[tuple[str, str, Sequence[tuple[str, Comparison]]]], title: str = "") -> Figure:
    """Draw the differences of pairs of models, one panel for each pair."""
    rows = [
        (a, b, suite, *comparison.difference.numbers[:4], comparison.holm, _better(comparison))
        for a, b, comparisons in pairings
        for suite, comparison in comparisons
    ]
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    axis = vega.difference(
        "accuracy of B − accuracy of A", [*table["difference"], *table["low"], *table["high"]], WIDTH
    )
    plots: list[Spec] = []
    for a, b, _ in pairings:
        of_pair = table.filter((pl.col("A") == a) & (pl.col("B") == b) & pl.col("difference").is_not_nan())
        ordered = of_pair.sort("difference", descending=True, maintain_order=True)
        values = [_point(row) for row in ordered.iter_rows(named=True)]
        heading = f"A: {a}, B: {b}" if len(pairings) > 1 else ""
        plots.append(dots.panel(values, axis, heading, 0.0, BETTER, WIDTH, key=not plots, colours=(*COLOURS[:2], GREY)))
    subtitle = ["right of 0, B is better; 95% interval; colour: significance after Holm's adjustment over the suites"]
    subtitle += [f"A: {a}, B: {b}" for a, b, _ in pairings] if len(pairings) == 1 else []
    on_suites = ((suite, found.difference.remarks) for _, _, comparisons in pairings for suite, found in comparisons)
    subtitle += lines(remarks(on_suites, IN_FIGURE))
    return Figure(finish(vega.pile(plots, 20) if len(plots) > 1 else plots[0], title, subtitle, offset=14), table)


def _better(comparison: Comparison) -> str:
    if comparison.verdicts is None or not comparison.holm <= LEVEL:
        return BETTER[2]
    return BETTER[0] if comparison.verdicts.only_b > comparison.verdicts.only_a else BETTER[1]


def _point(row: Row) -> Row:
    value, low, high = (row[key] for key in _DIFFERENCE)
    said = f"{row['suite']}: {estimated(row, _DIFFERENCE)}, {row['better']}"
    return {
        "name": row["suite"], "series": row["better"], "note": "", "value": value, "low": low, "high": high, "said": said,
        "n": row["n"],
    }  # fmt: skip


_DIFFERENCE = ("difference", "low", "high")


def intervals(comparisons: Iterable[Comparison]) -> tuple[str, ...]:
    sides = [side for found in comparisons for side in (found.a, found.b, found.difference)]
    return in_words.intervals(side.method for side in sides if side)


def letters(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return a note that names A and B if there are only two models."""
    return _letters([name for name, _ in named(runs)]) if len(runs) == 2 else ()


def _letters(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{letter}: {name}." for letter, name in zip("AB", names, strict=True))


def _compared(pair: PairOfRuns) -> tuple[list[Comparison], Comparison]:
    compared = pair.pairs, pair.kind, pair.tolerances
    return paired.by_suite(*compared), paired.over_suites(*compared)


def labelled(comparisons: Sequence[Comparison], overall: Comparison) -> list[tuple[str, Comparison]]:
    of_suites = [(comparison.group.suite, comparison) for comparison in comparisons]
    return [*of_suites, (f"mean of {len(comparisons)}", overall)]


def limits(compared: Sequence[tuple[PairOfRuns, str, Comparison]]) -> tuple[str, ...]:
    """Return the remarks on differences as sentences, from what is compared and on which suites."""
    pairs = {(pair.a, pair.b): pair for pair, *_ in compared}
    words, models = SharedWords(), {key: ", ".join(key) if len(pairs) > 1 else "" for key in pairs}
    return (
        *remarks(
            (f"{name} ({own})" if (own := models[pair.a, pair.b]) else name, comparison.difference.remarks)
            for pair, name, comparison in compared
        ),
        *remark([each for key, pair in pairs.items() for each in words.of_pairs(pair.first, pair.pairs, models[key])]),
    )


def _table_of_suites(comparisons: Sequence[Comparison]) -> Table:
    rows = tuple(_row(comparison.group.suite, comparison) for comparison in comparisons)
    notes = remarks((comparison.group.suite, comparison.difference.remarks) for comparison in comparisons)
    return Table(TITLE, COLUMNS[2:], rows, notes=notes)


def _row(name: str, comparison: Comparison) -> tuple[Cell, ...]:
    counts = (comparison.verdicts.only_a, comparison.verdicts.only_b) if comparison.verdicts else (None, None)
    return (
        name,
        comparison.n,
        *_numbers(comparison.a, comparison.b, comparison.difference),
        *counts,
        comparison.difference.undefined,
        *map(or_none, (comparison.p, comparison.holm, comparison.benjamini_hochberg)),
    )


def _numbers(*estimates: Estimate | None) -> Iterator[Cell]:
    for estimate in estimates:
        yield from map(or_none, (estimate.value, estimate.low, estimate.high) if estimate else (math.nan,) * 3)
