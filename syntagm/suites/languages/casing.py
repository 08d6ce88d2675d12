"""Case by the rules of a language: Turkish and Azerbaijani have two letters i; scripts without case are not changed."""

from syntagm.suites.languages.tags import Language

_DOTTED = ("tr", "az", "tt", "kk", "crh")


def lower(text: str, language: Language) -> str:
    """Return a text in lower case.

    >>> from syntagm.suites.languages.tags import find
    >>> lower("IĞDIR İzmir", find("tr")), lower("ILI", find("en"))
    ('ığdır izmir', 'ili')
    """
    if language.code in _DOTTED and "Latn" in language.scripts:
        text = text.replace("I", "ı").replace("İ", "i")
    return text.lower()


def same(first: str, second: str, language: Language) -> bool:
    """Return whether two texts differ in nothing but case."""
    return lower(first, language) == lower(second, language)
