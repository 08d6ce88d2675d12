"""Reproductions of papers: one folder per paper, whose code follows the paper's method section."""
