"""Materials: suites, formulas, word lists, languages, formats, templates, rules, and what is bundled."""

from syntagm.core.front import front

__getattr__ = front(__name__, __file__)
