"""The view `comparison`."""

from syntagm.views.comparison.table import make_table

__all__ = ["make_table"]
