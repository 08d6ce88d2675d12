"""The view `words`."""

from syntagm.views.words.chart import draw_figure

__all__ = ["draw_figure"]
