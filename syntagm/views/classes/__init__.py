"""The view `classes`."""

from syntagm.views.classes.chart import draw_figure

__all__ = ["draw_figure"]
