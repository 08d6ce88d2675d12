"""Types for queries to language models and for their answers. Surprisals are in bits: -log2 p."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from syntagm.core import UsageError, public


@dataclass(frozen=True, slots=True)
@public
class Gap:
    """A gap in a sentence, with the candidate words that could fill it.

    Each candidate gives the sentence `left + word + right`. Nothing is inserted between the three, so white space around
    the gap belongs to `left` and `right`.

    Arguments:
        left: text before the gap.
        right: text after the gap.
        words: candidate words.
        best: the number of most probable vocabulary entries to list; see `Fill`.

    Raises:
        UsageError: `best` is negative, or there are no candidates around which to tokenise the text.
    """

    left: str
    right: str
    words: tuple[str, ...]
    best: int = 0

    def __post_init__(self) -> None:
        if self.best < 0:
            raise UsageError("Gap, best", str(self.best), "0 or more")
        if self.best and not self.words:
            raise UsageError(
                "Gap, words", "no candidates, and the most probable entries are to be listed", "at least one"
            )


@dataclass(frozen=True, slots=True)
class Entry:
    """A single entry of a model's vocabulary in a gap."""

    text: str
    # Whether the entry begins a word, number or punctuation mark in the gap; False if it continues the text before the
    # gap, and for special symbols. An entry that begins a word may be its first part only.
    begins: bool
    bits: float  # surprisal of the entry in bits, before any correction for word ends


@dataclass(frozen=True, slots=True, eq=False)
@public
class Reductions:
    """What is kept of the distributions over the next token, from which each token of a text is taken."""

    # Shape (tokens,), float64: entropy in bits of the distribution before the token, over the whole vocabulary; nan
    # where the token's surprisal is undefined.
    entropy: NDArray[np.float64]
    # Shape (tokens,), float64: 1 plus the number of vocabulary entries that are likelier than the token; nan likewise.
    rank: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.entropy.ndim != 1 or self.rank.shape != self.entropy.shape:
            shapes = f"the shapes entropy {self.entropy.shape}, rank {self.rank.shape}"
            raise UsageError("Reductions", shapes, "one number for each token in both of them")


def entropy_reduction(entropy: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute by how much each token reduces the entropy over the next token, in bits (after Hale 2006).

    Arguments:
        entropy: shape (tokens,): the entropy before each token of a text, as in `Reductions`.

    Returns:
        Shape (tokens,): max(0, entropy before the token - entropy after it), that is before the next one; nan for the last
        token, after which there is none, and where either is nan.

    >>> entropy_reduction(np.array([3.0, 1.0, 2.0])).tolist()
    [2.0, 0.0, nan]
    """
    after = np.append(entropy[1:], np.nan)[: len(entropy)]
    # np.maximum keeps nan.
    reduced: NDArray[np.float64] = np.maximum(entropy - after, 0.0)
    return reduced


@dataclass(frozen=True, slots=True, eq=False)
@public
class Surprisals:
    """The surprisal of each token of a text.

    The tokens partition the text: token i is `text[starts[i]:starts[i + 1]]`. White space belongs to the token after it;
    at the end of the text it belongs to the last token. Byte-level tokens that share a character have the same start.
    If the end-of-text symbol is scored, it is the last token and starts at `len(text)`. The start-of-text symbol is
    never listed.

    Arguments:
        text: the scored text.
        starts: shape (tokens,), int32: index of each token's first character, never decreasing.
        bits: shape (tokens,), float64: surprisal in bits; nan if undefined.
        in_vocabulary: shape (tokens,), bool: False for words that the model replaced by its unknown-word symbol.
        reductions: entropy and rank for each token, in the answers of `LanguageModel.reduce`; else None.
    """

    text: str
    starts: NDArray[np.int32]
    bits: NDArray[np.float64]
    in_vocabulary: NDArray[np.bool_]
    reductions: Reductions | None = None

    def __post_init__(self) -> None:
        shape = self.starts.shape
        if self.reductions is not None and self.reductions.rank.shape != shape:
            raise UsageError(
                "Surprisals", f"reductions of the shape {self.reductions.rank.shape}", f"the shape {shape}"
            )
        if len(shape) != 1 or self.bits.shape != shape or self.in_vocabulary.shape != shape:
            shapes = f"starts {self.starts.shape}, bits {self.bits.shape}, in_vocabulary {self.in_vocabulary.shape}"
            raise UsageError("Surprisals", f"the shapes {shapes}", "one number for each token in all of them")


@dataclass(frozen=True, slots=True, eq=False)
class InContext:
    """The surprisals of a text of any length, with the size of the context in which each token was scored."""

    surprisals: Surprisals  # the surprisal of each token
    # Shape (tokens,), int32: the number of other tokens of the text that the model saw. Special symbols and masked
    # tokens don't count.
    context: NDArray[np.int32]
    # The number of overlapping windows in which the text was scored; 1 if the model saw the whole text at once.
    windows: int = 1


@dataclass(frozen=True, slots=True, eq=False)
@public
class Fill:
    """The surprisal of each candidate word in a gap.

    A left-to-right model uses only the text before the gap. `above` and `below` rank a single-token candidate among all
    vocabulary entries by its token probability, before any correction for word ends. The remaining probability mass,
    1 - above - below, is that of the candidate and of entries with the same probability.

    Arguments:
        bits: shape (words,), float64: surprisal of each candidate in bits; nan if the model can't score it.
        above: shape (words,), float64: total probability of all entries likelier than the candidate; nan for a candidate
            of several tokens, and for models that don't compute it.
        below: shape (words,), float64: total probability of all entries less likely than the candidate; nan likewise.
        in_vocabulary: shape (words,), bool: False for words that the model replaced by its unknown-word symbol.
        best: the `Gap.best` most probable entries of the vocabulary, the most probable first; entries with the same
            probability are in the order of the vocabulary. There are fewer if the vocabulary has fewer with a
            probability above 0, and none where the model can score no candidate of one token, as beyond its positions.
    """

    bits: NDArray[np.float64]
    above: NDArray[np.float64]
    below: NDArray[np.float64]
    in_vocabulary: NDArray[np.bool_]
    best: tuple[Entry, ...] = ()

    def __post_init__(self) -> None:
        if not self.bits.shape == self.above.shape == self.below.shape == self.in_vocabulary.shape == (len(self.bits),):
            shapes = ", ".join(str(array.shape) for array in (self.bits, self.above, self.below, self.in_vocabulary))
            raise UsageError("Fill", f"arrays of the shapes {shapes}", "one number for each word in all of them")


Answers: TypeAlias = Mapping[str, Surprisals]
_Answer = TypeVar("_Answer", bound=Surprisals | InContext | Fill | Reductions)


def frozen(answer: _Answer, by: object) -> _Answer:
    """Return an answer that can't be changed: its arrays are read-only, since several measures and tables share them."""
    # `by` is the model or the cache that gave the answer. If its class is one of another package, the arrays are copied,
    # because it may use them again.
    copied = type(by).__module__.partition(".")[0] != __name__.partition(".")[0]
    values = {field.name: getattr(answer, field.name) for field in fields(answer)}
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            values[name] = value.copy() if copied else value
            values[name].flags.writeable = False
        elif isinstance(value, Surprisals | Reductions):
            values[name] = frozen(value, by)
    return replace(answer, **values) if copied else answer
