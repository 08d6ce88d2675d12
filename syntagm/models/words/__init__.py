"""Words and vocabularies, shared by all word-level models."""
