"""The controlled experiment: models by family and corpus size."""
