"""The view `normalised`."""

from syntagm.views.normalised.table import make_table

__all__ = ["make_table"]
