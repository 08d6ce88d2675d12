"""The HTML report of runs, the methods section, and the Markdown page about suites."""

from syntagm.core.front import front

__getattr__ = front(__name__, __file__)
