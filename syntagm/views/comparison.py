"""Comparison: by how much models differ on each suite, item by item, with McNemar's exact p, adjusted over the suites.

Of two runs those suites are compared that both ran on; what can't be compared is said.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from syntagm.drawing.table import Cell, Table
from syntagm.drawing.text import or_none
from syntagm.errors import RunError, UsageError
from syntagm.result import Estimate, Kind
from syntagm.runs.several import named
from syntagm.runs.store import Run
from syntagm.stats import paired
from syntagm.stats.paired import Comparison
from syntagm.stats.score import verdicts
from syntagm.views.gaps import comparability
from syntagm.views.options import Measure
from syntagm.views.scores.numbers import predictions, refuse_conjunction

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
UNJUDGED = "none holds or fails: there is no count of items, and no McNemar's test"


@dataclass(frozen=True, slots=True)
class Pairing:
    """What the comparison of two runs found; b is the second.

    Arguments:
        suites: one comparison a suite.
        overall: their unweighted mean.
        discordant: the items that the models judge differently, none of shares; columns as in `stats.paired.PAIR_COLUMNS`.
        left_out: a sentence for each thing that was not compared, and why.
        warnings: a sentence for each reason why the runs can't be compared at all; see `views.gaps.comparability`.
    """

    suites: list[Comparison]
    overall: Comparison
    discordant: pl.DataFrame
    left_out: list[str]
    warnings: list[str]


def compare(first: Run, second: Run, rule: str = "first") -> Pairing:
    """Compare two runs on the suites that both have with the same content.

    Arguments:
        rule: "first" prediction, "all" predictions, or the name of a measure; see `stats.score`.

    Raises:
        RunError: no suite is in both with the same content.
        UsageError: no such suite has the measure.
    """
    pairs, left_out = pairs_of(first, second, rule)
    tolerances = (first.tolerance, second.tolerance)
    kind = paired.kind_of_pairs(pairs)
    judged = kind is Kind.VERDICT
    return Pairing(
        paired.by_suite(pairs, tolerances, margins=True),
        paired.over_suites(pairs, tolerances, margins=True),
        paired.discordant(pairs) if judged else pairs.clear(),
        left_out if judged else [*left_out, untested(rule, kind)],
        warnings_of(first, second, pairs),
    )


def untested(measure: str, kind: Kind) -> str:
    """What is not computed of a measure whose values are no verdicts, and why."""
    return f"{measure}: values are {kind.value}, none holds or fails: no flips, no margins, no McNemar's test"


def warnings_of(first: Run, second: Run, pairs: pl.DataFrame) -> list[str]:
    """Say why two fill runs can't be compared: a sentence for each reason.

    Arguments:
        pairs: what of them is compared, as `pairs_of` gives it.
    """
    return comparability.warnings(first, second, paired.kind_of_pairs(pairs) is not Kind.VERDICT)


def pairs_of(first: Run, second: Run, rule: str = "first") -> tuple[pl.DataFrame, list[str]]:
    """The items of the suites that both runs have with the same content, side by side, and what is left out and why.

    Columns as in `stats.paired.PAIR_COLUMNS`. Arguments and errors as of `compare`.
    """
    refuse_conjunction(first, rule)
    shared, left_out = _shared(first, second)
    here, there = (predictions(run, rule) for run in (first, second))
    # Both by the same predictions, or not at all: a model that sees both sides is not asked about parts of sentences.
    taken = {suite: here[suite] for suite in shared if here[suite] and here[suite] == there[suite]}
    lacking = [suite for suite in shared if suite not in taken]
    if not taken and rule not in ("first", "all"):
        measures = dict.fromkeys(name for suite in shared for name in predictions(first)[suite])
        raise UsageError(
            "--measure", f"no suite has a measure {rule!r}", "one of " + ", ".join([*measures, "first", "all"])
        )
    for suite in lacking:
        without = [run.model for run, side in ((first, here), (second, there)) if not side[suite]]
        if len(without) == 1:
            left_out.append(f"suite {suite}: measure {rule} was not computed for {without[0]}")
        elif rule not in ("first", "all"):
            left_out.append(f"suite {suite}: it has no measure {rule}")
    pairs = paired.pair(*(verdicts(run.results(), taken, rule) for run in (first, second)))
    if pairs.is_empty():
        raise RunError(first.place, f"no results on the suites it shares with {second.place}", "at least one")
    return pairs, left_out


def _shared(first: Run, second: Run) -> tuple[list[str], list[str]]:
    """The suites that can be compared, and a sentence for each that can't."""
    hashes = [{suite.name: suite.hash for suite in run.suites} for run in (first, second)]
    shared, left_out = [], []
    for name in dict.fromkeys(name for one in hashes for name in one):
        here, there = (one.get(name) for one in hashes)
        if here == there:
            shared.append(name)
        elif here is None or there is None:
            left_out.append(f"suite {name}: only in {first.place if here else second.place}")
        else:
            left_out.append(
                f"suite {name}: DIFFERENT CONTENT under one name, {here[:8]} in {first.place}, {there[:8]} in {second.place}"
            )
    if not shared:
        raise RunError(
            f"{first.place} and {second.place}", "no suite with the same content in both", "at least one",
            "; ".join(left_out) + ". To read them side by side all the same: syntagm report.",
        )  # fmt: skip
    unfinished = [run.place for run in (first, second) if not run.done]
    return shared, [
        *left_out,
        *(f"run {one} is not finished: items without results are left out" for one in unfinished),
    ]


