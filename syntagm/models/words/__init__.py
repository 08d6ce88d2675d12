"""Words and vocabularies, which word-level models share."""
