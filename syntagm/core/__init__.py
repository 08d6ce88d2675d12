"""What every room needs: errors, text for people, progress, files, settings and the registry of named things."""

from syntagm.core.front import front

__getattr__ = front(__name__, __file__)
