"""Fill runs: the forms of a word list in the blanks of suites, from the plan to the estimates."""
