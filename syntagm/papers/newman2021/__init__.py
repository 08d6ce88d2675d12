"""The reproduction of Newman et al. 2021."""
