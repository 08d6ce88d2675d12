"""Statistics: bootstrap intervals, paired tests, adjusted p-values, chance levels, regressions and trajectories."""
