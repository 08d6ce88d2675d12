"""Training of language models: corpora, vocabularies, the training loop, and a folder for each family."""
