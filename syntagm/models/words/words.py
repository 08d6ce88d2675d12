"""From texts to words and back to characters: split at white space, or as the Penn Treebank does.

The Treebank words are those of NLTK's TreebankWordTokenizer on the whole line, token by token the same. NLTK needs twenty
regular expressions a line; what they do to a piece between two blanks depends only on the piece and on whether it is the
first or last of its line, so each piece is asked for once.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from syntagm.errors import UsageError

KINDS = ("auto", "blanks", "treebank")
_PIECES = 2**17
# What NLTK divides of the words made of letters alone.
_DIVIDED = frozenset(["cannot", "gimme", "gonna", "gotta", "lemme", "wanna"])
_QUOTES = ("``", "''")
_BETWEEN_BLANKS = re.compile(r"\S+")
_LAST = (" .", " ?", " !", " ''")
_ALONE = re.compile(r"(?:^|\s)(?:[.,;:?!()]|``|''|--)(?=\s|$)")


def words(text: str, tokens: str = "blanks") -> tuple[list[str], NDArray[np.int32]]:
    """The words of a text, and where each starts if white space belongs to the word after it.

    Arguments:
        text: one line.
        tokens: `blanks`: split at white space as it stands; `treebank`: as NLTK's TreebankWordTokenizer does, with `` and
            '' for quotes; `auto`: as it stands if a punctuation mark stands alone in it, and so somebody has split it
            before, else as the Treebank.

    Returns:
        The words, and shape (words,), int32: first character of each, the first 0.

    Raises:
        UsageError: `tokens` is none of them.

    >>> found, starts = words('He  said "yes".', "treebank")
    >>> found, starts.tolist()
    (['He', 'said', '``', 'yes', "''", '.'], [0, 2, 8, 10, 13, 14])
    """
    found = split(text, tokens)
    return found, placed(text, found)


def placed(text: str, found: Sequence[str]) -> NDArray[np.int32]:
    """Where each of the words that `split` found in a text starts; as `words`."""
    starts = np.zeros(len(found), np.int32)
    end = 0
    for index, word in enumerate(found):
        starts[index] = end if index else 0
        end = _end(text, word, end)
    return starts


def split(text: str, tokens: str = "blanks") -> list[str]:
    """The words of a text alone; arguments and errors as `words`.

    >>> split("They can't, she cannot.", "treebank")
    ['They', 'ca', "n't", ',', 'she', 'can', 'not', '.']
    """
    if tokens == "blanks" or (tokens == "auto" and is_split(text)):
        return text.split()
    if tokens not in KINDS:
        raise UsageError("tokens", repr(tokens), "one of " + ", ".join(KINDS))
    pieces = text.split()
    if " ".join(pieces) != text or len(pieces) < 2:
        # Other white space than single blanks means something to NLTK's rules.
        return _nltk()(text)
    found = [*_first(pieces[0])]
    for piece in pieces[1:-1]:
        found += _inner(piece)
    found += _last(pieces[-1])
    return found


def between_blanks(text: str, starts: NDArray[np.int32]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which word each token belongs to, a word being what stands between blanks, and where each of these words ends.

    White space belongs to the word after it; a token that starts after the last word has the number after the last.

    >>> home, ends = between_blanks("can't  go", np.array([0, 2, 5, 9], np.int32))
    >>> home.tolist(), ends.tolist()
    ([0, 0, 1, 2], [5, 9])
    """
    ends = np.array([found.end() for found in _BETWEEN_BLANKS.finditer(text)], np.intp)
    return np.searchsorted(ends, starts, "right"), ends


def is_split(text: str) -> bool:
    """Does a punctuation mark stand alone in a text?

    >>> is_split("It barks ."), is_split("It barks.")
    (True, False)
    """
    # Nearly always the last mark tells, and a look at the end costs a tenth of a search.
    return text.endswith(_LAST) or _ALONE.search(text) is not None


@cache
def _nltk() -> Callable[[str], list[str]]:
    # Half a second: NLTK imports SciPy.
    from nltk.tokenize.treebank import TreebankWordTokenizer

    tokenize: Callable[[str], list[str]] = TreebankWordTokenizer().tokenize
    return tokenize


@lru_cache(_PIECES)
def _inner(piece: str) -> tuple[str, ...]:
    return _apart(piece, ",;:?!") or tuple(_nltk()(f"x {piece} x")[1:-1])


@lru_cache(_PIECES)
def _first(piece: str) -> tuple[str, ...]:
    return _apart(piece, ",;:?!") or tuple(_nltk()(f"{piece} x")[:-1])


@lru_cache(_PIECES)
def _last(piece: str) -> tuple[str, ...]:
    return _apart(piece, ",;:?!.") or tuple(_nltk()(f"x {piece}")[1:])


def _apart(piece: str, marks: str) -> tuple[str, ...] | None:
    """The words of a piece of English letters, with one of `marks` after them or without; None if it needs NLTK."""
    letters = piece[:-1] if piece[-1] in marks else piece
    if not (letters.isascii() and letters.isalpha()) or letters.lower() in _DIVIDED:
        return None
    return (letters,) if letters is piece else (letters, piece[-1])


def _end(text: str, word: str, at: int) -> int:
    """The end of a word of a text that has its first character at `at` or after white space there."""
    while text[at].isspace():
        at += 1
    if text.startswith(word, at):
        return at + len(word)
    # NLTK's quotes stand for one character or for two others.
    if word in _QUOTES and text[at] == '"':
        return at + 1
    if word == "``" and text.startswith("''", at):
        return at + 2
    raise AssertionError(f"{word!r} does not stand at {at} of {text!r}")
