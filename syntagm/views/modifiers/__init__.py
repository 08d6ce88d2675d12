"""The view `modifiers`."""

from syntagm.views.modifiers.chart import draw_figure

__all__ = ["draw_figure"]
