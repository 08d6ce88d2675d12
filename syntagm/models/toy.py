"""A model computed by pencil: add-one bigrams over the words of a small text.

    p(word | previous) = (count(previous, word) + 1) / (count(previous) + V)

V counts the distinct words, the unknown word and the end symbol; count(previous) is the number of pairs that begin with
`previous`. Words are lower-case; punctuation marks are words. `toy` alone uses the twelve sentences below, `toy:FILE` any
text with one sentence a line. Options: `eos=yes` lists the end symbol.

>>> model = load("")
>>> [answer] = model.score(["The dog barks"])
>>> answer.bits.round(3).tolist()  # V = 24: -log2 of (8 + 1)/(12 + 24), (4 + 1)/(15 + 24), (2 + 1)/(5 + 24)
[2.0, 2.963, 3.273]
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from syntagm.errors import ModelError
from syntagm.models._model import LanguageModel
from syntagm.models._name import canonical, choose, refuse_others
from syntagm.question import Surprisals

SENTENCES = """\
the dog barks
the dogs bark
the dog barks at the cat
the dogs bark at the cats
the cat sleeps
the cats sleep
the dog near the cats barks
the dogs near the cat bark
no dog ever barks
she thinks that the cat sleeps
they think that the cats sleep
i know what the dog saw
"""
START, END, UNKNOWN = "<s>", "</s>", "<unk>"
_WORD = re.compile(r"\s*(\w+|[^\w\s])")


class Toy(LanguageModel):
    """Add-one bigrams; see the module."""

    worth_caching = False

    def __init__(self, text: str, name: str, eos: bool) -> None:
        sentences = [[START, *_words(line), END] for line in text.splitlines() if line.strip()]
        pairs = Counter(pair for words in sentences for pair in pairwise(words))
        first = Counter(word for words in sentences for word in words[:-1])
        self.vocabulary = sorted({word for words in sentences for word in words[1:]} | {END, UNKNOWN})
        self._known = frozenset(self.vocabulary)
        self._bits: dict[tuple[str, str], float] = {}
        self._pairs, self._first = pairs, first
        self.name, self.start, self.end = name, START, END if eos else None
        self.fingerprint = hashlib.sha256(f"toy 1|{eos}|{text}".encode()).hexdigest()
        self.policies = {"bos": "yes", "eos": "yes" if eos else "no"}
        self.record = {"vocabulary": len(self.vocabulary)}

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        """Bits of each word given the one before it."""
        for text in texts:
            yield self._score(text)
            if done:
                done(1)

    def _score(self, text: str) -> Surprisals:
        starts, bits, known, previous, at = [], [], [], START, 0
        while found := _WORD.match(text, at):
            word = found[1].lower()
            known.append(word in self._known)
            word = word if known[-1] else UNKNOWN
            starts.append(at)
            bits.append(self._surprisal(previous, word))
            previous, at = word, found.end()
        if self.end:
            starts.append(len(text))
            bits.append(self._surprisal(previous, END))
            known.append(True)
        return Surprisals(text, np.array(starts, np.int32), np.array(bits), np.array(known, bool))

    def _surprisal(self, previous: str, word: str) -> float:
        if (previous, word) not in self._bits:
            probability = (self._pairs[previous, word] + 1) / (self._first[previous] + len(self.vocabulary))
            self._bits[previous, word] = -float(np.log2(probability))
        return self._bits[previous, word]


def load(path: str, **options: str) -> Toy:
    """The toy model of `path` (one sentence a line), or of the twelve sentences if it is empty.

    Raises:
        ModelError: the file can't be read.
        UsageError: an unknown option.
    """
    refuse_others("toy", options, ["eos"])
    eos = choose(options, "eos", ["yes", "no"], "no") == "yes"
    try:
        text = Path(path).read_text(encoding="utf-8") if path else SENTENCES
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"toy:{path}", f"can't be read ({error})", "a UTF-8 text, one sentence a line") from error
    label = f"{Path(path).name}@{hashlib.sha256(text.encode()).hexdigest()[:8]}" if path else ""
    name = canonical("toy", label, options) if label else canonical("toy", "12-sentences", options)
    return Toy(text, name, eos)


def _words(line: str) -> list[str]:
    return [found[1].lower() for found in _WORD.finditer(line)]
