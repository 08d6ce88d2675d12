"""Tables and figures: their types, their common style, and their file formats."""
