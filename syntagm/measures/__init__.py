"""Measures ask about an item and judge the answers: one file a measure."""
