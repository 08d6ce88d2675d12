"""Language models: one folder per family, declared in its `family.py`."""

from syntagm.core.front import front

__getattr__ = front(__name__, __file__)
