"""What the n-gram models share: from texts to words and back to characters, and blanks asked as texts."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from syntagm.errors import ModelError
from syntagm.models import _words
from syntagm.models._model import LanguageModel
from syntagm.models._ngrams import END, START
from syntagm.question import Blank, Fill, Surprisals

_TEXTS = 8_192
BITS = -np.log2(10.0)


@dataclass(frozen=True, slots=True)
class Asked:
    """How texts become words.

    Arguments:
        tokens: `blanks` or `treebank`, as in `_words.words`.
        eos: is the end symbol listed?
        lower: are words looked up in lower case?
    """

    tokens: str
    eos: bool
    lower: bool


class WordScorer(LanguageModel):
    """A model of words that stand after `<s>` and before `</s>`."""

    can: ClassVar[frozenset[str]] = frozenset({"score", "fill"})
    worth_caching: ClassVar[bool] = False

    def __init__(self, name: str, asked: Asked) -> None:
        self.name, self._asked = name, asked
        self.start, self.end = START, END if asked.eos else None
        self.policies = {
            "bos": "yes",
            "eos": "yes" if asked.eos else "no",
            "tokens": asked.tokens,
            "case": "lower" if asked.lower else "keep",
        }

    @abstractmethod
    def _logs(self, sentences: Sequence[Sequence[str]]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Log10 p of each word of all sentences, one after the other, each followed by the end symbol; is it known?"""

    @abstractmethod
    def _ranked(self, history: Sequence[str], word: str) -> tuple[float, float]:
        """The probability of all words likelier than `word` after a history, and of all less likely; nan if unknown."""

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        """The surprisals of each text; see `LanguageModel.score`."""
        for begin in range(0, len(texts), _TEXTS):
            portion = texts[begin : begin + _TEXTS]
            yield from self._portion(portion)
            if done:
                done(len(portion))

    def _portion(self, texts: Sequence[str]) -> Iterator[Surprisals]:
        divided = [_words.split(text, self._asked.tokens) for text in texts]
        logs, known = self._logs([self._spelled(words) for words in divided] if self._asked.lower else divided)
        if not np.isfinite(logs).all():
            self._refuse_impossible(texts, divided, logs)
        # 0.0: none of -0.
        bits, starts = logs * BITS + 0.0, _single(divided)
        end = 0
        for text, words in zip(texts, divided, strict=True):
            begin, end = end, end + len(words) + 1
            last = end if self._asked.eos else end - 1
            if " ".join(words) == text:
                found = starts[begin:last]
            else:
                found = _words.words(text, self._asked.tokens)[1]
                found = np.append(found, np.int32(len(text))) if self._asked.eos else found
            yield Surprisals(text, found, bits[begin:last], known[begin:last])

    def _spelled(self, words: list[str]) -> list[str]:
        return [word.lower() for word in words] if self._asked.lower else words

    def _refuse_impossible(
        self, texts: Sequence[str], divided: Sequence[Sequence[str]], logs: NDArray[np.float64]
    ) -> None:
        at = int(np.flatnonzero(~np.isfinite(logs))[0])
        for text, words in zip(texts, divided, strict=True):
            if at <= len(words):
                raise ModelError(
                    self.name, f"the word {[*words, END][at]!r} of {text!r} has probability 0",
                    "a model that gives every word some", "Is there an <unk> in the file?",
                )  # fmt: skip
            at -= len(words) + 1

    def _refuse_special(self, word: str) -> None:
        """Refuse a start or end symbol spelled out in a text."""
        if word in (START, END):
            raise ModelError(
                self.name, f"the special symbol {word!r} inside a text", "plain text",
                "Start and end symbols are set by the model and eos=, never by the text.",
            )  # fmt: skip

    def fill(self, blanks: Sequence[Blank], done: Callable[[int], None] | None = None) -> Iterator[Fill]:
        """The surprisal of each candidate of any number of words, given what stands before it.

        What stands after the blank matters only where it says how the text is divided into words. A blank (white space) is put
        before a candidate, and after it where a letter or digit follows, unless it is there. `above` is nan for candidates
        of more than one word, and for KenLM's binary files.
        """
        for blank in blanks:
            left = blank.left if not blank.left or blank.left[-1].isspace() else blank.left + " "
            right = " " + blank.right if blank.right[:1].isalnum() else blank.right
            texts = [left + word + right for word in blank.words]
            found = [
                self._candidate(answer, len(left), len(left) + len(word))
                for answer, word in zip(self.score(texts), blank.words, strict=True)
            ]
            bits, above, below = np.array([numbers for numbers, _ in found], np.float64).reshape(-1, 3).T
            yield Fill(bits, above, below, np.array([known for _, known in found], bool))
            if done:
                done(1)

    def _candidate(self, answer: Surprisals, begin: int, end: int) -> tuple[tuple[float, ...], bool]:
        """Bits, above and below; and whether all its words are known."""
        words = _words.split(answer.text, self._asked.tokens)
        starts = answer.starts[: len(words)]
        inside = np.flatnonzero((starts < end) & (np.append(starts[1:], len(answer.text)) > begin))
        first = int(inside[0]) if len(inside) else 0
        candidate = answer.text[begin:end]
        if not len(inside) or answer.text[starts[first] : begin].strip():
            raise ModelError(self.name, f"no whole word {candidate!r} in {answer.text!r}", "whole words in a blank")
        last = int(inside[-1]) + 1
        after = int(starts[last]) if last < len(words) else len(answer.text)
        if answer.text[end:after].strip():
            raise ModelError(self.name, f"no whole word {candidate!r} in {answer.text!r}", "whole words in a blank")
        spelled = self._spelled(words[:last])
        above, below = (np.nan, np.nan) if len(inside) > 1 else self._ranked(spelled[:first], spelled[first])
        return (float(answer.bits[inside].sum()), above, below), bool(answer.known[inside].all())


def _single(divided: Sequence[Sequence[str]]) -> NDArray[np.int32]:
    """Where words and end symbol start in sentences with single blanks between words: sentence by sentence, in one array."""
    sizes = np.array([len(words) for words in divided], np.int64)
    lengths = np.zeros(sizes.sum() + len(sizes), np.int64)
    words = np.arange(sizes.sum()) + np.repeat(np.arange(len(sizes)), sizes)
    lengths[words] = np.fromiter(map(len, chain.from_iterable(divided)), np.int64) + 1
    before = np.cumsum(lengths) - lengths
    first = np.cumsum(sizes + 1) - sizes - 1
    # The blank before a word belongs to the word.
    starts: NDArray[np.int32] = np.maximum(before - np.repeat(before[first], sizes + 1) - 1, 0).astype(np.int32)
    return starts
