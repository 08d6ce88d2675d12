"""The view `trajectory`."""

from syntagm.views.trajectory.chart import draw_figure
from syntagm.views.trajectory.table import make_table

__all__ = ["draw_figure", "make_table"]
