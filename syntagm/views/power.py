"""Power: how often a difference like that of two pilot runs would be found with other numbers of suites and items.

Studies are simulated from the pilot: suites are drawn with replacement, then items within each, and the test over suites
is performed, with suites random or fixed as in every table.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Annotated

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.drawing.table import Cell, Table
from syntagm.errors import UsageError
from syntagm.runs.several import named
from syntagm.runs.store import Run
from syntagm.stats import bootstrap, interval, paired
from syntagm.stats.interval import LEVEL
from syntagm.views.comparison import letters, pairs_of
from syntagm.views.options import Measure, Reader

COLUMNS = ("A", "B", "pilot B - A", "pilot suites", "suites", "items each", "power", "studies")
# Power is shown with two digits; of this many studies its standard error is at most .016.
STUDIES = 1000


def read_numbers(text: str) -> tuple[int, ...]:
    """Read whole numbers of 2 or more, with commas between them.

    Raises:
        UsageError: any other text.
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and 2 <= int(part) <= 10_000 for part in parts):
        raise UsageError("suites= or items=", repr(text), "whole numbers from 2 to 10,000, such as 10,20,40")
    return tuple(map(int, parts))


Suites = Annotated[tuple[int, ...], Reader("numbers of suites, for example 10,20,40", read_numbers, "10,20,40")]
Items = Annotated[tuple[int, ...], Reader("numbers of items of each suite", read_numbers, "10,30,100")]


def make_table(
    runs: Sequence[Run], suites: Suites = (10, 20, 40), items: Items = (10, 30, 100), measure: Measure = "first"
) -> Table:
    """Make one row for each pair of pilot runs, number of suites and number of items.

    Raises:
        UsageError: fewer than two runs, a pilot of one suite, or a measure whose values are not verdicts.
        RunError: two runs have no suite in common.
    """
    if len(runs) < 2:
        raise UsageError("power", "one run", "two or more")
    rows: list[tuple[Cell, ...]] = []
    skipped: list[str] = []
    for (a, first), (b, second) in combinations(named(runs), 2):
        pairs, reasons = pairs_of(first, second, measure)
        paired.refuse_others_than_verdicts(pairs, "power")
        rows += [(a, b, *row) for row in _rows(pairs, suites, items)]
        skipped += [note for reason in reasons if (note := f"Skipped: {reason}.") not in skipped]
    resampling = bootstrap.current()
    notes = (
        *letters(runs),
        f"power: the proportion of {STUDIES:,} simulated studies whose test over suites ({resampling.suites}) has p <= {LEVEL}; "
        f"seed {resampling.seed}. The difference of the pilot is taken for the true one: after a small pilot, plan for a smaller "
        "one. With as many suites and items as the pilot, power follows from its p-value and says nothing new.",
        *skipped,
    )
    return Table("Power of a comparison over suites", COLUMNS, tuple(rows), notes=notes)


def _rows(pairs: pl.DataFrame, suites: Sequence[int], items: Sequence[int]) -> Iterator[tuple[Cell, ...]]:
    pilot = paired.differences(pairs)
    if len(pilot) < 2:
        raise UsageError("power", "a pilot of one suite", "two or more", "For one suite: `syntagm table significance`.")
    observed = float(np.mean([values.mean() for values in pilot]))
    for count in suites:
        for size in items:
            yield (observed, len(pilot), count, size, simulated(pilot, count, size), STUDIES)


def simulated(pilot: Sequence[NDArray[np.float64]], suites: int, items: int) -> float:
    """Return the power of studies with these numbers of suites and of items in each.

    Arguments:
        pilot: the paired differences of verdicts of each suite. Shapes (items,).
    """
    source = bootstrap.generator(f"power/{suites}/{items}", bootstrap.current().seed)
    found = 0
    for _ in range(STUDIES):
        chosen = [pilot[k] for k in source.integers(0, len(pilot), suites)]
        study = {str(k): values[source.integers(0, len(values), items)] for k, values in enumerate(chosen)}
        found += interval.over_suites(study, verdicts=True, difference=True).p <= LEVEL
    return found / STUDIES
