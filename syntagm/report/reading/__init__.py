"""The chapter on analyses of reading times, alone or below a report of runs."""
