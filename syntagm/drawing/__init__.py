"""Tables and charts: what they are, how they look, how they are saved."""
