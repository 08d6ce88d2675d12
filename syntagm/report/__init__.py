"""A run directory as tables and one page."""
