"""Read a published dataset into suites and write it back: one file a format."""
