"""Reproductions of papers: one folder per paper, written to read like its method section."""
