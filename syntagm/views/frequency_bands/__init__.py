"""The view `frequency_bands`."""

from syntagm.views.frequency_bands.chart import draw_figure

__all__ = ["draw_figure"]
