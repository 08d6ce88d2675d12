"""Tokenisation of English by the rules of TreeTagger's `utf8-tokenize.perl -e`, which Gulordava et al. 2018 used.

TreeTagger's list of abbreviations is not free. That of Moses takes its place here, so some abbreviations are split
differently. Tags such as <unk> are words.
"""

import re

from syntagm.models.words.moses import ABBREVIATIONS

_OPENING = "¿¡{'`\"‚„†‡‹‘’“”•–—›["
_CLOSING = "]}'`\",;:!?%‚„…†‡‰‹‘’“”•–—›"
_TAG = re.compile(r"(<[^<>\s]*>)")
_ELLIPSIS = re.compile(r"(\.\.\.)")
_MARK = re.compile(r"([;!?])(\S)")
_INITIALS = re.compile(r"([A-Za-z-]\.)+")
_CLITIC = re.compile(r"(?<=.)(['’´](?:s|re|ve|d|m|em|ll)|n['’´]t)$", re.DOTALL)


def split(text: str) -> list[str]:
    """Split a text into words.

    >>> split('Mr. Smith\\'s dogs (all 30) "can\\'t" bark, e.g. at 3:15 p.m.; U.S. cats...')  # doctest: +NORMALIZE_WHITESPACE
    ['Mr.', 'Smith', "'s", 'dogs', '(', 'all', '30', ')', '"', 'ca', "n't", '"', 'bark', ',', 'e.g.', 'at', '3:15',
     'p.m.', ';', 'U.S.', 'cats', '...']
    """
    words: list[str] = []
    for number, part in enumerate(_TAG.split(text)):
        if number % 2:
            words.append(part)
        else:
            for piece in _MARK.sub(r"\1 \2", _ELLIPSIS.sub(r" \1 ", part)).split():
                words += _words(piece)
    return words


def _words(piece: str) -> list[str]:
    before, piece, after = _cut(piece)
    if not (piece.removesuffix(".") in ABBREVIATIONS or _INITIALS.fullmatch(piece)):
        if len(piece) > 1 and piece[-1] == "." and piece != "...":
            piece, after = piece[:-1], [".", *after]
        while piece.startswith("--") and len(piece) > 2:
            before, piece = [*before, "--"], piece[2:]
        while piece.endswith("--") and len(piece) > 2:
            piece, after = piece[:-2], ["--", *after]
        while clitic := _CLITIC.search(piece):
            piece, after = piece[: clitic.start()], [clitic[0], *after]
    return [*before, piece, *after]


def _cut(piece: str) -> tuple[list[str], str, list[str]]:
    """Cut off punctuation marks before and after a word; at least one character remains."""
    before: list[str] = []
    after: list[str] = []
    while len(piece) > 1:
        # A bracket stays where its partner is in the same piece, as in `house(s)`.
        if (piece[0] == "(" and ")" not in piece[:-1]) or piece[0] in _OPENING:
            before, piece = [*before, piece[0]], piece[1:]
        elif (piece[-1] == ")" and "(" not in piece) or piece[-1] in _CLOSING:
            piece, after = piece[:-1], [piece[-1], *after]
        elif piece[-1] == "." and piece[-2] in _CLOSING:
            piece, after = piece[:-1], [".", *after]
        else:
            break
    return before, piece, after
