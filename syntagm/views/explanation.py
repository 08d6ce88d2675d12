"""Explanation: by which differences of conventions one run gets the verdicts of another on the same items."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.conventions.convention import DEFAULT, Convention
from syntagm.conventions.linking import LINKINGS
from syntagm.conventions.treatments import TREATMENTS
from syntagm.drawing.table import Cell, Table
from syntagm.errors import UsageError
from syntagm.runs.rejudged import whole
from syntagm.runs.several import named
from syntagm.runs.store import Run
from syntagm.tasks.sums import REPORTED
from syntagm.views.conventions.numbers import Chosen, results, wide

COLUMNS = ("differences", "convention", "n", "discordant", "explained", "left")
NOTE = (
    "differences: how many have to be assumed; convention: that under which the verdicts of {a} are closest to those of {b} "
    "with so many. discordant: items with other verdicts when both are compared by bits; explained and left: how many of all "
    "items agree then, and how many still don't. What can't be computed from the tokens of {a} is not tried: another start "
    "symbol, a blank before the text, case and dtype. Evaluate the model with that option and explain that run, too."
)
# Differences that are assumed together, at most.
_MOST = 3


@dataclass(frozen=True, slots=True)
class Explanation:
    """The convention that explains most with a number of differences.

    Arguments:
        convention: the convention; `bits` without differences.
        differences: the number of differences from `bits`.
        others: further conventions with the same number of differences that leave as many items.
        left: the items on which the verdicts still differ.
    """

    convention: Convention
    differences: int
    others: tuple[Convention, ...]
    left: int


def make_table(runs: Sequence[Run]) -> Table:
    """Make one row for each number of differences, until nothing more is explained.

    Raises:
        UsageError: there are not two runs, or they share no suite that compares two whole sentences.
        RunError: the first run has no surprisals.
    """
    if len(runs) != 2:
        raise UsageError("explanation", f"{len(runs)} runs", "two: one with surprisals, and another of the same suites")
    (a, first), (b, second) = named(runs)
    items, found = explain(first, second)
    rows: list[tuple[Cell, ...]] = [
        (
            each.differences,
            " or ".join(str(one) for one in (each.convention, *each.others)),
            items,
            found[0].left,
            found[0].left - each.left,
            each.left,
        )
        for each in found
    ]
    return Table("Explanation of other verdicts", COLUMNS, tuple(rows), notes=(NOTE.format(a=a, b=b),))


def explain(first: Run, second: Run) -> tuple[int, list[Explanation]]:
    """Find the smallest sets of differences that turn the verdicts of a run into those of another.

    Arguments:
        first: a run with surprisals.
        second: a run of the same suites, of whatever tool. Its verdicts are those that the tool reports, if it does.

    Returns:
        The number of items, and an explanation for each number of differences from 0, as long as more is explained.

    Raises:
        UsageError: no suite of both compares two whole sentences.
    """
    conventions = list(_candidates(first))
    columns: list[NDArray[np.float64]] = []
    theirs: list[NDArray[np.float64]] = []
    hashes = {suite.name: suite.hash for suite in second.suites}
    for suite in first.suites:
        if hashes.get(suite.name) != suite.hash or not whole(first, suite.name):
            continue
        own = wide(results(first, suite.name, Chosen(tuple(conventions), None)))
        reported = _verdicts(second, suite.name)
        if len(reported) != len(own[DEFAULT]):
            raise UsageError(
                suite.name,
                f"{len(own[DEFAULT])} and {len(reported)} items with verdicts",
                "the same items in both runs",
            )
        columns.append(np.array([own[str(each)]["value"].to_numpy() for each in conventions]))
        theirs.append(reported)
    if not columns:
        raise UsageError(
            "explanation", "no suite in common that compares two whole sentences", "runs of the same pairs"
        )
    mine, other = np.concatenate(columns, axis=1), np.concatenate(theirs)
    defined = ~np.isnan(other) & ~np.isnan(mine[0])
    left = [int((row[defined] != other[defined]).sum()) for row in mine]
    found: list[Explanation] = []
    for count in range(_MOST + 1):
        places = [place for place, each in enumerate(conventions) if _differences(each) == count]
        least = min(left[place] for place in places)
        if found and least >= found[-1].left:
            continue
        best, *others = [conventions[place] for place in places if left[place] == least]
        found.append(Explanation(best, count, tuple(others), least))
        if not least:
            break
    return int(defined.sum()), found


def _verdicts(run: Run, suite: str) -> NDArray[np.float64]:
    names = run.suite(suite).predictions
    measure = REPORTED if REPORTED in names else next(iter(whole(run, suite)), next(iter(names)))
    return run.results(suite).filter(pl.col("measure") == measure)["value"].to_numpy()


def _candidates(run: Run) -> Iterator[Convention]:
    """Yield all conventions with at most `_MOST` differences from `bits`; another linking function is one."""
    ended = run.record["model"]["policies"].get("eos") == "yes"
    treatments = [each for each in TREATMENTS if ended or each.name != "without_end"]
    for linking in LINKINGS:
        if linking.unigrams:
            continue
        for count in range(_MOST + (linking.name == DEFAULT)):
            for chosen in combinations(treatments, count):
                yield Convention(linking, chosen)


def _differences(convention: Convention) -> int:
    return len(convention.treatments) + (convention.linking.name != DEFAULT)
