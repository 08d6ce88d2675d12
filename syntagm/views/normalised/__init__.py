"""Normalised: accuracy under SLOR and other sentence scores that are normalised for length and word frequency."""

from syntagm.views.normalised.table import make_table

__all__ = ["make_table"]
