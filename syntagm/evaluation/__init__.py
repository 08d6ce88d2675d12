"""Tasks: the ways to evaluate suites with a model."""

from syntagm.core.front import front

__getattr__ = front(__name__, __file__)
