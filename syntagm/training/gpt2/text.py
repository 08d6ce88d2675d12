"""Encoded text for training a GPT-2: one stream of sentences, cloze lines, and single held-out sentences."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from syntagm.core import InputError
from syntagm.training.corpora import corpus
from syntagm.training.gpt2.rows import ClozeLine

# The start and the end of each sentence.
SYMBOL = "<|endoftext|>"


def stream(tokenizer: Tokenizer, texts: Iterable[str], symbol: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Encode all sentences as one stream."""
    parts, starts, length = [], [0], 0
    for sentences in corpus.portions(plain(texts), 4096):
        for encoding in tokenizer.encode_batch(sentences, add_special_tokens=False):
            parts.append(np.array([symbol, *encoding.ids], np.int32))
            length += len(parts[-1])
            starts.append(length)
    if not parts:
        raise InputError("the training text", "no sentences", "one sentence per line")
    return np.concatenate([*parts, np.array([symbol], np.int32)]), np.array(starts[:-1])


def plain(texts: Iterable[str]) -> Iterator[str]:
    """Yield texts unchanged; refuse those that contain the symbol, which would end a sentence in the middle."""
    for text in texts:
        if SYMBOL in text:
            cure = "Remove it: sentences end at line ends."
            raise InputError(f"sentence {text[:60]!r}", f"the symbol {SYMBOL}", "plain text", cure)
        yield text


def cloze(tokenizer: Tokenizer, texts: Iterable[str], symbol: int, window: int) -> list[ClozeLine]:
    """Encode cloze lines, each with the index of its last word."""
    lines = []
    for portion in corpus.portions(plain(texts), 4096):
        for text, encoding in zip(portion, tokenizer.encode_batch(portion, add_special_tokens=False), strict=True):
            begin = len(text.rstrip()) - len(text.split()[-1])
            before = sum(end <= begin for _, end in encoding.offsets)
            if len(encoding.ids) > window:
                raise InputError(
                    f"cloze line {text[:60]!r}", f"{len(encoding.ids):,} tokens", f"at most {window:,}, the window"
                )
            lines.append(ClozeLine(np.array([symbol, *encoding.ids], np.int32), before + 1))
    return lines


def held_out(
    tokenizer: Tokenizer, texts: Iterable[str], symbol: int, limit: int
) -> tuple[list[NDArray[np.int64]], int]:
    """Encode each held-out sentence between two symbols."""
    # A sentence longer than the model's positions is cut into pieces. Each piece begins with the last token of the
    # previous piece, so every token is predicted once.
    sentences: list[NDArray[np.int64]] = []
    words = 0
    for portion in corpus.portions(plain(texts), 4096):
        words += sum(len(text.split()) + 1 for text in portion)
        for encoding in tokenizer.encode_batch(portion, add_special_tokens=False):
            whole = np.array([symbol, *encoding.ids, symbol], np.int64)
            sentences += [whole[start : start + limit + 1] for start in range(0, len(whole) - 1, limit)]
    if not sentences:
        raise InputError("the held-out text", "no sentences", "one sentence per line")
    return sorted(sentences, key=len, reverse=True), words
