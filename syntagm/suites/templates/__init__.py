"""Templates for suites. Their slots are filled from a table, by all combinations of words, or at random."""
