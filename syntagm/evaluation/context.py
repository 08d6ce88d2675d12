"""Surprisals under a maximum of context: so many tokens, or so many sentences, before each word.

A text is scored in pieces, each of which is the context and what is asked: a word, or a line of a document. A piece for a word
begins where a token of the whole text begins, so that its tokens are those of the text; a piece for a line begins with a
line. Nothing before the piece is seen but the start symbol.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import UsageError
from syntagm.evaluation.texts import By, Count, Spans, Text, columns, counted, portions, rows, token_spans, word_spans
from syntagm.models import Asking, LanguageModel


@dataclass(frozen=True, slots=True)
class Limit:
    """The maximum of context. One of both is given."""

    tokens: int | None = None  # the largest number of tokens before the first token of a word
    sentences: int | None = None  # the largest number of lines before a line of a document

    def __post_init__(self) -> None:
        if (self.tokens is None) == (self.sentences is None):
            raise UsageError("context", "a maximum of tokens and of sentences, or of neither", "one of the two")
        if min(self.tokens or 0, self.sentences or 0) < 0:
            raise UsageError(
                "context", str(self.tokens if self.tokens is not None else self.sentences), "a number from 0"
            )


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a text: from where context begins, the part whose rows are kept."""

    begin: int
    low: int
    high: int


def limited_tables(
    model: LanguageModel,
    texts: Iterable[Text],
    limit: Limit,
    by: By = "token",
    done: Callable[[int], None] | None = None,
) -> Iterator[tuple[pl.DataFrame, Count]]:
    """Score texts under a maximum of context; see `texts.text_tables` for the tables."""
    if model.eos is not None:
        raise UsageError("a maximum of context", f"the model {model.name} with eos=yes", "eos=no")
    asking = Asking(model)
    number = 0
    for portion in portions(texts):
        parts, total = [], Count()
        for text in portion:
            pieces = (
                _of_lines(text, limit.sentences)
                if limit.sentences is not None
                else _of_words(asking, text, limit.tokens or 0)
            )
            answers = asking.read([text.text[piece.begin : piece.high] for piece in pieces], None)
            found = []
            for piece, answer in zip(pieces, answers, strict=True):
                spans = token_spans(answer) if by == "token" else word_spans(model, answer)
                # The row that begins with white space before what is kept belongs to it.
                kept = spans.ends + piece.begin > piece.low
                found.append(_moved(spans, kept, piece.begin))
                total += counted(model, answer, found[-1])
            parts.append(rows(number, text, _joined(found), by))
            number += 1
            if done:
                done(len(text.text))
        asking.confirm()
        # `counted` takes each piece for a text.
        total = replace(total, texts=len(portion))
        yield pl.concat([pl.DataFrame(part, schema=columns(by)) for part in parts]), total


def _of_lines(text: Text, count: int) -> list[_Piece]:
    """Return a piece for each line of a document, with so many lines before it."""
    ends = [len(text.text[:end].rstrip()) for end in (*text.starts[1:], len(text.text))]
    return [
        _Piece(text.starts[max(0, at - count)], start, end)
        for at, (start, end) in enumerate(zip(text.starts, ends, strict=True))
    ]


def _of_words(asking: Asking, text: Text, count: int) -> list[_Piece]:
    """Return a piece for each word, with so many tokens before its first one."""
    [answer] = asking.read([text.text], None)
    starts = answer.surprisals.starts.astype(np.int64)
    spans = word_spans(asking.model, answer)
    pieces = []
    before = 0
    for end in spans.ends.tolist():
        first = int(np.searchsorted(starts, before, "left"))
        begin = int(starts[max(0, min(first, len(starts) - 1) - count)])
        pieces.append(_Piece(min(begin, before), before, end))
        before = end
    return pieces


def _moved(spans: Spans, kept: NDArray[np.bool_], by: int) -> Spans:
    """Return some rows of a piece, at their places in the whole text."""
    starts, ends, bits, known, context, crossing = _columns(spans)
    own = (bits[kept], known[kept], context[kept], crossing[kept])
    return Spans(starts[kept] + by, ends[kept] + by, *own, spans.attached)


def _joined(parts: Sequence[Spans]) -> Spans:
    columns = [np.concatenate(column) for column in zip(*map(_columns, parts), strict=True)]
    starts, ends, bits, known, context, crossing = columns
    return Spans(starts, ends, bits, known, context, crossing, sum(part.attached for part in parts))


def _columns(spans: Spans) -> tuple[Any, ...]:
    return spans.starts, spans.ends, spans.bits, spans.known, spans.context, spans.crossing
