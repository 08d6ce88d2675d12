"""Significance: which suites separate two models, and what difference the others could have shown."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import polars as pl

from syntagm.drawing.table import Cell, Table
from syntagm.drawing.text import or_none
from syntagm.errors import UsageError
from syntagm.runs.several import named
from syntagm.runs.store import Run
from syntagm.stats import paired, power
from syntagm.stats.paired import Comparison, Verdicts
from syntagm.stats.significance import LEVEL
from syntagm.views.comparison import pairs_of, warnings_of
from syntagm.views.options import Measure

COLUMNS = (
    *("A", "B", "suite", "better", "n", "B - A", "low", "high", "only A", "only B", "undefined"),
    *("p", "p Holm", "p Benjamini-Hochberg", "detectable", "detectable by Holm"),
)
NOTES = (
    f"better: which model is better by McNemar's exact test, adjusted by Holm over the suites of the two models, at {LEVEL}; "
    "empty: the suite does not separate them, which is not to say that they are equal.",
    "B - A: difference of accuracies on the items defined under both, 95% interval, percentile bootstrap over items (10,000 "
    "draws, seed 1), paired. only A, only B: items whose prediction holds under one model only.",
    f"detectable: the smallest difference that the test finds with probability {power.POWER} at {LEVEL}, if as many items flip "
    "both ways as did here and the difference comes on top; by Holm: at the level of the hardest step, "
    f"{LEVEL} / suites. Empty: none, the suite has too few items. Exact binomial computation (Schork & Williams 1980; Duffy "
    "1984), items taken for independent.",
)


def make_table(runs: Sequence[Run], measure: Measure = "first") -> Table:
    """Make a row for each suite and pair of models: those that separate them first, by the size of the difference.

    Raises:
        UsageError: fewer than two runs, or a measure whose values are shares.
        RunError: two of them share no suite.
    """
    if len(runs) < 2:
        raise UsageError("significance", "one run", "two or more")
    rows: list[tuple[Cell, ...]] = []
    said: list[str] = []
    warnings: list[str] = []
    for (a, first), (b, second) in combinations(named(runs), 2):
        pairs, left_out = pairs_of(first, second, measure)
        warnings += [f"{a} and {b}: {one}." for one in warnings_of(first, second, pairs)]
        found = [(a, b, *row) for row in _rows(pairs, (first.tolerance, second.tolerance))]
        rows += found
        said += [f"Left out: {one}." for one in left_out if f"Left out: {one}." not in said]
        said.append(_counted(a, b, found))
    return Table(
        "Which suites separate the models", COLUMNS, tuple(rows), notes=(*NOTES, *said), warnings=tuple(warnings)
    )


def _counted(a: str, b: str, rows: Sequence[tuple[Cell, ...]]) -> str:
    better = [row[COLUMNS.index("better")] for row in rows]
    for_a, for_b = better.count("A"), better.count("B")
    return f"{a} (A) and {b} (B): {for_a + for_b} of {len(rows)} suites separate them, {for_a} for A and {for_b} for B."


def _rows(pairs: pl.DataFrame, tolerances: tuple[float, float]) -> Iterator[tuple[Cell, ...]]:
    paired.refuse_others_than_verdicts(pairs, "separation")
    found = paired.by_suite(pairs, tolerances)
    tests = max(1, sum(one.tested for one in found))
    yield from (_row(one, tests) for one in sorted(found, key=_order))


def _order(one: Comparison) -> tuple[bool, float]:
    size = abs(one.difference.value)
    return not one.holm <= LEVEL, -size if size == size else 1.0


def _row(one: Comparison, tests: int) -> tuple[Cell, ...]:
    difference, counted, better = one.difference, one.verdicts, ""
    assert counted, "others than verdicts are refused"
    if one.holm <= LEVEL:
        better = "B" if counted.only_b > counted.only_a else "A"
    ends = (difference.value, difference.low, difference.high)
    counts = (counted.only_a, counted.only_b, difference.undefined)
    shown = (one.p, one.holm, one.benjamini_hochberg, *_detectable(counted, one.n, tests))
    return (one.group.suite, better, difference.n, *map(or_none, ends), *counts, *map(or_none, shown))


def _detectable(one: Verdicts, n: int, tests: int) -> tuple[float, float]:
    if not n:
        return math.nan, math.nan
    balanced = 2 * min(one.only_a, one.only_b) / n
    return power.detectable(n, balanced), power.detectable(n, balanced, LEVEL / tests)
