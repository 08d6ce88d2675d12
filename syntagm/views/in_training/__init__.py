"""Evaluation of a model while it is trained, in the trainer of transformers or in any other loop."""
