"""The view `clustered`."""

from syntagm.views.clustered.table import make_table

__all__ = ["make_table"]
