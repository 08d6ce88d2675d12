"""Tokenisation into words with positions: at white space, or by the rules of the Penn Treebank, of Moses or TreeTagger.

Treebank words are exactly those of NLTK's TreebankWordTokenizer. NLTK applies twenty regular expressions to each line.
Their effect on a piece between two spaces depends only on the piece and on whether it is the first or last of its line.
So each distinct piece is tokenised once.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from syntagm.core import UsageError
from syntagm.models.words import moses, treetagger

_SPLITTERS = {"moses": moses.split, "treetagger": treetagger.split, "wikitext": moses.split_wikitext}
_LOWER = "-lower"
KINDS = (
    "auto", "blanks", "treebank", *_SPLITTERS, *(f"{kind}{_LOWER}" for kind in ("blanks", "treebank", "moses")),
)  # fmt: skip
_PIECES = 2**17
# Words made of letters only that NLTK splits.
_CONTRACTIONS = frozenset(["cannot", "gimme", "gonna", "gotta", "lemme", "wanna"])
_QUOTES = ("``", "''")
# WikiText's marks inside words and numbers.
_INSIDE = ("@-@", "@,@", "@.@")
_BETWEEN_SPACES = re.compile(r"\S+")
_LAST = (" .", " ?", " !", " ''")
_ALONE = re.compile(r"(?:^|\s)(?:[.,;:?!()]|``|''|--)(?=\s|$)")


def words(text: str, tokens: str = "blanks") -> tuple[list[str], NDArray[np.int32]]:
    """Split a text into words, and find where each starts. White space belongs to the word after it.

    Arguments:
        text: one line.
        tokens: `blanks`: split at white space; `treebank`: as NLTK's TreebankWordTokenizer, with `` and '' for quotes;
            `auto`: as `blanks` if the text is already tokenised (it contains a separate punctuation mark), else as
            `treebank`; `moses`, `treetagger`, `wikitext`: see the modules `moses` and `treetagger`; with `-lower`: in
            lower case.

    Returns:
        The words, and the index of the first character of each: shape (words,), int32, beginning with 0.

    Raises:
        UsageError: `tokens` has any other value.

    >>> split_words, starts = words('He  said "yes".', "treebank")
    >>> split_words, starts.tolist()
    (['He', 'said', '``', 'yes', "''", '.'], [0, 2, 8, 10, 13, 14])
    """
    split_words = split(text, tokens)
    return split_words, placed(text, split_words)


def unsplit(tokens: str) -> str:
    """Return how texts whose words are known are split, instead of as `tokens`: at white space, in lower case if that is.

    >>> unsplit("treebank"), unsplit("moses-lower")
    ('blanks', 'blanks-lower')
    """
    return "blanks-lower" if tokens.endswith(_LOWER) else "blanks"


def placed(text: str, split_words: Sequence[str]) -> NDArray[np.int32]:
    """Return the start of each word in a text, given the words that `split` returns; see `words`."""
    starts = np.zeros(len(split_words), np.int32)
    end = 0
    for index, word in enumerate(split_words):
        starts[index] = end if index else 0
        end = _end(text, word, end)
    return starts


def split(text: str, tokens: str = "blanks") -> list[str]:
    """Split a text into words; the arguments and errors are the same as for `words`.

    >>> split("They can't, she cannot.", "treebank")
    ['They', 'ca', "n't", ',', 'she', 'can', 'not', '.']
    """
    if tokens == "blanks" or (tokens == "auto" and is_split(text)):
        return text.split()
    if tokens not in KINDS:
        raise UsageError("tokens", repr(tokens), "one of " + ", ".join(KINDS))
    if tokens.endswith(_LOWER):
        return [word.lower() for word in split(text, tokens.removesuffix(_LOWER))]
    if tokens in _SPLITTERS:
        return _SPLITTERS[tokens](text)
    pieces = text.split()
    if " ".join(pieces) != text or len(pieces) < 2:
        # NLTK's rules treat white space other than single spaces in special ways.
        return _nltk()(text)
    split_words = [*_first(pieces[0])]
    for piece in pieces[1:-1]:
        split_words += _inner(piece)
    split_words += _last(pieces[-1])
    return split_words


def between_blanks(text: str, starts: NDArray[np.int32]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the word that each token belongs to, and the end of each word; words are delimited by white space.

    White space belongs to the word after it. A token that starts after the last word gets the index after the last.

    >>> word_indices, ends = between_blanks("can't  go", np.array([0, 2, 5, 9], np.int32))
    >>> word_indices.tolist(), ends.tolist()
    ([0, 0, 1, 2], [5, 9])
    """
    ends = np.array([match.end() for match in _BETWEEN_SPACES.finditer(text)], np.intp)
    return np.searchsorted(ends, starts, "right"), ends


def leaf(word: str) -> str:
    """Return a word as written in a bracketed tree, where brackets would be read as those of the tree.

    >>> leaf("("), leaf("a)")
    ('-LRB-', 'a-RRB-')
    """
    return word.replace("(", "-LRB-").replace(")", "-RRB-")


def is_split(text: str) -> bool:
    """Return whether a text is already tokenised, that is, contains a separate punctuation mark.

    >>> is_split("It barks ."), is_split("It barks.")
    (True, False)
    """
    # The last mark nearly always decides, and looking at the end is ten times as fast as a search.
    return text.endswith(_LAST) or _ALONE.search(text) is not None


@cache
def _nltk() -> Callable[[str], list[str]]:
    # This import takes half a second: NLTK imports SciPy.
    from nltk.tokenize.treebank import TreebankWordTokenizer

    tokenize: Callable[[str], list[str]] = TreebankWordTokenizer().tokenize
    return tokenize


@lru_cache(_PIECES)
def _inner(piece: str) -> tuple[str, ...]:
    return _split_simple(piece, ",;:?!") or tuple(_nltk()(f"x {piece} x")[1:-1])


@lru_cache(_PIECES)
def _first(piece: str) -> tuple[str, ...]:
    return _split_simple(piece, ",;:?!") or tuple(_nltk()(f"{piece} x")[:-1])


@lru_cache(_PIECES)
def _last(piece: str) -> tuple[str, ...]:
    return _split_simple(piece, ",;:?!.") or tuple(_nltk()(f"x {piece}")[1:])


def _split_simple(piece: str, marks: str) -> tuple[str, ...] | None:
    """Split a piece of English letters, optionally followed by one of `marks`; return None if the piece needs NLTK."""
    letters = piece[:-1] if piece[-1] in marks else piece
    if not (letters.isascii() and letters.isalpha()) or letters.lower() in _CONTRACTIONS:
        return None
    return (letters,) if letters is piece else (letters, piece[-1])


def _end(text: str, word: str, at: int) -> int:
    """Return the end of a word in a text. The word starts at `at`, or after white space there."""
    while text[at].isspace():
        at += 1
    if text.startswith(word, at):
        return at + len(word)
    # NLTK replaces `"` and two single quotes by its own quotation marks.
    if word in _QUOTES and text[at] == '"':
        return at + 1
    if word == "``" and text.startswith("''", at):
        return at + 2
    if word in _INSIDE and text[at] == word[1]:
        return at + 1
    # The word is in lower case, which may be longer.
    end = at + 1
    while end < len(text) and len(text[at:end].lower()) < len(word):
        end += 1
    if text[at:end].lower() == word:
        return end
    raise AssertionError(f"{word!r} is not at {at} of {text!r}")
