"""Tasks: the ways to evaluate suites with a model."""
