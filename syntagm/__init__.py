"""Syntagm: targeted syntactic evaluation of language models."""
