"""Lexical: accuracy by lexical item, such as the tested verb, with its frequency."""

from syntagm.views.lexical.chart import draw_figure
from syntagm.views.lexical.table import make_table

__all__ = ["draw_figure", "make_table"]
