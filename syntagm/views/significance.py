"""Significance: which suites separate two models, and what difference the others could have shown."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import polars as pl

from syntagm.drawing.table import Cell, Table
from syntagm.drawing.text import known
from syntagm.errors import UsageError
from syntagm.runs.several import named
from syntagm.runs.store import Run
from syntagm.stats import power, significance
from syntagm.stats.significance import LEVEL, Separation
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
        found = [(a, b, *row) for row in _rows(pairs)]
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


def _rows(pairs: pl.DataFrame) -> Iterator[tuple[Cell, ...]]:
    found = significance.by_suite(pairs)
    tests = max(1, sum(one.difference.n > 0 for one in found))
    yield from (_row(one, tests) for one in sorted(found, key=_order))


def _order(one: Separation) -> tuple[bool, float]:
    size = abs(one.difference.value)
    return not one.holm <= LEVEL, -size if size == size else 1.0


def _row(one: Separation, tests: int) -> tuple[Cell, ...]:
    difference, better = one.difference, ""
    if one.holm <= LEVEL:
        better = "B" if one.only_b > one.only_a else "A"
    ends = (difference.value, difference.low, difference.high)
    counts = (one.only_a, one.only_b, difference.undefined)
    shown = (one.p, one.holm, one.benjamini_hochberg, *_detectable(one, tests))
    return (one.suite, better, difference.n, *map(known, ends), *counts, *map(known, shown))


def _detectable(one: Separation, tests: int) -> tuple[float, float]:
    n = one.difference.n
    if not n:
        return math.nan, math.nan
    balanced = 2 * min(one.only_a, one.only_b) / n
    return power.detectable(n, balanced), power.detectable(n, balanced, LEVEL / tests)
