"""Trajectory: scores of groups of suites along series of checkpoints, with intervals and the point where a level is reached."""

from syntagm.views.trajectory.chart import draw_figure
from syntagm.views.trajectory.table import make_table

__all__ = ["draw_figure", "make_table"]
