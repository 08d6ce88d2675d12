"""Text as a GPT-2 in training sees it: one stream of sentences, cloze lines, held-out sentences one by one."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from syntagm.errors import InputError
from syntagm.training.corpora import corpus
from syntagm.training.gpt2.rows import Line

# Start and end of each sentence.
SYMBOL = "<|endoftext|>"


def stream(tokenizer: Tokenizer, texts: Iterable[str], symbol: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """All sentences as one stream, and where each begins, at the symbol before it."""
    parts, starts, length = [], [0], 0
    for sentences in corpus.portions(plain(texts), 4096):
        for encoding in tokenizer.encode_batch(sentences, add_special_tokens=False):
            parts.append(np.array([symbol, *encoding.ids], np.int32))
            length += len(parts[-1])
            starts.append(length)
    if not parts:
        raise InputError("the training text", "not one sentence", "a sentence a line")
    return np.concatenate([*parts, np.array([symbol], np.int32)]), np.array(starts[:-1])


def plain(texts: Iterable[str]) -> Iterator[str]:
    """Texts without the symbol, which would be taken for the end of a sentence in the midst of one."""
    for text in texts:
        if SYMBOL in text:
            cure = "Remove it: line ends say where sentences end."
            raise InputError(f"sentence {text[:60]!r}", f"the symbol {SYMBOL} in it", "plain text", cure)
        yield text


def cloze(tokenizer: Tokenizer, texts: Iterable[str], symbol: int, window: int) -> list[Line]:
    """Each line with the place of its last word."""
    lines = []
    for some in corpus.portions(plain(texts), 4096):
        for text, encoding in zip(some, tokenizer.encode_batch(some, add_special_tokens=False), strict=True):
            begin = len(text.rstrip()) - len(text.split()[-1])
            before = sum(end <= begin for _, end in encoding.offsets)
            if len(encoding.ids) > window:
                raise InputError(
                    f"cloze line {text[:60]!r}", f"{len(encoding.ids):,} tokens", f"at most {window:,}, the window"
                )
            lines.append(Line(np.array([symbol, *encoding.ids], np.int32), before + 1))
    return lines


def held_out(
    tokenizer: Tokenizer, texts: Iterable[str], symbol: int, limit: int
) -> tuple[list[NDArray[np.int64]], int]:
    """Each sentence between two symbols, the longest first; and the number of words, ends of sentences among them.

    A sentence longer than the model's positions is cut; each piece begins with the last token of the one before, so that
    every token is predicted once.
    """
    sentences: list[NDArray[np.int64]] = []
    words = 0
    for many in corpus.portions(plain(texts), 4096):
        words += sum(len(text.split()) + 1 for text in many)
        for encoding in tokenizer.encode_batch(many, add_special_tokens=False):
            whole = np.array([symbol, *encoding.ids, symbol], np.int64)
            sentences += [whole[start : start + limit + 1] for start in range(0, len(whole) - 1, limit)]
    if not sentences:
        raise InputError("the held-out text", "not one sentence", "a sentence a line")
    return sorted(sentences, key=len, reverse=True), words
