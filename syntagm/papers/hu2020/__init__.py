"""The reproduction of Hu et al. 2020."""
