"""People: how far people agree with the predictions and with each other, by suite, with people and items random."""

from syntagm.views.people.table import COLUMNS, make_table

__all__ = ["COLUMNS", "make_table"]
