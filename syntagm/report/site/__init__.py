"""The pages about runs: overview, suites, items, runs and search, for a server or as files of a folder."""
