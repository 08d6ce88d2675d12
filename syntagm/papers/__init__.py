"""Reproductions of papers: one folder per paper, whose code follows the paper's method section."""

from syntagm.core.front import front

__getattr__ = front(__name__, __file__)
