"""Training of n-gram models with modified Kneser-Ney smoothing, as in KenLM's lmplz or SRILM's ngram-count.

The model folder contains model.json, model.safetensors, vocabulary.txt and training.json; `models/ngram/model.py` reads it.
An empty line is a sentence without words, as in lmplz.
"""

import gzip
import os
from array import array
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagm.core import InputError, Progress, extras, regular
from syntagm.models import (
    END,
    START,
    BackOff,
    Ngrams,
    Tokenisation,
    Vocabulary,
    between_blanks,
    folder as _ngram_folder,
    vocabulary as _vocabulary,
)
from syntagm.training.corpora import corpus as corpora
from syntagm.training.corpora.trees import SUFFIXES
from syntagm.training.ngram.family import NgramSettings
from syntagm.training.ngram.kneser_ney import estimate
from syntagm.training.record import finished, refuse_another, refuse_foreign
from syntagm.training.settings import Words
from syntagm.training.statistics import statistics, warning

# The numbers of the symbols in lmplz; those of words follow.
_UNKNOWN, _START, _END, _WORDS = 0, 1, 2, 3


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """A training text as word numbers."""

    places: NDArray[np.int32]  # the numbers of the words, shape (text,), int32: bos, words and eos of each sentence
    vocabulary: Vocabulary  # the vocabulary without bos; the number of bos is the size of the vocabulary
    appeared: NDArray[np.int32]  # the words' numbers in lmplz, by first appearance, shape (words,), int32
    sentences: int  # the number of sentences
    words: int  # the number of words, excluding symbols


def train(
    corpus: Sequence[str], valid: Sequence[str], folder: Path, settings: NgramSettings, progress: Progress | None = None
) -> list[dict[str, float]]:
    """Train a model and write its folder; do nothing if the same training has already finished there."""
    estimation, words, progress = settings.estimation, settings.words, progress or Progress()
    identity = {
        "family": "ngram",
        "settings": asdict(estimation) | asdict(words),
        "corpus": corpora.record(corpus),
        "valid": corpora.record(valid) if valid else [],
    }
    recorded, damage = finished(folder, "ngram"), []
    if recorded is None:
        refuse_foreign(folder)
    else:
        refuse_another(folder, recorded, identity)
        if not (damage := _ngram_folder.faults(folder)):
            _ngram_folder.clear(folder)
            return list(recorded.get("history", []))
    for fault in damage:
        progress.warned(f"{fault.place}: {fault.found}; the model is computed again")
    with _ngram_folder.training(folder):
        history = _train(corpus, valid, folder, settings, identity, progress)
    if damage:
        # A file that was added is still there.
        _ngram_folder.check(folder)
    return history


def _train(
    corpus: Sequence[str], valid: Sequence[str], folder: Path, settings: NgramSettings, identity: dict[str, Any],
    progress: Progress,
) -> list[dict[str, float]]:  # fmt: skip
    estimation, words = settings.estimation, settings.words
    text = read(corpus, words, estimation.as_lmplz)
    progress.began(f"{text.words:,} words in {text.sentences:,} sentences, {len(text.vocabulary):,} in the vocabulary")
    ngrams, counts_of_counts = estimate(text.places, [*text.vocabulary.words, START], text.appeared, estimation)
    counts = ", ".join(f"{number:,}" for number in counts_of_counts.ngrams)
    progress.began(f"n-grams of orders 1 to {estimation.order}: {counts}")
    vocabulary = Vocabulary(ngrams.words[:-1], text.vocabulary.threshold, words.classes)
    held_out_words = corpora.sentences(valid, words.tokens) if valid else ()
    texts = statistics(vocabulary, text.sentences, text.words, held_out_words)
    if unseen := warning("the held-out text", texts["unseen_classes"]):
        progress.warned(unseen)
    training: dict[str, object] = {
        **identity,
        "version": extras.version("syntagm"),
        **texts,
        "vocabulary": len(vocabulary),
        "statistics": asdict(counts_of_counts),
    }
    history = [held_out(ngrams, vocabulary, valid, words.tokens)] if valid else []
    for row in history:
        training["history"] = history
        without_unknown = f"{row['perplexity_known']:.2f} without unknown words"
        progress.began(f"held-out perplexity {row['perplexity']:.2f}, {without_unknown}")
    _ngram_folder.write(folder, ngrams, vocabulary, words.tokens, training)
    return history


