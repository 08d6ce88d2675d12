"""How words become a sentence: spacing, a and an, capitals, and the style of the files of Marvin & Linzen 2018.

The only place that knows about these. Words and punctuation marks come in pieces; a piece is joined to what stands before
it by a blank, unless it is glued, or begins with a mark that closes.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

Style = Literal["natural", "published"]
STYLES: tuple[Style, ...] = get_args(Style)
ARTICLE = "(n)"

_CLOSING = ".,;:?!…)]”"
_OPENING = "([“"
_ENDINGS = ("'s", "’s", "n't", "n’t")
_ODD_BLANKS = re.compile(rf"\s+(?=[{re.escape(_CLOSING)}]|(?:{'|'.join(_ENDINGS)})\b)|(?<=[{re.escape(_OPENING)}])\s+")
_MARKS = re.compile(r"[.,;:?!…()\[\]“”\"]")
_ARTICLE = re.compile(r"\b([aA])\(n\)")
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_CONSONANT = re.compile(
    r"(?:eu|ewe|on(?:c?e)(?!\w)|one-|u(?:ku|b[ia]|r[aeiou]|s[aeu]|t[aeio]|ni(?!n|m|d|ll))|u(?!\w))", re.IGNORECASE
)
_VOWEL = re.compile(r"(?:[aeiou]|hono?u?r|honest|heir(?!l\w*y)|hour|8|1[18](?!\d))", re.IGNORECASE)
_LETTERS = re.compile(r"[A-Z]{2,}s?(?![a-z])|[A-Z](?!\w)")


def tidy(text: str) -> str:
    """Single blanks, none before a mark that closes or after one that opens, none at the ends.

    >>> tidy(" the  dog 's bone ,  then ")
    "the dog's bone, then"
    """
    return _ODD_BLANKS.sub("", " ".join(text.split()))


def join(parts: Iterable[tuple[bool, str]]) -> str:
    """Pieces as one text; each says whether it is glued to what stands before it.

    >>> join([(False, "the"), (False, "dog"), (True, "s"), (False, ""), (False, ", barking")])
    'the dogs, barking'
    """
    text = ""
    for glued, part in parts:
        if part:
            text = part if not text else text + part if glued or _attaches(text, part) else f"{text} {part}"
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
    if any(ARTICLE in part for part in parts):
        parts = _articles(parts)
    if style == "published":
        parts = [tidy(_MARKS.sub(" ", part).lower()) for part in parts]
    text, bounds = "", []
    for part in parts:
        if part and text and not _attaches(text, part):
            text += " "
        bounds += [len(text), len(text) + len(part)]
        text += part
    return (_capital(text) if style == "natural" else text), tuple(bounds)


def article(following: str) -> str:
    """*a* or *an*, by the sound with which the next word begins.

    >>> [article(word) for word in ("apple", "unit", "unimportant one", "hour", "house", "MP", "European", "8-year-old")]
    ['an', 'a', 'an', 'an', 'a', 'an', 'a', 'an']
    """
    found = _WORD.search(following)
    word = found[0] if found else ""
    if _LETTERS.match(word):
        return "an" if word[0] in "AEFHILMNORSX" else "a"
    return "an" if _VOWEL.match(word) and not _CONSONANT.match(word) else "a"


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
    return first in _CLOSING or (first in "'’n" and part.startswith(_ENDINGS)) or text[-1] in _OPENING


def _capital(text: str) -> str:
    if text[:1].isalnum():
        # A letter whose capital is two letters would move every region.
        return text[0].upper() + text[1:] if len(text[0].upper()) == 1 else text
    return text[:1] + text[1:2].upper() + text[2:] if len(text[1:2].upper()) == 1 else text
