"""Conventions: accuracy under each linking function and treatment, and the verdicts that depend on the choice."""

from syntagm.views.conventions.chart import draw_figure
from syntagm.views.conventions.table import make_table

__all__ = ["draw_figure", "make_table"]
