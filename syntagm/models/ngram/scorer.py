"""Scoring of texts and filling of gaps, shared by all n-gram models."""

import hashlib
import json
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from syntagm.core import ModelError
from syntagm.models.answers import Entry, Fill, Gap, Reductions, Surprisals
from syntagm.models.contract import LanguageModel
from syntagm.models.ngram.family import FAMILY
from syntagm.models.ngram.ngrams import END, START
from syntagm.models.windows import in_batches, once
from syntagm.models.words.splitting import divide, placed, single, split

_TEXTS = 8_192
BITS = -np.log2(10.0)
# From words, as for `WordModel.logs`, to their entropies in bits and their ranks; shape (2, words).
Reduce: TypeAlias = Callable[[Sequence[str]], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Tokenisation:
    """The options for splitting texts into words."""

    tokens: str  # `blanks`, `treebank` or `auto`, as in `words.words`
    eos: bool  # whether the end symbol is listed
    lower: bool  # whether words are looked up in lower case


class WordModel(LanguageModel):
    """An n-gram model, from the probabilities of words in sentences that begin with `<s>` and end with `</s>`."""

    can = frozenset(FAMILY.can)
    worth_caching: ClassVar[bool] = False
    bos = START

    def __init__(self, order: int, name: str, tokenisation: Tokenisation) -> None:
        self._tokenisation, self.name = tokenisation, name
        self.eos = END if tokenisation.eos else None
        # The number of previous words that the next word depends on. In `memory`, the start symbol always counts.
        self.reach, self.memory = order - 1, max(1, order - 1)

    def _identify(self, scorer: str, digest: str, unknown: str) -> None:
        """Set settings and fingerprint; `unknown` tells the classes of unknown words."""
        eos, case = "yes" if self._tokenisation.eos else "no", "lower" if self._tokenisation.lower else "keep"
        self.settings = FAMILY.scoring_settings(
            {}, eos=eos, tokens=self._tokenisation.tokens, case=case, unknown=unknown
        )
        self.fingerprint = hashlib.sha256(json.dumps([scorer, digest, self.settings]).encode()).hexdigest()

    @abstractmethod
    def logs(self, words: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Compute log10 p of each word (nan at start symbols), and whether it is in the vocabulary; each of shape (words,)."""
        # words: those of all sentences in order, each sentence between the start symbol and the end symbol.

    @abstractmethod
    def after(self, before: Sequence[str], words: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Compute log10 p of possible words after the beginning of a sentence, and whether each is in the vocabulary."""
        # The first array has the shape (3, words): log10 p, and above and below as in `Fill`.

    @abstractmethod
    def best(self, before: Sequence[str], count: int) -> list[tuple[str, bool, float]]:
        """Return the likeliest next words after the beginning of a sentence: word, whether it is no symbol, and log10 p."""

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        """Compute the surprisals of each text; see `LanguageModel.score`."""
        return self._scored(texts, done)

    def _scored(
        self, texts: Sequence[str], done: Callable[[int], None] | None, reductions: Reduce | None = None
    ) -> Iterator[Surprisals]:
        for begin in range(0, len(texts), _TEXTS):
            batch = texts[begin : begin + _TEXTS]
            yield from self._batch(batch, reductions)
            if done:
                done(len(batch))

    def _batch(self, texts: Sequence[str], reductions: Reduce | None) -> Iterator[Surprisals]:
        self._refuse_special_in(texts)
        words = self._divided(texts)
        logs, in_vocabulary = self.logs(self._spelled(words))
        reduced = reductions(self._spelled(words)) if reductions else None
        borders = np.flatnonzero(np.isnan(logs))
        if np.isinf(logs).any():
            self._refuse_impossible(texts, words, logs, borders)
        # Adding 0.0 turns -0.0 into 0.0.
        bits, starts = logs * BITS + 0.0, _starts_if_single_spaces(words, borders)
        ends = np.append(borders[1:], len(words)) - 1
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        # If words are split at white space only, the length shows whether they are separated by single spaces.
        all_single_spaces, sure = starts[ends] == lengths, self._tokenisation.tokens == "blanks"
        for text, begin, end, single_spaces in zip(
            texts, (borders + 1).tolist(), ends.tolist(), all_single_spaces.tolist(), strict=True
        ):
            last = end + 1 if self._tokenisation.eos else end
            if single_spaces and (sure or " ".join(words[begin:end]) == text):
                text_starts = starts[begin:last]
            else:
                text_starts = self._placed(text, words[begin:end])
            kept = None if reduced is None else Reductions(*reduced[:, begin:last])
            yield Surprisals(text, text_starts, bits[begin:last], in_vocabulary[begin:last], kept)

    def _placed(self, text: str, words: Sequence[str]) -> NDArray[np.int32]:
        """Return the starts of the words of a text, and of the end symbol if it is listed."""
        starts = placed(text, words)
        return np.append(starts, np.int32(len(text))) if self._tokenisation.eos else starts

    def _divided(self, texts: Sequence[str]) -> list[str]:
        """Return the words of all texts, each text between the start symbol and the end symbol."""
        if self._tokenisation.tokens == "blanks":
            # Splitting one string is faster than splitting its parts.
            return f"{START} {f' {END} {START} '.join(texts)} {END}".split()
        return [word for text in texts for word in (START, *split(text, self._tokenisation.tokens), END)]

    def _spelled(self, words: Sequence[str]) -> Sequence[str]:
        return [word.lower() for word in words] if self._tokenisation.lower else words

    def _refuse_impossible(
        self, texts: Sequence[str], words: Sequence[str], logs: NDArray[np.float64], borders: NDArray[np.int64]
    ) -> None:
        at = int(np.flatnonzero(np.isinf(logs))[0])
        text = texts[int(np.searchsorted(borders, at)) - 1]
        raise ModelError(
            self.name, f"the word {words[at]!r} of {text!r} has probability 0",
            "a probability above 0", "Check that the file has an <unk> and no back-off weight of -inf.",
        )  # fmt: skip

    def _refuse_special_in(self, texts: Sequence[str]) -> None:
        for text in texts:
            if "<" in text:
                self._refuse_special(split(text, self._tokenisation.tokens))

    def _refuse_special(self, words: Sequence[str]) -> None:
        """Refuse a text that contains start or end symbols."""
        for word in self._spelled(words):
            if word in (START, END):
                raise ModelError(
                    self.name, f"the special symbol {word!r} inside a text", "plain text",
                    "Start and end symbols are set by the model and eos=, never by the text.",
                )  # fmt: skip

    def fill(self, gaps: Sequence[Gap], done: Callable[[int], None] | None = None) -> Iterator[Fill]:
        """Compute the surprisal of each candidate of one or more words, given the text before it; see `LanguageModel.fill`."""
        # `above` and `below` are nan for multi-word candidates, and for KenLM's binary files. If the file has no
        # unknown word, the surprisal of unknown words is infinite.
        divided = [divide(gap, self._tokenisation.tokens, self.name) for gap in gaps]
        lists = {id(gap.candidates): gap.candidates for gap in divided}
        keys = [
            (tuple(self._spelled(gap.before[-self.memory :])), id(gap.candidates), asked.best)
            for gap, asked in zip(divided, gaps, strict=True)
        ]
        return once(
            keys, in_batches(1, lambda batch: [self._filled(key[0], lists[key[1]], key[2]) for key in batch]), done
        )

    def single(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Return whether each candidate is one word; see `LanguageModel.single`."""
        return single(words, self._tokenisation.tokens, self.name)

    def _filled(self, before: Sequence[str], candidates: Sequence[Sequence[str]], best: int) -> Fill:
        listed = self.best(before, best) if best else []
        entries = tuple(Entry(word, is_word, float(log * BITS + 0.0)) for word, is_word, log in listed)
        bits, above, below = np.full((3, len(candidates)), np.nan)
        in_vocabulary = np.zeros(len(candidates), bool)
        spelled = [self._spelled(words) for words in candidates]
        self._refuse_special([*before, *chain.from_iterable(spelled)])
        single = [index for index, words in enumerate(spelled) if len(words) == 1]
        (logs, above[single], below[single]), in_vocabulary[single] = self.after(
            before, [spelled[index][0] for index in single]
        )
        bits[single] = logs * BITS + 0.0
        several = [index for index, words in enumerate(spelled) if len(words) > 1]
        for index, (cost, all_known) in zip(several, self._several(before, [spelled[i] for i in several]), strict=True):
            bits[index], in_vocabulary[index] = cost, all_known
        return Fill(bits, above, below, in_vocabulary, entries)

    def _several(self, before: Sequence[str], candidates: Sequence[Sequence[str]]) -> Iterator[tuple[float, bool]]:
        """Yield the bits of each multi-word candidate, and whether all its words are in the vocabulary."""
        if not candidates:
            return
        logs, in_vocabulary = self.logs([word for words in candidates for word in (START, *before, *words, END)])
        end = -1
        for words in candidates:
            begin = end + 2 + len(before)
            end = begin + len(words)
            yield float((logs[begin:end] * BITS + 0.0).sum()), bool(in_vocabulary[begin:end].all())


def _starts_if_single_spaces(words: Sequence[str], borders: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the starts of words and end symbols in their sentences, if words are separated by single spaces."""
    lengths = np.fromiter(map(len, words), np.int64, len(words)) + 1
    after = np.cumsum(lengths)
    # The space before a word belongs to the word.
    before = after - lengths - 1
    sizes = np.diff(borders, append=len(words))
    starts: NDArray[np.int32] = np.maximum(before - np.repeat(after[borders], sizes), 0).astype(np.int32)
    return starts
