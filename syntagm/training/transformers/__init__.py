"""Functions shared by the training of all transformers."""
