"""What the n-gram models share: from texts to words and back to characters, and blanks."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from syntagm.answers import Fill, Gap, Surprisals
from syntagm.errors import ModelError
from syntagm.models.batching import in_batches, once
from syntagm.models.ngram.family import FAMILY
from syntagm.models.ngram.ngrams import END, START
from syntagm.models.words.gaps import divide, single
from syntagm.models.words.words import placed, split

_TEXTS = 8_192
BITS = -np.log2(10.0)


@dataclass(frozen=True, slots=True)
class Asked:
    """How texts become words.

    Arguments:
        tokens: `blanks` or `treebank`, as in `words.words`.
        eos: is the end symbol listed?
        lower: are words looked up in lower case?
    """

    tokens: str
    eos: bool
    lower: bool


class Source(Protocol):
    """Where the probabilities of words come from, in sentences between `<s>` and `</s>`."""

    def logs(self, words: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Log10 p of each word given those before it in its sentence, nan at start symbols; is it known?

        Arguments:
            words: of all sentences, one after the other, each between the start symbol and the end symbol.
        """

    def after(self, before: Sequence[str], words: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """What may come next after the beginning of a sentence, for each of `words`.

        Returns:
            Log10 p and, as in `Fill`, above and below: shape (3, words). And which are known.
        """

    @property
    def memory(self) -> int:
        """How many words before it make a difference to the next, at least 1. The start symbol counts, too."""


class WordScorer:
    """Answers questions about texts and gaps from a source of probabilities of words."""

    def __init__(self, source: Source, name: str, asked: Asked) -> None:
        self._source, self._name, self._asked = source, name, asked

    @property
    def end(self) -> str | None:
        """The end symbol, if it is listed."""
        return END if self._asked.eos else None

    def scoring_settings(self, unknown: str) -> dict[str, str]:
        """Return the scoring settings.

        Arguments:
            unknown: how unknown words are classed.
        """
        eos, case = "yes" if self._asked.eos else "no", "lower" if self._asked.lower else "keep"
        return FAMILY.scoring_settings({}, eos=eos, tokens=self._asked.tokens, case=case, unknown=unknown)

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        """The surprisals of each text; see `LanguageModel.score`."""
        for begin in range(0, len(texts), _TEXTS):
            portion = texts[begin : begin + _TEXTS]
            yield from self._portion(portion)
            if done:
                done(len(portion))

    def _portion(self, texts: Sequence[str]) -> Iterator[Surprisals]:
        self._refuse_special_in(texts)
        words = self._divided(texts)
        logs, known = self._source.logs(self._spelled(words))
        borders = np.flatnonzero(np.isnan(logs))
        if np.isinf(logs).any():
            self._refuse_impossible(texts, words, logs, borders)
        # 0.0: none of -0.
        bits, starts = logs * BITS + 0.0, _single(words, borders)
        ends = np.append(borders[1:], len(words)) - 1
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        # Where words are divided at white space alone, the length says whether single blanks stand between them.
        single, sure = starts[ends] == lengths, self._asked.tokens == "blanks"
        for text, begin, end, one in zip(texts, (borders + 1).tolist(), ends.tolist(), single.tolist(), strict=True):
            last = end + 1 if self._asked.eos else end
            if one and (sure or " ".join(words[begin:end]) == text):
                found = starts[begin:last]
            else:
                found = self._placed(text, words[begin:end])
            yield Surprisals(text, found, bits[begin:last], known[begin:last])

    def _placed(self, text: str, words: Sequence[str]) -> NDArray[np.int32]:
        """Where the words of a text start, and the end symbol, if it is listed."""
        starts = placed(text, words)
        return np.append(starts, np.int32(len(text))) if self._asked.eos else starts

    def _divided(self, texts: Sequence[str]) -> list[str]:
        """The words of all texts, those of each between the start symbol and the end symbol."""
        if self._asked.tokens == "blanks":
            # One string is divided faster than its parts.
            return f"{START} {f' {END} {START} '.join(texts)} {END}".split()
        return [word for text in texts for word in (START, *split(text, self._asked.tokens), END)]

    def _spelled(self, words: Sequence[str]) -> Sequence[str]:
        return [word.lower() for word in words] if self._asked.lower else words

    def _refuse_impossible(
        self, texts: Sequence[str], words: Sequence[str], logs: NDArray[np.float64], borders: NDArray[np.int64]
    ) -> None:
        at = int(np.flatnonzero(np.isinf(logs))[0])
        text = texts[int(np.searchsorted(borders, at)) - 1]
        raise ModelError(
            self._name, f"the word {words[at]!r} of {text!r} has probability 0",
            "a model that gives every word some", "Is there an <unk> in the file, and no back-off weight of -inf?",
        )  # fmt: skip

    def _refuse_special_in(self, texts: Sequence[str]) -> None:
        for text in texts:
            if "<" in text:
                self._refuse_special(split(text, self._asked.tokens))

    def _refuse_special(self, words: Sequence[str]) -> None:
        """Refuse start and end symbols spelled out in a text."""
        for word in self._spelled(words):
            if word in (START, END):
                raise ModelError(
                    self._name, f"the special symbol {word!r} inside a text", "plain text",
                    "Start and end symbols are set by the model and eos=, never by the text.",
                )  # fmt: skip

    def fill(self, blanks: Sequence[Gap], done: Callable[[int], None] | None = None) -> Iterator[Fill]:
        """The surprisal of each candidate of any number of words, given what stands before it; see `LanguageModel.fill`.

        `above` is nan for candidates of more than one word, and for KenLM's binary files. A word that has probability 0, for want
        of an unknown word in the file, has infinitely many bits.
        """
        divided = [divide(blank, self._asked.tokens, self._name) for blank in blanks]
        lists = {id(one.candidates): one.candidates for one in divided}
        keys = [(tuple(self._spelled(one.before[-self._source.memory :])), id(one.candidates)) for one in divided]
        return once(keys, in_batches(1, lambda some: [self._filled(key[0], lists[key[1]]) for key in some]), done)

    def single(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Which of the candidates are one word; see `LanguageModel.single`."""
        return single(words, self._asked.tokens, self._name)

    def _filled(self, before: Sequence[str], candidates: Sequence[Sequence[str]]) -> Fill:
        bits, above, below = np.full((3, len(candidates)), np.nan)
        known = np.zeros(len(candidates), bool)
        spelled = [self._spelled(words) for words in candidates]
        self._refuse_special([*before, *chain.from_iterable(spelled)])
        one = [index for index, words in enumerate(spelled) if len(words) == 1]
        (logs, above[one], below[one]), known[one] = self._source.after(before, [spelled[index][0] for index in one])
        bits[one] = logs * BITS + 0.0
        several = [index for index, words in enumerate(spelled) if len(words) > 1]
        for index, (cost, all_known) in zip(several, self._several(before, [spelled[i] for i in several]), strict=True):
            bits[index], known[index] = cost, all_known
        return Fill(bits, above, below, known)

    def _several(self, before: Sequence[str], candidates: Sequence[Sequence[str]]) -> Iterator[tuple[float, bool]]:
        """Bits of candidates of several words, and whether all their words are known."""
        if not candidates:
            return
        logs, known = self._source.logs([word for words in candidates for word in (START, *before, *words, END)])
        end = -1
        for words in candidates:
            begin = end + 2 + len(before)
            end = begin + len(words)
            yield float((logs[begin:end] * BITS + 0.0).sum()), bool(known[begin:end].all())


def _single(words: Sequence[str], borders: NDArray[np.int64]) -> NDArray[np.int32]:
    """Where words and end symbols start in their sentences, if single blanks stand between words.

    Arguments:
        words: of all sentences, each between its start symbol, one of `borders`, and its end symbol.
    """
    lengths = np.fromiter(map(len, words), np.int64, len(words)) + 1
    after = np.cumsum(lengths)
    # The blank before a word belongs to the word.
    before = after - lengths - 1
    sizes = np.diff(borders, append=len(words))
    starts: NDArray[np.int32] = np.maximum(before - np.repeat(after[borders], sizes), 0).astype(np.int32)
    return starts
