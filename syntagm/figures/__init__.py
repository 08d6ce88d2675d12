"""Figures: one file a figure, named after what it shows."""
