"""Evaluation: tasks, measures, conventions, chance levels, results, and surprisals of texts."""

from syntagm.core.front import front

__getattr__ = front(__name__, __file__)
