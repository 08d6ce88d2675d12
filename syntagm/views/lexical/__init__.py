"""Lexical: accuracy by lexical item, say, by the verb that is tested, with how frequent each is."""

from syntagm.views.lexical.chart import draw_figure
from syntagm.views.lexical.table import make_table

__all__ = ["draw_figure", "make_table"]
