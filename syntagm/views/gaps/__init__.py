"""Estimates of fill runs, and their comparison."""
