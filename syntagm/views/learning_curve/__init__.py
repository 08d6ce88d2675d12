"""The view `learning_curve`."""

from syntagm.views.learning_curve.chart import draw_figure

__all__ = ["draw_figure"]
