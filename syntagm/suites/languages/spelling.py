"""How sentences of a language are spelled: endings that are attached to a word, and words whose form depends on the next.

`spelling.toml` declares both for each language. A language that it lacks has neither.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from syntagm.core import toml, utf8
from syntagm.suites.languages.tags import UNKNOWN, Language

FILE = Path(__file__).with_suffix(".toml")
# The beginning of a word decides, and a "word" of a thousand hyphens would take long.
MAX_LENGTH = 100

_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Dependent:
    """A word whose form depends on the next word: how it is written in templates, and its forms."""

    marker: str
    rules: tuple[tuple[re.Pattern[str], str], ...]
    pattern: re.Pattern[str]

    def form(self, following: str) -> str:
        """Return the form before a text.

        >>> from syntagm.suites.languages.tags import find
        >>> [english] = of(find("en")).dependents
        >>> [english.form(word) for word in ("apple", "unit", "hour", "house", "MP", "NATO", "European")]
        ['an', 'a', 'an', 'a', 'an', 'a', 'a']
        """
        match = _WORD.search(following)
        letters = unicodedata.normalize("NFD", match[0][:MAX_LENGTH]) if match else ""
        word = "".join(letter for letter in letters if not unicodedata.combining(letter))
        return next(form for pattern, form in self.rules if pattern.match(word))


@dataclass(frozen=True, slots=True)
class Spelling:
    dependents: tuple[Dependent, ...] = ()  # words whose form depends on the next word
    ending: re.Pattern[str] | None = None  # what is attached to the word before it; None if there is nothing
    first: str = ""  # the characters with which an ending begins, so that few texts are searched
    _spaced: re.Pattern[str] | None = None

    def is_ending(self, text: str) -> bool:
        """Return whether a text begins with an ending."""
        return bool(self.ending and text[:1] in self.first and self.ending.match(text))

    def attached(self, text: str) -> str:
        """Return a text whose endings are attached to the words before them.

        >>> from syntagm.suites.languages.tags import find
        >>> of(find("en")).attached("the dog 's bone")
        "the dog's bone"
        """
        return self._spaced.sub("", text) if self._spaced and ("'" in text or "’" in text) else text


NONE = Spelling()
# Templates that say no language were written for English.
DEFAULT = "en"


def of(language: Language) -> Spelling:
    """Return the spelling of a language; that of English if the language isn't known."""
    return _declared().get(DEFAULT if language is UNKNOWN else language.code, NONE)


def plain(form: str) -> str:
    """Return a form without the markers of any language: *a* for `a(n)`, *A* for `A(n)`."""
    for own in _declared().values() if "(" in form else ():
        for word in own.dependents:
            form = word.pattern.sub(rf"\g<1>{word.rules[-1][1][1:]}", form)
    return form


@cache
def _declared() -> dict[str, Spelling]:
    return {code: _spelling(table) for code, table in toml.read(utf8.read(FILE), str(FILE)).items()}


def _spelling(table: dict[str, Any]) -> Spelling:
    endings = [re.escape(ending).replace("'", "['’]") for ending in table.get("endings", [])]
    either = rf"(?:{'|'.join(endings)})\b"
    letters = "".join(ending[0] for ending in table.get("endings", []))
    first = "".join(dict.fromkeys(letters.replace("'", "'’")))
    return Spelling(
        tuple(_dependent(marker, own["rules"]) for marker, own in table.get("forms", {}).items()),
        re.compile(either) if endings else None, first, re.compile(rf"\s+(?={either})") if endings else None,
    )  # fmt: skip


def _dependent(marker: str, rules: list[dict[str, str]]) -> Dependent:
    compiled = tuple((re.compile(rule.get("pattern", "")), rule["form"]) for rule in rules)
    first = f"[{marker[0].lower()}{marker[0].upper()}]"
    return Dependent(marker, compiled, re.compile(rf"\b({first}){re.escape(marker[1:])}"))
