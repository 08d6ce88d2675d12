"""Discordant items: the items that two models judge differently, the widest first."""

from collections.abc import Sequence
from typing import Annotated

import polars as pl

from syntagm.drawing.table import Table
from syntagm.errors import UsageError
from syntagm.io.number import whole
from syntagm.runs.several import named
from syntagm.runs.store import Run
from syntagm.stats import paired
from syntagm.views.comparison import pairs_of, warnings_of
from syntagm.views.options import Measure, Reader

COLUMNS = ("suite", "item", "measure", "holds under", "margin A", "margin B")


def _limit(text: str) -> int | None:
    return None if text == "all" else whole("limit=", text, least=0, also="all")


Limit = Annotated[int | None, Reader("how many items, or `all`", _limit, "all")]


def make_table(runs: Sequence[Run], measure: Measure = "first", limit: Limit = None) -> Table:
    """Make a row an item, by how far apart the two margins are, in bits.

    Raises:
        UsageError: not two runs, or a measure whose values are shares.
        RunError: they share no suite.
    """
    if len(runs) != 2:
        raise UsageError("discordant", f"{len(runs)} runs", "two")
    (a, first), (b, second) = named(runs)
    pairs, left_out = pairs_of(first, second, measure)
    paired.refuse_others_than_verdicts(pairs, "flips")
    found = paired.discordant(pairs).with_columns(apart=(pl.col("margin_a") - pl.col("margin_b")).abs())
    found = found.sort("apart", descending=True, maintain_order=True)
    shown = found if limit is None else found.head(limit)
    rows = tuple(
        (row["suite"], row["item"], row["measure"], "A" if row["value_a"] else "B", row["margin_a"], row["margin_b"])
        for row in shown.iter_rows(named=True)
    )
    notes = (
        f"A: {a}. B: {b}. Margins in bits: above 0 the prediction holds, within the tolerance it is a tie and fails.",
        f"{len(shown)} of {len(found)} flipped items, of {len(pairs)} compared.",
        *(f"Left out: {one}." for one in left_out),
    )
    warnings = tuple(f"{a} and {b}: {one}." for one in warnings_of(first, second, pairs))
    return Table("Items that two models judge differently", COLUMNS, rows, notes=notes, warnings=warnings)
