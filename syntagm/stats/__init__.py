"""Statistics: bootstrap, paired tests, adjustment, chance, mixed models."""
