"""Recorded surprisals as a model."""
