"""What the n-gram models share: from texts to words and back to characters, and blanks."""

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
from syntagm.models._once import in_portions, once
from syntagm.models._word_blanks import divide, single
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
    def _after(self, before: Sequence[str], words: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """What may come next after the beginning of a sentence, for each of `words`.

        Returns:
            Log10 p and, as in `Fill`, above and below: shape (3, words). And which are known.
        """

    @property
    @abstractmethod
    def _memory(self) -> int:
        """How many words before it make a difference to the next, at least 1. The start symbol counts, too."""

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
        """The surprisal of each candidate of any number of words, given what stands before it; see `LanguageModel.fill`.

        `above` is nan for candidates of more than one word, and for KenLM's binary files. A word that has probability 0, for want
        of an unknown word in the file, has infinitely many bits.
        """
        divided = [divide(blank, self._asked.tokens, self.name) for blank in blanks]
        lists = {id(one.candidates): one.candidates for one in divided}
        keys = [(tuple(self._spelled(list(one.before[-self._memory :]))), id(one.candidates)) for one in divided]
        return once(keys, in_portions(1, lambda some: [self._filled(key[0], lists[key[1]]) for key in some]), done)

    def single(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Which of the candidates are one word; see `LanguageModel.single`."""
        return single(words, self._asked.tokens, self.name)

    def _filled(self, before: Sequence[str], candidates: Sequence[Sequence[str]]) -> Fill:
        bits, above, below = np.full((3, len(candidates)), np.nan)
        known = np.zeros(len(candidates), bool)
        spelled = [self._spelled(list(words)) for words in candidates]
        one = [index for index, words in enumerate(spelled) if len(words) == 1]
        (logs, above[one], below[one]), known[one] = self._after(before, [spelled[index][0] for index in one])
        bits[one] = logs * BITS + 0.0
        several = [index for index, words in enumerate(spelled) if len(words) > 1]
        for index, (cost, all_known) in zip(several, self._several(before, [spelled[i] for i in several]), strict=True):
            bits[index], known[index] = cost, all_known
        return Fill(bits, above, below, known)

    def _several(self, before: Sequence[str], candidates: Sequence[Sequence[str]]) -> Iterator[tuple[float, bool]]:
        """Bits of candidates of several words, and whether all their words are known."""
        logs, known = self._logs([[*before, *words] for words in candidates]) if candidates else (np.empty(0), None)
        end = 0
        for words in candidates:
            begin, end = end + len(before), end + len(before) + len(words) + 1
            assert known is not None
            yield float((logs[begin : end - 1] * BITS + 0.0).sum()), bool(known[begin : end - 1].all())


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
