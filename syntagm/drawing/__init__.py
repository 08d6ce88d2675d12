"""Tables and charts: their types, their common style, and saving them in all formats."""
