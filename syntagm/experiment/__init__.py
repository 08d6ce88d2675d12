"""Human experiments on suites: the plan, the pages, the answers, and the run that they become."""

from syntagm.core.front import front

__getattr__ = front(__name__, __file__)
