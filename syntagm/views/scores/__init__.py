"""The view `scores`."""

from syntagm.views.scores.chart import draw_figure
from syntagm.views.scores.table import make_table

__all__ = ["draw_figure", "make_table"]
