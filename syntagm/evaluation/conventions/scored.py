"""Unigram models, and scored sentences: their tokens and words, and what tells a sentence from its partner."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from syntagm.core import UsageError
from syntagm.models import Asking, Surprisals, load, splitting
from syntagm.training import corpus

# Probabilities from counts have add-one smoothing: p(word) = (count + 1) / (N + V + 1), with N words, of which V are
# distinct; the end of each sentence counts as a word. The 1 in the divisor is for unseen words: the probabilities of
# the seen words and of one unseen word sum to 1, and every unseen word gets this probability.

NGRAM = "ngram:"
Case = Literal["keep", "lower"]


@dataclass(frozen=True, slots=True)
class Unigrams:
    """The unigram surprisal of words, in bits."""

    known: Mapping[str, float]  # word -> bits
    unseen: float  # bits of any other word; nan if there can't be one
    end: float  # bits of the end of a sentence
    about: str  # the source of the numbers
    lower: bool = False  # whether words are looked up in lower case
    counts: Mapping[str, int] | None = None  # word -> count; None if unknown

    def bits(self, words: Sequence[str]) -> NDArray[np.float64]:
        """Return the surprisal of each word. Shape (words,)."""
        keys = (word.lower() if self.lower else word for word in words)
        return np.array([self.known.get(key, self.unseen) for key in keys], np.float64)


def counted_unigrams(sentences: Iterable[Sequence[str]], about: str, lower: bool = False) -> Unigrams:
    """Count the words of a text and build a unigram model with add-one smoothing.

    Arguments:
        sentences: the words of each sentence; each sentence end is counted, too.
        about: the source of the text.
        lower: whether to count words in lower case.

    >>> model = counted_unigrams([["the", "dog"], ["the", "cat"]], "two sentences")
    >>> # 6 words with ends, 3 different and the end: 6 + 4 + 1 = 11; (2 + 1) / 11, (1 + 1) / 11, 1 / 11, (2 + 1) / 11
    >>> (2 ** -model.bits(["the", "dog", "bird"]) * 11).round(9).tolist(), round(2**-model.end * 11, 9)
    ([3.0, 2.0, 1.0], 3.0)
    """
    counts: Counter[str] = Counter()
    ends = 0
    for words in sentences:
        counts.update(word.lower() for word in words) if lower else counts.update(words)
        ends += 1
    total = math.log2(counts.total() + ends + len(counts) + 1 + 1)
    known = {word: total - math.log2(count + 1) for word, count in counts.items()}
    return Unigrams(known, total, total - math.log2(ends + 1), about, lower, counts)


def load_unigrams(
    source: str, texts: Iterable[str], tokens: Literal["blanks", "treebank"] = "blanks", case: Case = "keep"
) -> Unigrams:
    """Read or compute the unigram model that an option names."""
    if source.startswith(NGRAM):
        return _of_model(source, _vocabulary(texts, tokens, case), case)
    if not source:
        raise UsageError("unigrams=", "nothing", "unigrams=FILE, a text, or unigrams=ngram:..., a model of order 1")
    return counted_unigrams(
        corpus.sentences([source], tokens), f"{Path(source).name}, {tokens}, case {case}", case == "lower"
    )


def _vocabulary(texts: Iterable[str], tokens: Literal["blanks", "treebank"], case: Case) -> list[str]:
    vocabulary: dict[str, None] = {}
    for text in texts:
        words: Iterable[str] = splitting.split(text, tokens)
        vocabulary |= dict.fromkeys(word.lower() if case == "lower" else word for word in words)
    return sorted(vocabulary)


def _of_model(source: str, words: list[str], case: Case) -> Unigrams:
    model = load(f"{source}{'&' if '?' in source else '?'}eos=yes&tokens=blanks")
    if model.record.get("order") != 1:
        raise UsageError("unigrams=", f"{source}, of order {model.record.get('order')}", "a model of order 1")
    asking = Asking(model)
    answers = list(asking.score(words))
    asking.confirm()
    known = {word: float(answer.bits[:-1].sum()) for word, answer in zip(words, answers, strict=True)}
    end = float(answers[0].bits[-1]) if answers else np.nan
    return Unigrams(known, np.nan, end, model.name, case == "lower")


Numbers = NDArray[np.float64]
Tokens = Literal["blanks", "treebank"]
# From the text and its tokens to whether each of them counts; shape (tokens,).
Kept = Callable[[str, Surprisals], NDArray[np.bool_]]
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """A sentence with its surprisals."""

    text: str  # the sentence
    bits: Numbers  # shape (tokens,): surprisals of the tokens that count
    begins: NDArray[np.int64]  # shape (tokens,): the first visible character of each of them, in code points
    # Shape (words,): surprisals of the words, which are sums over tokens. A scored end-of-text symbol counts as a word.
    words: Numbers
    unigram: Numbers | None  # shape (words,): their surprisals under a unigram model; None without one
    # Where the words lie in which the sentence differs from its partner: the first character, and the one after the
    # last; equal if the partner has more words and nothing else differs.
    differing: tuple[int, int] = (0, 0)
    differs: bool = True  # whether there is any difference


def scored(
    text: str,
    answer: Surprisals,
    first_scored: bool,
    kept: Kept | None = None,
    unigrams: Unigrams | None = None,
    tokens: Tokens = "blanks",
) -> Scored:
    counts = np.ones(len(answer.starts), bool) if kept is None else kept(text, answer)
    unscored = not first_scored and len(answer.bits) > 0 and bool(np.isnan(answer.bits[0]))
    word_bits, unigram_bits = _words_of(text, answer, unigrams, tokens, unscored, counts)
    if unscored:
        counts = counts & (np.arange(len(counts)) > 0)
    begins = np.array([_visible(text, int(start)) for start in answer.starts], np.int64)
    return Scored(text, answer.bits[counts], begins[counts], word_bits, unigram_bits)


def _visible(text: str, start: int) -> int:
    while start < len(text) and text[start].isspace():
        start += 1
    return start


def _words_of(
    text: str, answer: Surprisals, unigrams: Unigrams | None, tokens: Tokens, unscored: bool, counts: NDArray[np.bool_]
) -> tuple[Numbers, Numbers | None]:
    """Return the bits of each word that has a token that counts, under the model and under the unigram model."""
    words, starts = splitting.words(text, tokens)
    unigram_bits = unigrams.bits(words) if unigrams else None
    word_of_token = np.searchsorted(starts, answer.starts, "right") - 1
    size = len(words)
    if len(answer.starts) and answer.starts[-1] >= len(text):
        word_of_token[answer.starts >= len(text)] = size
        size += 1
        unigram_bits = None if unigram_bits is None or not unigrams else np.append(unigram_bits, unigrams.end)
    bits = np.bincount(word_of_token[counts], answer.bits[counts], size).astype(np.float64)
    whole = np.bincount(word_of_token[counts], minlength=size) > 0
    if counts.all():
        whole = np.ones(size, bool)
    if unscored and size:
        whole[0] = False
    return bits[whole], None if unigram_bits is None else unigram_bits[whole]


def differing(first: str, second: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return where two sentences differ: for each, the first character of its own words, and the one after the last.

    >>> differing("The dogs near us bark .", "The dogs near us barks .")
    ((17, 21), (17, 22))
    >>> differing("They all left .", "They left .")
    ((5, 8), (5, 5))
    """
    one, other = [*_WORD.finditer(first)], [*_WORD.finditer(second)]
    least = min(len(one), len(other))
    head = next((place for place in range(least) if one[place][0] != other[place][0]), least)
    tail = next((place for place in range(least - head) if one[-1 - place][0] != other[-1 - place][0]), least - head)
    return _span(first, one, head, tail), _span(second, other, head, tail)


def _span(text: str, words: list[re.Match[str]], head: int, tail: int) -> tuple[int, int]:
    begin = words[head].start() if head < len(words) else len(text)
    last = len(words) - tail - 1
    return begin, words[last].end() if last >= head else begin
