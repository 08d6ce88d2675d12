"""Flips: the items that two models judge differently, the widest first."""

from collections.abc import Sequence

import polars as pl

from syntagm.drawing.table import Table
from syntagm.errors import UsageError
from syntagm.io.number import whole
from syntagm.runs.several import named
from syntagm.runs.store import Run
from syntagm.stats import paired
from syntagm.views.comparison import compute as pairing

COLUMNS = ("suite", "item", "measure", "holds under", "margin A", "margin B")


def make_table(runs: Sequence[Run], measure: str = "first", limit: str = "all") -> Table:
    """A row an item, by how far apart the two margins are, in bits.

    Arguments:
        measure: a prediction's name, `first` or `all`.
        limit: how many items; `all` unless given.

    Raises:
        UsageError: not two runs, a limit that is no number, or a measure whose values are shares.
        RunError: they share no suite.
    """
    if len(runs) != 2:
        raise UsageError("flips", f"{len(runs)} runs", "two")
    count = None if limit == "all" else whole("limit=", limit, least=0, also="all")
    (a, first), (b, second) = named(runs)
    pairs, left_out = pairing.paired(first, second, measure)
    paired.refuse_others_than_verdicts(pairs, "flips")
    found = paired.discordant(pairs).with_columns(apart=(pl.col("margin_a") - pl.col("margin_b")).abs())
    found = found.sort("apart", descending=True, maintain_order=True)
    shown = found if count is None else found.head(count)
    rows = tuple(
        (row["suite"], row["item"], row["measure"], "A" if row["value_a"] else "B", row["margin_a"], row["margin_b"])
        for row in shown.iter_rows(named=True)
    )
    notes = (
        f"A: {a}. B: {b}. Margins in bits: above 0 the prediction holds, within the tolerance it is a tie and fails.",
        f"{len(shown)} of {len(found)} flipped items, of {len(pairs)} compared.",
        *(f"Left out: {one}." for one in left_out),
    )
    warnings = tuple(f"{a} and {b}: {one}." for one in pairing.warnings(first, second, pairs))
    return Table("Items that two models judge differently", COLUMNS, rows, notes=notes, warnings=warnings)
