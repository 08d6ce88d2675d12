"""Make materials: templates whose slots are filled by a table, a cross or a sample."""
