"""The spelling of sentences: spaces, capitals, and the style of Marvin & Linzen's published files (2018).

What depends on the language (endings, *a* and *an*) is declared in `suites/languages/spelling.toml`; all other rules are in this
module. A sentence consists of pieces, which are words and punctuation. There is a space before a piece unless it is glued
or begins with closing punctuation.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from syntagm.suites.languages.spelling import Dependent, Spelling

Style = Literal["natural", "published"]
STYLES: tuple[Style, ...] = get_args(Style)

_CLOSING = ".,;:?!…)]”"
_OPENING = "([“"
_EXTRA_SPACE = re.compile(rf"\s+(?=[{re.escape(_CLOSING)}])|(?<=[{re.escape(_OPENING)}])\s+")
_PUNCTUATION = re.compile(r"[.,;:?!…()\[\]“”\"]")


def tidy(text: str) -> str:
    """Normalise the spaces of a text.

    The result has single spaces, but none before closing punctuation, after opening punctuation or at the ends.

    >>> tidy(" the  dog ,  then ")
    'the dog, then'
    """
    return _EXTRA_SPACE.sub("", " ".join(text.split()))


def join(parts: Iterable[tuple[bool, str]]) -> str:
    """Join pieces into one text. Each is a pair: whether the piece is glued to the one before it, and its text.

    >>> join([(False, "the"), (False, "dog"), (True, "s"), (False, ""), (True, "barking"), (True, ", then")])
    'the dogs barking, then'
    """
    text, close = "", True
    for glued, part in parts:
        # After an empty piece, the space (if any) before that piece remains.
        close = close and glued
        if part:
            text = f"{text} {part}" if text and not close and not _closes(text, part) else text + part
            close = True
    return text


def sentence(parts: Sequence[str], own: Spelling, style: Style = "natural") -> tuple[str, tuple[int, ...]]:
    """Make a sentence from its regions.

    Arguments:
        parts: the text of each region, with normalised spaces.
        own: the spelling of the language. Of English, `a(n)` becomes *a* or *an*.
        style: `natural`, with a capital at the beginning, or `published`, in lower case without punctuation.

    Returns:
        The text, and the bounds of its regions: start and end of the first region, then those of the second, and so on.

    >>> from syntagm.suites.languages import spelling, tags
    >>> english = spelling.of(tags.find("en"))
    >>> sentence(["a(n)", "honest", "", "answer", "."], english)
    ('An honest answer.', (0, 2, 3, 9, 9, 9, 10, 16, 16, 17))
    >>> sentence(["The", "answer, then", "."], english, "published")
    ('the answer then', (0, 3, 4, 15, 15, 15))
    """
    text, bounds = _joined(parts, own)
    dependents = [word for word in own.dependents if word.marker[1:] in text]
    if dependents or style == "published":
        for word in dependents:
            parts = _chosen(parts, word)
        if style == "published":
            parts = [tidy(_PUNCTUATION.sub(" ", part).lower()) for part in parts]
        text, bounds = _joined(parts, own)
    return (_capital(text) if style == "natural" else text), tuple(bounds)


def _joined(parts: Sequence[str], own: Spelling) -> tuple[str, list[int]]:
    text = ""
    bounds: list[int] = []
    for part in parts:
        if part and text and not (_closes(text, part) or own.is_ending(part)):
            text += " "
        start = len(text)
        text += part
        bounds += (start, len(text))
    return text, bounds


def _chosen(parts: Sequence[str], word: Dependent) -> list[str]:
    """Replace each marker with a form, from the last to the first, because one may follow another."""
    result: list[str] = []
    following = ""
    for part in reversed(parts):
        while matches := list(word.pattern.finditer(part)):
            for match in reversed(matches):
                chosen = word.form(part[match.end() :] + " " + following)
                part = part[: match.start()] + match[1] + chosen[1:] + part[match.end() :]
        result.insert(0, part)
        following = f"{part} {following}"
    return result


def _closes(text: str, part: str) -> bool:
    return part[0] in _CLOSING or text[-1] in _OPENING


def _capital(text: str) -> str:
    for place, letter in enumerate(text):
        if letter.isalnum():
            capital = letter.upper()
            # A letter whose capital is two letters (ß) stays, since it would move the regions.
            return text[:place] + capital + text[place + 1 :] if len(capital) == 1 else text
    return text
