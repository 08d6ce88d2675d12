"""The reproduction of Warstadt et al. 2020 (BLiMP)."""
