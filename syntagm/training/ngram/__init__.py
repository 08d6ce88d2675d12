"""Estimation of n-gram models with modified Kneser-Ney smoothing."""
