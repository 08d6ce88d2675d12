"""The chapter on runs of predictions of many models: models are rows, and what would grow without bound is left out."""
