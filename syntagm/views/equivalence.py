"""Equivalence: whether two models differ, are equivalent within a stated bound, or neither is shown.

A difference that is not significant is no evidence of equality. Two one-sided tests show that the difference is smaller
than a bound that you state beforehand (Schuirmann 1987; for paired proportions Tango 1998).
"""

from collections.abc import Iterator, Sequence
from typing import Annotated

from syntagm.core import Reader, UsageError
from syntagm.runs import Run
from syntagm.stats import LEVEL, Comparison, holm, in_words, paired
from syntagm.views.comparison import PairOfRuns, letters, limits, pairs_of_runs
from syntagm.views.drawing.table import Cell, Table
from syntagm.views.drawing.text import or_none
from syntagm.views.options import Measure

COLUMNS = ("A", "B", "suite", "n", "B - A", "low", "high", "p different", "p equivalent", "verdict")


def read_bound(text: str) -> float:
    """Read a difference of accuracies above 0 and below 1."""
    try:
        bound = float(text)
    except ValueError:
        bound = 0.0
    if not 0 < bound < 1:
        raise UsageError("bound=", repr(text), "a difference of accuracies between 0 and 1, such as 0.05")
    return bound


Bound = Annotated[
    float | None, Reader("the largest difference of accuracies that counts as none, for example 0.05", read_bound)
]


def make_table(runs: Sequence[Run], bound: Bound = None, measure: Measure = "first") -> Table:
    """Make one row for each suite and pair of models, and one for the mean over suites.

    Raises:
        UsageError: no bound, fewer than two runs, or a measure whose values are not verdicts.
        RunError: two runs have no suite in common.
    """
    if bound is None:
        raise UsageError("bound=", "nothing", "a difference of accuracies, such as bound=0.05", "State it beforehand.")
    found, skipped = pairs_of_runs(runs, measure, "equivalence")
    compared = [(pair, *row) for pair in found for row in _rows(pair, measure, bound)]
    rows = [(pair.a, pair.b, name, *row) for pair, name, _, row in compared]
    notes = (
        *letters(runs),
        f"equivalent: B - A lies between -{bound:g} and {bound:g}, by two one-sided tests at the level {LEVEL}. different: B - A "
        "is not 0. inconclusive: neither is shown. Both p-values of the suites are adjusted by Holm's method; low, high: 95% "
        "interval, not adjusted. On a suite the test of equivalence is approximate: if the difference is exactly the bound, it "
        "finds equivalence in up to 8% of cases with fewer than 60 items, and in up to 6.5% with more. "
        "Over ten to thirty suites it is conservative: in 1% to 5.5%.",
        *in_words.intervals(comparison.difference.method for _, _, comparison, _ in compared),
        *limits([(pair, name, comparison) for pair, name, comparison, _ in compared]),
        *skipped,
    )
    return Table(f"Equivalence within {bound:g}", COLUMNS, tuple(rows), notes=notes, narrow=COLUMNS[2:])


def _rows(pair: PairOfRuns, measure: str, bound: float) -> Iterator[tuple[str, Comparison, tuple[Cell, ...]]]:
    paired.refuse_others_than_verdicts(measure, pair.kind, "equivalence")
    of_suites, of_all = paired.equivalence(pair.pairs, bound)
    comparisons = paired.by_suite(pair.pairs, pair.kind, pair.tolerances)
    tested = [p for p in of_suites if p == p]
    adjusted = iter(holm(tested))
    for comparison, p in zip(comparisons, of_suites, strict=True):
        equivalent = next(adjusted) if p == p else p
        yield comparison.group.suite, comparison, _row(comparison, comparison.holm, equivalent)
    if len(comparisons) > 1:
        overall = paired.over_suites(pair.pairs, pair.kind, pair.tolerances)
        yield f"mean of {len(comparisons)}", overall, _row(overall, overall.p, of_all)


def _row(comparison: Comparison, different: float, equivalent: float) -> tuple[Cell, ...]:
    found = comparison.difference
    verdict = {
        (True, True): "different, but by less than the bound",
        (True, False): "different",
        (False, True): "equivalent",
        (False, False): "inconclusive",
    }[different <= LEVEL, equivalent <= LEVEL]
    return (found.n, *map(or_none, (found.value, found.low, found.high, different, equivalent)), verdict)
