"""Runs of tasks: the engine computes them, the ledger writes them, and the store reads them."""

from syntagm.core.front import front

__getattr__ = front(__name__, __file__)
