"""Statistics: intervals, comparisons, scores, mixed models, people, planning and trajectories."""

from syntagm.core.front import front

__getattr__ = front(__name__, __file__)
