"""A random model, the floor of every comparison."""
