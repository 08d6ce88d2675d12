"""The chapter on runs of predictions, or of measures in their place."""
