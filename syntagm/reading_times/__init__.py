"""Reading times: tables of times, their join with surprisals, held-out regressions, alarms, and effects in milliseconds."""

from syntagm.core.front import front

__getattr__ = front(__name__, __file__)
