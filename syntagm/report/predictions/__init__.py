"""The chapter on runs of predictions, or of measures used instead of them."""
