"""Reading times: tables of times, their join with surprisals, held-out regressions, alarms, and effects in milliseconds."""
