"""Power: how often studies with other numbers of suites, items or models would find a difference, simulated from a pilot."""

from syntagm.views.power.chart import draw_figure
from syntagm.views.power.table import make_table

__all__ = ["draw_figure", "make_table"]
