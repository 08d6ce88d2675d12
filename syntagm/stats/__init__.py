"""Statistics: bootstrap intervals, paired tests, adjusted p-values, chance levels, regressions and trajectories."""

from syntagm.core.front import front

__getattr__ = front(__name__, __file__)
