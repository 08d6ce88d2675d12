"""Results of other tools as runs: one file per tool, with a function `read`."""
