"""Marvin and Linzen 2018."""
