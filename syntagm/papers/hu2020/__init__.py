"""Hu et al. 2020."""
