"""Functions that the trainings of transformers share."""
