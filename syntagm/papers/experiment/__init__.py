"""The controlled experiment: models by class and corpus size."""
