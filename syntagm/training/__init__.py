"""Train language models: corpora, vocabularies, one loop, and a folder for each family."""
