"""Comparison: by how much models differ on each suite, item by item, with McNemar's exact p, adjusted over the suites."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import polars as pl

from syntagm.drawing.table import Cell, Table
from syntagm.errors import UsageError
from syntagm.result import Estimate, Kind
from syntagm.runs.several import named
from syntagm.runs.store import Run
from syntagm.stats import paired
from syntagm.stats.paired import Comparison
from syntagm.views.comparison import compute as pairing

COLUMNS = (
    *("A", "B", "suite", "n", "score A", "low A", "high A", "score B", "low B", "high B", "B - A", "low", "high"),
    *("only A", "only B", "undefined"),
    *("p", "p Holm", "p Benjamini-Hochberg"),
)
NOTES = (
    "Scores and differences rest on the items that are defined under both models; low, high: 95% intervals, percentile "
    "bootstrap over items (10,000 draws, seed 1), that of the difference paired: judge the difference by it, not by whether "
    "the intervals of the scores overlap.",
    "only A, only B: items whose prediction holds under one model only. p: McNemar's exact test, two-sided; adjusted over "
    "the suites of a pair of models by Holm (any false finding) and by Benjamini and Hochberg (share of false findings).",
)
OF_SHARES = "values are shares between 0 and 1, none holds or fails: there is no count of items, and no McNemar's test"


def make_table(runs: Sequence[Run], measure: str = "first") -> Table:
    """A row a suite for each pair of models, and one for the mean over suites.

    Arguments:
        measure: a prediction's name, `first` or `all`.

    Raises:
        UsageError: fewer than two runs.
        RunError: two of them share no suite.
    """
    if len(runs) < 2:
        raise UsageError("comparison", "one run", "two or more")
    rows: list[tuple[Cell, ...]] = []
    left_out: list[str] = []
    warnings: list[str] = []
    judged = True
    for (a, first), (b, second) in combinations(named(runs), 2):
        pairs, lacking = pairing.paired(first, second, measure)
        rows += [(a, b, *row) for row in _rows(pairs, (first.tolerance, second.tolerance))]
        left_out += [one for one in lacking if one not in left_out]
        warnings += [f"{a} and {b}: {one}." for one in pairing.warnings(first, second, pairs)]
        judged = judged and paired.kind_of_pairs(pairs) is Kind.VERDICT
    notes = NOTES if judged else (*NOTES, f"only A, only B, p empty: of {measure} {OF_SHARES}.")
    said = tuple(f"Left out: {one}." for one in left_out)
    return Table("Paired comparison", COLUMNS, tuple(rows), notes=(*notes, *said), warnings=tuple(warnings))


def _rows(pairs: pl.DataFrame, tolerances: tuple[float, float]) -> Iterator[tuple[Cell, ...]]:
    found = paired.by_suite(pairs, tolerances)
    yield from (_row(one.group.suite, one, (one.p, one.holm, one.benjamini_hochberg)) for one in found)
    # The suites are tested, their mean is not.
    yield _row(f"mean of {len(found)}", paired.over_suites(pairs, tolerances), (math.nan,) * 3)


def _row(name: str, one: Comparison, p: Sequence[float]) -> tuple[Cell, ...]:
    counts = (one.verdicts.only_a, one.verdicts.only_b) if one.verdicts else (None, None)
    return (name, one.n, *_numbers(one.a, one.b, one.difference), *counts, one.difference.undefined, *map(_known, p))


def _numbers(*found: Estimate | None) -> Iterator[Cell]:
    """Value and interval of each."""
    for one in found:
        yield from map(_known, (one.value, one.low, one.high) if one else (math.nan,) * 3)


def _known(value: float) -> float | None:
    return None if value != value else value
