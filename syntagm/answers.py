"""What a language model can be asked, and what it answers. Always in bits: surprisal is -log2 p."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Gap:
    """A gap in a sentence: which of `words` stands between `left` and `right`?

    The sentence is `left + word + right`, to the character: white space around the gap belongs to `left` and `right`.
    """

    left: str
    right: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Surprisals:
    """The surprisal of each token of a text.

    The tokens partition the text: token i is `text[starts[i]:starts[i + 1]]`, so white space belongs to the token after
    it (at the end of the text, to the last). Tokens that share a character, as byte-level tokens do, share a start. An
    end symbol, where it is scored, is the last token and starts at `len(text)`. A start symbol is never listed.

    Arguments:
        text: the text that was asked about.
        starts: shape (tokens,), int32: first character of each token, never decreasing.
        bits: shape (tokens,), float64: surprisal in bits. nan: not defined.
        in_vocabulary: shape (tokens,), bool: False where the model saw an unknown word instead.
    """

    text: str
    starts: NDArray[np.int32]
    bits: NDArray[np.float64]
    in_vocabulary: NDArray[np.bool_]

    def __post_init__(self) -> None:
        shape = self.starts.shape
        if len(shape) != 1 or self.bits.shape != shape or self.in_vocabulary.shape != shape:
            raise ValueError(
                f"shapes differ: starts {self.starts.shape}, bits {self.bits.shape}, known {self.in_vocabulary.shape}"
            )


@dataclass(frozen=True, slots=True, eq=False)
class Fill:
    """The surprisal of each candidate word in a blank.

    A left-to-right model answers from what stands before the blank only. `above` and `below` rank single tokens among all
    entries of the vocabulary by their own probability, before any correction for where words end; what is left of 1 is
    the candidate and its equals.

    Arguments:
        bits: shape (words,), float64: surprisal of each candidate in bits; nan where the model can't be asked for it.
        above: shape (words,), float64: total probability of all entries likelier than the candidate; nan for a candidate
            of several tokens, or where the model can't say.
        below: shape (words,), float64: total probability of all entries less likely; nan likewise.
        in_vocabulary: shape (words,), bool: False where the model saw an unknown word instead.
    """

    bits: NDArray[np.float64]
    above: NDArray[np.float64]
    below: NDArray[np.float64]
    in_vocabulary: NDArray[np.bool_]

    def __post_init__(self) -> None:
        if not self.bits.shape == self.above.shape == self.below.shape == self.in_vocabulary.shape == (len(self.bits),):
            shapes = [array.shape for array in (self.bits, self.above, self.below, self.in_vocabulary)]
            raise ValueError(f"shapes differ: {shapes}")


Answers: TypeAlias = Mapping[str, Surprisals]
