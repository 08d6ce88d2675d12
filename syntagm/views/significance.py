"""Significance: which suites show a significant difference between two models, and what difference each could detect."""

import math
from collections.abc import Sequence

from syntagm.runs import Run
from syntagm.stats import LEVEL, Comparison, Verdicts, paired, planning
from syntagm.views.comparison import PairOfRuns, limits, pairs_of_runs, warnings_of
from syntagm.views.drawing.table import Cell, Table
from syntagm.views.drawing.text import or_none
from syntagm.views.options import Measure

COLUMNS = (
    *("A", "B", "suite", "better", "n", "B - A", "low", "high", "only A", "only B", "undefined"),
    *("p", "p Holm", "p Benjamini-Hochberg", "detectable", "detectable by Holm"),
)
NOTES = (
    "better: the model that is significantly better by McNemar's test (asymptotic, without continuity correction), adjusted "
    f"by Holm over the suites of the two models, at the level {LEVEL}. Empty: no significant difference, which does not mean "
    "that the models are equal.",
    "B - A: difference of accuracies on the items defined under both models, with Tango's paired 95% interval, the inversion "
    "of McNemar's test. only A, only B: number of items whose prediction holds under one model only.",
    f"detectable: the smallest difference that the test finds with power {planning.POWER} at the level {LEVEL}. It is assumed "
    "that as many items are discordant in both directions as observed, and that the difference is added to them. "
    f"detectable by Holm: the same at the strictest level of Holm's method, {LEVEL} / suites. Empty: the suite has too few "
    "items to detect any difference. Exact binomial computation (Schork & Williams 1980; Duffy 1984); items are assumed "
    "to be independent.",
)


def make_table(runs: Sequence[Run], measure: Measure = "first") -> Table:
    """Make one row for each suite and pair of models, ordered by significance and then by the size of the difference.

    Raises:
        UsageError: there are fewer than two runs, or the values of the measure are not verdicts.
        RunError: two runs have no suite in common.
    """
    found, skipped = pairs_of_runs(runs, measure, "significance")
    rows: list[tuple[Cell, ...]] = []
    compared: list[tuple[PairOfRuns, str, Comparison]] = []
    counted: list[str] = []
    warnings: list[str] = []
    for pair in found:
        warnings += [f"{pair.a} and {pair.b}: {reason}." for reason in warnings_of(pair.first, pair.second, pair.kind)]
        comparisons, tests = _ordered(pair, measure)
        rows_of_pair = [(pair.a, pair.b, *_row(comparison, tests)) for comparison in comparisons]
        compared += [(pair, comparison.group.suite, comparison) for comparison in comparisons]
        rows += rows_of_pair
        counted.append(_counted(pair.a, pair.b, rows_of_pair))
    notes = [*NOTES, *limits(compared), *skipped, *counted]
    return Table("Significant differences by suite", COLUMNS, tuple(rows), notes=tuple(notes), warnings=tuple(warnings))


def _counted(a: str, b: str, rows: Sequence[tuple[Cell, ...]]) -> str:
    better = [row[COLUMNS.index("better")] for row in rows]
    for_a, for_b = better.count("A"), better.count("B")
    return f"{a} (A) and {b} (B): significant on {for_a + for_b} of {len(rows)} suites; A is better on {for_a}, B on {for_b}."


def _ordered(pair: PairOfRuns, measure: str) -> tuple[list[Comparison], int]:
    """Return the comparisons of the suites in the order of the rows, and the number of tests."""
    paired.refuse_others_than_verdicts(measure, pair.kind, "significance")
    comparisons = paired.by_suite(pair.pairs, pair.kind, pair.tolerances)
    return sorted(comparisons, key=_order), max(1, sum(comparison.tested for comparison in comparisons))


def _order(comparison: Comparison) -> tuple[bool, float]:
    size = abs(comparison.difference.value)
    return not comparison.holm <= LEVEL, -size if size == size else 1.0


def _row(comparison: Comparison, tests: int) -> tuple[Cell, ...]:
    difference, verdicts, better = comparison.difference, comparison.verdicts, ""
    assert verdicts, "measures that are not verdicts were refused"
    if comparison.holm <= LEVEL:
        better = "B" if verdicts.only_b > verdicts.only_a else "A"
    ends = (difference.value, difference.low, difference.high)
    counts = (verdicts.only_a, verdicts.only_b, difference.undefined)
    shown = (comparison.p, comparison.holm, comparison.benjamini_hochberg, *_detectable(verdicts, comparison.n, tests))
    return (comparison.group.suite, better, difference.n, *map(or_none, ends), *counts, *map(or_none, shown))


def _detectable(verdicts: Verdicts, n: int, tests: int) -> tuple[float, float]:
    if not n:
        return math.nan, math.nan
    balanced = 2 * min(verdicts.only_a, verdicts.only_b) / n
    return planning.detectable(n, balanced), planning.detectable(n, balanced, LEVEL / tests)
