"""The view `surface`."""

from syntagm.views.surface.chart import draw_figure

__all__ = ["draw_figure"]
