"""Predictions: formulas over the surprisals of regions."""
