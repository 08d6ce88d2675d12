"""Language models: one file a family."""
