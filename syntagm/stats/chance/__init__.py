"""What chance alone would score, worked out from the formulas of predictions."""