def read(corpus: Sequence[str], settings: Words, lmplz_compatible: bool) -> Text:
    numbers: defaultdict[str, int] = defaultdict(count(_WORDS).__next__)
    number, stream, sentences = numbers.__getitem__, array("i"), 0
    for words in corpora.sentences(corpus, settings.tokens, blank=True):
        stream.append(_START)
        stream.extend(map(number, words))
        stream.append(_END)
        sentences += 1
    if lmplz_compatible and not str(corpus[-1]).startswith(corpora.BLLIP) and _unterminated(corpora.files(corpus)[-1]):
        stream.pop()
    for symbol in (START, END):
        if symbol in numbers:
            raise InputError(
                _place(corpus, settings.tokens, symbol), f"the symbol {symbol} as a word", "plain text",
                "Remove it: sentences begin and end at line ends.",
            )  # fmt: skip
    text = np.array(stream, np.int32)
    counts = np.bincount(text, minlength=len(numbers) + _WORDS)[_WORDS:].tolist()
    counted = Counter(dict(zip(numbers, counts, strict=True)))
    place, limit = ", ".join(map(str, corpus)), settings.vocabulary
    vocabulary = _vocabulary.of_counts(counted, settings.threshold, settings.classes, place, limit)
    table = np.array([1, len(vocabulary), 0, *vocabulary.ids(list(numbers))], np.int32)
    appeared = np.full(len(vocabulary) + 1, len(table), np.int32)
    np.minimum.at(appeared, table, np.arange(len(table), dtype=np.int32))
    return Text(table[text], vocabulary, appeared, sentences, sum(counts))


def _place(corpus: Sequence[str], tokens: str, symbol: str) -> str:
    """Return the file and the sentence number (counting empty lines) where a symbol first occurs as a word."""
    kind = corpora.kind(corpus, tokens)
    return next(
        f"{path}, sentence {number}"
        for path in corpus
        for number, words in enumerate(corpora.sentences([path], kind, blank=True), 1)
        if symbol in words
    )


def _unterminated(path: Path) -> bool:
    """Return whether the last line of a text file lacks a line end."""
    if path.name.removesuffix(".gz").endswith(SUFFIXES):
        return False
    with regular.opened(path) as stored:
        # Recognize gzip by its first bytes, not by the file name, as the line reader does.
        packed = stored.read(2) == b"\x1f\x8b"
        stored.seek(0)
        file = gzip.GzipFile(fileobj=stored) if packed else stored
        file.seek(0, os.SEEK_END)
        end = file.tell()
        file.seek(max(0, end - 1))
        return file.read(1) not in (b"\n", b"")


def held_out(ngrams: Ngrams, vocabulary: Vocabulary, files: Sequence[str], tokens: str) -> dict[str, float]:
    """Compute the perplexity of a text, with and without unknown words, like `syntagm perplexity`."""
    # Words are separated by white space. A word is unknown if any of its parts is unknown. A sentence end counts as a
    # word.
    model = BackOff(ngrams, vocabulary, "held-out text", "", Tokenisation(corpora.kind(files, tokens), True, False))
    words = unknown = 0
    bits = bits_unknown = 0.0
    for answer in model.score(list(corpora.texts(files))):
        word_of, borders = between_blanks(answer.text, answer.starts)
        unknown_words = np.unique(word_of[~answer.in_vocabulary])
        words += len(borders) + 1
        unknown += len(unknown_words)
        bits += float(answer.bits.sum())
        bits_unknown += float(answer.bits[np.isin(word_of, unknown_words)].sum())
    bits_of_known = (bits - bits_unknown) / max(1, words - unknown)
    return {
        "words": words,
        "unknown": unknown,
        "bits_per_word": bits / words,
        "perplexity": 2 ** (bits / words),
        "perplexity_known": 2**bits_of_known,
    }
