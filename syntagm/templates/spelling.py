"""How words become a sentence: spacing, capitals, and the style of the files of Marvin & Linzen 2018.

The only place that knows about these; a and an are in `article.py`. Words and punctuation marks come in pieces; a piece
is joined to what stands before it by a blank, unless it is glued, or begins with a mark that closes.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from syntagm.templates.article import article

Style = Literal["natural", "published"]
STYLES: tuple[Style, ...] = get_args(Style)
ARTICLE = "(n)"

_CLOSING = ".,;:?!…)]”"
_OPENING = "([“"
_ENDINGS = r"(?:['’](?:s|d|m|ll|re|ve)|n['’]t)\b"
_ENDING = re.compile(_ENDINGS)
_ODD_BLANKS = re.compile(rf"\s+(?=[{re.escape(_CLOSING)}]|{_ENDINGS})|(?<=[{re.escape(_OPENING)}])\s+")
_MARKS = re.compile(r"[.,;:?!…()\[\]“”\"]")
_ARTICLE = re.compile(r"\b([aA])\(n\)")


def tidy(text: str) -> str:
    """Single blanks, none before a mark that closes or after one that opens, none at the ends.

    >>> tidy(" the  dog 's bone ,  then ")
    "the dog's bone, then"
    """
    return _ODD_BLANKS.sub("", " ".join(text.split()))


def join(parts: Iterable[tuple[bool, str]]) -> str:
    """Pieces as one text; each says whether it is glued to what stands before it.

    >>> join([(False, "the"), (False, "dog"), (True, "s"), (False, ""), (True, "barking"), (True, ", then")])
    'the dogs barking, then'
    """
    text, close = "", True
    for glued, part in parts:
        # A piece that follows an empty one stands where the empty one would.
        close = close and glued
        if part:
            text = f"{text} {part}" if text and not close and not _attaches(text, part) else text + part
            close = True
    return text


def sentence(parts: Sequence[str], style: Style = "natural") -> tuple[str, tuple[int, ...]]:
    """A sentence of its regions.

    Arguments:
        parts: what each region holds, tidied; `a(n)` becomes *a* or *an*.
        style: `natural`, with a capital at the beginning; or `published`: lower case and no punctuation.

    Returns:
        The text, and the start and the end of each region in it, one after the other.

    >>> sentence(["a(n)", "honest", "", "answer", "."])
    ('An honest answer.', (0, 2, 3, 9, 9, 9, 10, 16, 16, 17))
    >>> sentence(["The", "answer, then", "."], "published")
    ('the answer then', (0, 3, 4, 15, 15, 15))
    """
    text, bounds = _joined(parts)
    if ARTICLE in text or style == "published":
        parts = _articles(parts)
        if style == "published":
            parts = [tidy(_MARKS.sub(" ", part).lower()) for part in parts]
        text, bounds = _joined(parts)
    return (_capital(text) if style == "natural" else text), tuple(bounds)


def _joined(parts: Sequence[str]) -> tuple[str, list[int]]:
    text = ""
    bounds: list[int] = []
    for part in parts:
        if part and text and not _attaches(text, part):
            text += " "
        start = len(text)
        text += part
        bounds += (start, len(text))
    return text, bounds


def _articles(parts: Sequence[str]) -> list[str]:
    """The parts with each `a(n)` decided, the last one first, since it may be the next word of the one before."""
    made: list[str] = []
    following = ""
    for part in reversed(parts):
        while found := list(_ARTICLE.finditer(part)):
            last = found[-1]
            chosen = article(part[last.end() :] + " " + following)
            part = part[: last.start()] + last[1] + chosen[1:] + part[last.end() :]
        made.insert(0, part)
        following = f"{part} {following}"
    return made


def _attaches(text: str, part: str) -> bool:
    first = part[0]
    # The first letter decides for nearly all words, and this is asked for each.
    return first in _CLOSING or text[-1] in _OPENING or (first in "'’n" and _ENDING.match(part) is not None)


def _capital(text: str) -> str:
    for place, letter in enumerate(text):
        if letter.isalnum():
            capital = letter.upper()
            # A letter whose capital is two letters would move every region.
            return text[:place] + capital + text[place + 1 :] if len(capital) == 1 else text
    return text
