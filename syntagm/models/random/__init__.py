"""A random baseline model."""
