"""Views: tables and figures of runs, one file per view, with its numbers, table and chart."""

from syntagm.core.front import front

__getattr__ = front(__name__, __file__)
