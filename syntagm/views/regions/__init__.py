"""The view `regions`."""

from syntagm.views.regions.chart import draw_figure

__all__ = ["draw_figure"]
