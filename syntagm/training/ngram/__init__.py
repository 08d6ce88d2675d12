"""Estimating n-gram models with modified Kneser-Ney smoothing."""
