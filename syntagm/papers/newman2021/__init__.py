"""Newman et al. 2021."""
