"""Explanation: by which differences of conventions, settings and texts one run gets the verdicts of another on the same items."""

from syntagm.views.explanation.search import explain
from syntagm.views.explanation.table import make_table

__all__ = ["explain", "make_table"]
