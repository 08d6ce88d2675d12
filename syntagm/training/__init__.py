"""Train language models: corpora, vocabularies, one loop, and a file for each family."""
