"""Training of language models: corpora, vocabularies, the training loop, and a folder for each family."""

from syntagm.core.front import front

__getattr__ = front(__name__, __file__)
