"""Training of language models: corpora, vocabularies, the training loop, and one folder for each family."""
