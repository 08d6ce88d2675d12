"""Chance levels of predictions, derived from their formulas."""
