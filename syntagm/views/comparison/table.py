"""Comparison: by how much models differ on each suite, item by item, with McNemar's exact p, adjusted over the suites."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import polars as pl

from syntagm.drawing.table import Cell, Table
from syntagm.errors import UsageError
from syntagm.result import Estimate
from syntagm.runs.several import named
from syntagm.runs.store import Run
from syntagm.stats import significance
from syntagm.stats.paired import of_verdicts
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
        rows += [(a, b, *row) for row in _rows(pairs)]
        left_out += [one for one in lacking if one not in left_out]
        warnings += [f"{a} and {b}: {one}." for one in pairing.warnings(first, second, pairs)]
        judged = judged and of_verdicts(pairs)
    notes = NOTES if judged else (*NOTES, f"only A, only B, p empty: of {measure} {OF_SHARES}.")
    said = tuple(f"Left out: {one}." for one in left_out)
    return Table("Paired comparison", COLUMNS, tuple(rows), notes=(*notes, *said), warnings=tuple(warnings))


def _rows(pairs: pl.DataFrame) -> Iterator[tuple[Cell, ...]]:
    yield from _of_verdicts(pairs) if of_verdicts(pairs) else _of_shares(pairs)


def _of_shares(pairs: pl.DataFrame) -> Iterator[tuple[Cell, ...]]:
    found, mean = significance.differences(pairs), significance.over_suites(pairs)
    for one in found:
        n, undefined = one.difference.n, one.difference.undefined
        yield (one.suite, n, *_numbers(one.a, one.b, one.difference), None, None, undefined, None, None, None)
    scores = _numbers(*significance.scores(pairs), mean)
    yield (f"mean of {len(found)}", mean.n, *scores, None, None, mean.undefined, None, None, None)


def _of_verdicts(pairs: pl.DataFrame) -> Iterator[tuple[Cell, ...]]:
    found = significance.by_suite(pairs)
    for one in found:
        counts = (one.only_a, one.only_b, one.difference.undefined)
        p = (one.p, one.holm, one.benjamini_hochberg)
        yield (one.suite, one.difference.n, *_numbers(one.a, one.b, one.difference), *counts, *map(_known, p))
    mean = significance.over_suites(pairs)
    flips = (sum(one.only_a for one in found), sum(one.only_b for one in found), mean.undefined)
    yield (f"mean of {len(found)}", mean.n, *_numbers(*significance.scores(pairs), mean), *flips, None, None, None)


def _numbers(*found: Estimate) -> Iterator[Cell]:
    """Value and interval of each."""
    for one in found:
        yield from map(_known, (one.value, one.low, one.high))


def _known(value: float) -> float | None:
    return None if value != value else value
