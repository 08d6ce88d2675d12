"""Normalised: accuracy when sentences are compared by SLOR and other scores that take out length and word frequency."""

from syntagm.views.normalised.table import make_table

__all__ = ["make_table"]
