"""Discordant items: the items that two models judge differently, beginning with the largest difference of margins."""

from collections.abc import Sequence
from typing import Annotated

import polars as pl

from syntagm.core import Reader, UsageError, whole
from syntagm.runs import Run, named, ties_of, units
from syntagm.stats import paired
from syntagm.views.comparison import discordant, pairs_of, warnings_of
from syntagm.views.drawing.table import Table
from syntagm.views.estimates import shared_kind
from syntagm.views.options import Measure

COLUMNS = ("suite", "item", "measure", "holds under", "margin A", "margin B")


def _limit(text: str) -> int | None:
    return None if text == "all" else whole("limit=", text, least=0, also="all")


Limit = Annotated[int | None, Reader("number of items, or `all`", _limit, "all")]


def make_table(runs: Sequence[Run], measure: Measure = "first", limit: Limit = None) -> Table:
    """Make one row for each discordant item, ordered by the difference of its margins.

    Raises:
        UsageError: there are not exactly two runs, or the values of the measure are not verdicts.
        RunError: the runs have no suite in common.
    """
    if len(runs) != 2:
        raise UsageError("discordant", f"{len(runs)} runs", "two")
    (a, first), (b, second) = named(runs)
    pairs, skipped = pairs_of(first, second, measure)
    kind = shared_kind([first, second], measure)
    paired.refuse_others_than_verdicts(measure, kind, "flips")
    items = discordant(first, pairs, measure).with_columns(apart=(pl.col("margin_a") - pl.col("margin_b")).abs())
    items = items.sort("apart", descending=True, maintain_order=True)
    shown = items if limit is None else items.head(limit)
    rows = tuple(
        (row["suite"], row["item"], row["measure"], "A" if row["value_a"] else "B", row["margin_a"], row["margin_b"])
        for row in shown.iter_rows(named=True)
    )
    notes = (
        f"A: {a}. B: {b}. Margins are in {units(runs, measure)}: the prediction holds if the margin is above 0. A margin "
        f"within the tolerance is a tie; ties count as {ties_of(runs, measure)}.",
        f"{len(shown)} of {len(items)} discordant items are shown; {len(pairs)} items were compared.",
        *(f"Skipped: {reason}." for reason in skipped),
    )
    warnings = tuple(f"{a} and {b}: {reason}." for reason in warnings_of(first, second, kind))
    return Table("Items that two models judge differently", COLUMNS, rows, notes=notes, warnings=warnings)