def make_table(runs: Sequence[Run], measure: Measure = "first") -> Table:
    """Make a row for each suite and pair of models, and one for the mean over suites.

    Raises:
        UsageError: fewer than two runs.
        RunError: two of them share no suite.
    """
    if len(runs) < 2:
        raise UsageError("comparison", "one run", "two or more")
    rows: list[tuple[Cell, ...]] = []
    left_out: list[str] = []
    warnings: list[str] = []
    unjudged: set[Kind] = set()
    for (a, first), (b, second) in combinations(named(runs), 2):
        pairs, lacking = pairs_of(first, second, measure)
        rows += [(a, b, *row) for row in _rows(pairs, (first.tolerance, second.tolerance))]
        left_out += [one for one in lacking if one not in left_out]
        warnings += [f"{a} and {b}: {one}." for one in warnings_of(first, second, pairs)]
        unjudged |= {paired.kind_of_pairs(pairs)} - {Kind.VERDICT}
    kinds = " or ".join(sorted(kind.value for kind in unjudged))
    notes = (*NOTES, *([f"only A, only B, p empty: of {measure} values are {kinds}, {UNJUDGED}."] if unjudged else []))
    said = tuple(f"Left out: {one}." for one in left_out)
    return Table("Paired comparison", COLUMNS, tuple(rows), notes=(*notes, *said), warnings=tuple(warnings))


def _rows(pairs: pl.DataFrame, tolerances: tuple[float, float]) -> Iterator[tuple[Cell, ...]]:
    found = paired.by_suite(pairs, tolerances)
    yield from (_row(one.group.suite, one, (one.p, one.holm, one.benjamini_hochberg)) for one in found)
    # The suites are tested, their mean is not.
    yield _row(f"mean of {len(found)}", paired.over_suites(pairs, tolerances), (math.nan,) * 3)


def _row(name: str, one: Comparison, p: Sequence[float]) -> tuple[Cell, ...]:
    counts = (one.verdicts.only_a, one.verdicts.only_b) if one.verdicts else (None, None)
    return (name, one.n, *_numbers(one.a, one.b, one.difference), *counts, one.difference.undefined, *map(or_none, p))


def _numbers(*found: Estimate | None) -> Iterator[Cell]:
    """Value and interval of each."""
    for one in found:
        yield from map(or_none, (one.value, one.low, one.high) if one else (math.nan,) * 3)
