"""What trainings of transformers share."""
