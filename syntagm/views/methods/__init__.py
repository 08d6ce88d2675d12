"""The view `methods`."""

from syntagm.views.methods.chart import draw_figure

__all__ = ["draw_figure"]
