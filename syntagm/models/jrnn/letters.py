"""Words as the letters that the character network reads.

A letter is a byte of UTF-8. A word stands between two symbols, and is filled up to 50 letters; a longer one is cut. The
symbols are bytes that no word of the vocabulary contains.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syntagm.models.words.vocabulary import Vocabulary

# The number of letters of a word, with its beginning and its end.
LENGTH = 50
# The bits of the hash that distinguishes unknown words. A number and one of eight million texts fit into 63 bits.
_BITS = 40


class Symbols(NamedTuple):
    """The letters that are no characters: beginning and end of a text, beginning and end of a word, and filling."""

    text_begin: int
    text_end: int
    word_begin: int
    word_end: int
    filling: int


def symbols(words: Iterable[bytes]) -> Symbols | None:
    """Return the symbols of a vocabulary: the first bytes that occur in none of its words; None if too few are left.

    >>> symbols([b"the", b"\\x01"])
    Symbols(text_begin=0, text_end=2, word_begin=3, word_end=4, filling=5)
    """
    used = set(b"".join(words))
    free = [byte for byte in range(256) if byte not in used]
    return Symbols(*free[: len(Symbols._fields)]) if len(free) >= len(Symbols._fields) else None


@dataclass(frozen=True, slots=True)
class Letters:
    """A mapping from numbers of words to their letters, for words inside and outside the vocabulary."""

    # A word of the vocabulary has its number there. The number of any other word is above these and comes from a hash
    # of the word, so that neither it nor the order in which texts are computed depends on the texts before.

    vocabulary: Vocabulary  # Word 0 is read as the beginning of a text, because the end is never read
    symbols: Symbols
    _unknown: dict[int, str] = field(default_factory=dict, init=False)

    def number(self, word: str) -> int:
        """Return the number of an unknown word.

        >>> letters = Letters(Vocabulary(("</s>", "<unk>", "the")), Symbols(0, 1, 2, 3, 4))
        >>> bytes(letters.read(np.array([0, 2, letters.number("dogs")]))[2, :6].tolist())
        b'\\x02dogs\\x03'
        """
        digest = hashlib.blake2b(_bytes(word), digest_size=8).digest()
        number = len(self.vocabulary) + (int.from_bytes(digest, "big") >> (64 - _BITS))
        while self._unknown.setdefault(number, word) != word:
            number += 1
        return number

    def read(self, numbers: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return the letters of words, shape (words, LENGTH)."""
        rows = np.full((len(numbers), LENGTH), self.symbols.filling, np.uint8)
        for row, number in zip(rows, numbers.tolist(), strict=True):
            word = self._word(number)[: LENGTH - 2]
            row[: len(word) + 2] = [self.symbols.word_begin, *word, self.symbols.word_end]
        return rows

    def _word(self, number: int) -> bytes:
        if number == 0:
            return bytes([self.symbols.text_begin])
        words = self.vocabulary.words
        return _bytes(words[number] if number < len(words) else self._unknown[number])


def _bytes(word: str) -> bytes:
    return word.encode("utf-8", "surrogateescape")
