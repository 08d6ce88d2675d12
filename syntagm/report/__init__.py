"""The HTML report of runs, the methods section, and the Markdown page about suites."""
