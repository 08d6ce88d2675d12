"""Syntagm's own suites as data files, with one folder for each collection."""
