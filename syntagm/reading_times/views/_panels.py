"""Curves of models, a panel for each analysis."""

from collections.abc import Sequence
from functools import partial

import polars as pl

from syntagm.views import Figure, Panel, curves, vega


def draw(
    table: pl.DataFrame, across: str, upright: str, title: str, subtitle: Sequence[str], digits: int = 3
) -> Figure:
    """Draw the rows of a table with the columns analysis, model, x, value, low, high and n."""
    names = table["analysis"].unique(maintain_order=True).to_list()
    panels = [
        Panel(part, across, str(name) if len(names) > 1 else "", reference=0.0, said=partial(curves.say, digits=digits))
        for (name,), part in table.group_by("analysis", maintain_order=True)
    ]
    return curves.draw(panels, vega.quantity("value", upright, {"zero": True}), title, subtitle, table)
