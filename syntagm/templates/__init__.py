"""Templates of suites, whose slots are filled from a table, by all combinations of words, or at random."""
