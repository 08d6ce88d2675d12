"""Word frequencies of a language, from the package wordfreq (Speer 2022), which the extra `[languages]` installs.

Counts are per billion words, as wordfreq's lists are rounded; a word that no list has counts as 0.
"""

import importlib
import warnings
from collections.abc import Iterator, Mapping
from functools import cache

from syntagm.core import UsageError, extras
from syntagm.suites.languages.tags import Language

TOTAL = 10**9
# wordfreq's names of lists, where they are not the tag.
_LISTS = {"tl": "fil", "hr": "sh", "sr": "sh", "bs": "sh", "no": "nb"}


class PerBillion(Mapping[str, int]):
    """The words of a language, with their counts in a billion words."""

    def __init__(self, language: Language) -> None:
        wordfreq = _package()
        name = _LISTS.get(language.code, language.code)
        self._frequencies: Mapping[str, float] = wordfreq.get_frequency_dict(name, wordlist="best")
        self._language, self._list = language, name

    def __getitem__(self, word: str) -> int:
        return round(self._frequencies[self._spelled(word)] * TOTAL)

    def __iter__(self) -> Iterator[str]:
        return iter(self._frequencies)

    def __len__(self) -> int:
        return len(self._frequencies)

    def _spelled(self, word: str) -> str:
        """Return a word as the list has it: folded by wordfreq's own rules, and Chinese in simplified characters."""
        # Its lists have `gross` for the German groß, σ at the end of Greek words, and Serbian in Latin letters.
        word = str(importlib.import_module("wordfreq.preprocess").preprocess_text(word, self._language.code))
        if self._list == "zh":
            simplified: str = importlib.import_module("wordfreq.chinese").simplify_chinese(word)
            return simplified
        return word


def available(language: Language) -> bool:
    """Return whether there is a list of this language, and wordfreq is installed."""
    try:
        lists = _package().available_languages("best")
    except UsageError:
        return False
    return _LISTS.get(language.code, language.code) in lists


@cache
def per_billion(language: Language) -> PerBillion:
    lists = _package().available_languages("best")
    if _LISTS.get(language.code, language.code) not in lists:
        cure = "Count words in a text of the language: --unigrams TEXT."
        raise UsageError(
            language.tag, f"no word frequencies of {language.name}", "one of " + ", ".join(sorted(lists)), cure
        )
    return PerBillion(language)


def about() -> str:
    """Return the name and the version of the source."""
    return f"wordfreq {extras.version('wordfreq')}"


@cache
def _package():  # type: ignore[no-untyped-def]
    with (
        extras.needed("word frequencies", alternative="count words in a text: --unigrams TEXT"),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        return importlib.import_module("wordfreq")
