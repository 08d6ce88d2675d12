"""Surprisals of texts as tables, with a row per token or per word.

A text or a file has one text per line, or is a single document.

>>> from syntagm.models.names import load
>>> score_text(load("toy"), "The dog barks\\nThe cat sleeps", by="word").select("text", "start", "word", "bits", "context")
shape: (6, 5)
┌──────┬───────┬────────┬──────────┬─────────┐
│ text ┆ start ┆ word   ┆ bits     ┆ context │
│ ---  ┆ ---   ┆ ---    ┆ ---      ┆ ---     │
│ i64  ┆ i64   ┆ str    ┆ f64      ┆ i64     │
╞══════╪═══════╪════════╪══════════╪═════════╡
│ 0    ┆ 0     ┆ The    ┆ 2.0      ┆ 0       │
│ 0    ┆ 4     ┆ dog    ┆ 2.963474 ┆ 1       │
│ 0    ┆ 8     ┆ barks  ┆ 3.273018 ┆ 1       │
│ 1    ┆ 0     ┆ The    ┆ 2.0      ┆ 0       │
│ 1    ┆ 4     ┆ cat    ┆ 2.963474 ┆ 1       │
│ 1    ┆ 8     ┆ sleeps ┆ 3.222392 ┆ 1       │
└──────┴───────┴────────┴──────────┴─────────┘
"""

import os
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from syntagm.core import InputError, Progress, UsageError, lines, public, utf8
from syntagm.evaluation.alignment import Alignment, Batch, align_all
from syntagm.models import Asking, InContext, LanguageModel, OwnModel, as_language_model

# `syntagm score` prints texts without a table.
if TYPE_CHECKING:
    import polars as pl

# Words are separated by white space, and white space belongs to the word after it, as for tokens. The bits of a word
# are the sum over its tokens. Punctuation marks before and after a word belong to it, or have separate rows.

Punctuation = Literal["attached", "apart"]
Ints = NDArray[np.int64]

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """The rows of a text: tokens or words, with the bits of each."""

    starts: Ints  # `starts`, `ends`: shape (rows,): the start and end of each row, in characters
    ends: Ints
    bits: NDArray[np.float64]  # `bits`, `known`, `context`: shape (rows,): as in the table
    known: NDArray[np.bool_]
    context: Ints
    crossing: NDArray[np.object_]  # shape (rows,): a token that belongs to this row and another one; "" for none
    attached: int = 0  # the number of words whose punctuation stays attached
    # Shape (rows,): the entropy of the distribution before the first token of each row; None if it wasn't asked.
    entropy: NDArray[np.float64] | None = None


def token_spans(answer: InContext) -> Spans:
    """Return a row for each token. A token that shares a character with the next one is empty."""
    surprisals = answer.surprisals
    starts = surprisals.starts.astype(np.int64)
    ends = np.append(starts[1:], len(surprisals.text))[: len(starts)]
    none = np.full(len(starts), "", object)
    entropy = surprisals.reductions.entropy if surprisals.reductions else None
    context = answer.context.astype(np.int64)
    return Spans(starts, ends, surprisals.bits, surprisals.in_vocabulary, context, none, entropy=entropy)


def word_spans(model: LanguageModel, answer: InContext, punctuation: Punctuation = "attached") -> Spans:
    """Return a row for each word, and one for the end-of-text symbol if its surprisal is listed."""
    # A word is in vocabulary if all its tokens are. If a token belongs to several words, they have no bits.
    surprisals = answer.surprisals
    text, starts = surprisals.text, surprisals.starts.astype(np.int64)
    borders = [match.span() for match in _WORD.finditer(text)]
    attached = 0
    alignment = _aligned(answer, borders)
    if punctuation == "apart":
        pieces = [_pieces(text, *border) for border in borders]
        crossed = _crossed(answer, _aligned(answer, [piece for parts in pieces for piece in parts]))
        # For each character, the number of characters before it that belong to a token that crosses a border.
        before = np.zeros(len(text) + 1, np.int64)
        for begin, end in crossed:
            before[begin + 1 : end + 1] = 1
        before = before.cumsum()
        kept = [
            parts if before[begin] == before[end] else [(begin, end)]
            for (begin, end), parts in zip(borders, pieces, strict=True)
        ]
        attached = sum(len(parts) > len(whole) for parts, whole in zip(pieces, kept, strict=True))
        borders = [piece for parts in kept for piece in parts]
        alignment = _aligned(answer, borders)
    low, high = np.array(borders, np.int64).reshape(-1, 2).T
    inside = alignment.home >= 0
    home = alignment.home[inside]
    bits = np.bincount(home, surprisals.bits[inside], len(low)).astype(np.float64)
    known = np.bincount(home, ~surprisals.in_vocabulary[inside], len(low)) == 0
    # A word without a token of its own is part of the token that covers its beginning.
    first = np.searchsorted(starts, low, "right") - 1
    np.minimum.at(first, home, np.flatnonzero(inside))
    crossing = np.full(len(low), "", object)
    for begin, end in _crossed(answer, alignment):
        crossing[np.searchsorted(high, begin, "right") : np.searchsorted(low, end)] = text[begin:end]
    bits[crossing != ""] = np.nan
    entropy = surprisals.reductions.entropy[first] if surprisals.reductions else None
    if entropy is not None:
        entropy[crossing != ""] = np.nan
    spans = Spans(low, high, bits, known, answer.context[first].astype(np.int64), crossing, attached, entropy)
    return spans if model.eos is None else _with_end(spans, answer)


def _with_end(spans: Spans, answer: InContext) -> Spans:
    """Add a row for the end-of-text symbol, which is the last token."""
    end, surprisals = len(answer.surprisals.text), answer.surprisals
    entropy = surprisals.reductions.entropy[-1:] if surprisals.reductions else np.zeros(0)
    return Spans(
        np.append(spans.starts, end),
        np.append(spans.ends, end),
        np.append(spans.bits, surprisals.bits[-1]),
        np.append(spans.known, surprisals.in_vocabulary[-1]),
        np.append(spans.context, answer.context[-1]),
        np.append(spans.crossing, ""),
        spans.attached,
        None if spans.entropy is None else np.append(spans.entropy, entropy),
    )


def _aligned(answer: InContext, borders: Sequence[tuple[int, int]]) -> Alignment:
    text, starts = answer.surprisals.text, answer.surprisals.starts.astype(np.int64)
    low, high = np.array(borders, np.int64).reshape(-1, 2).T
    return align_all(Batch([text], np.array([len(low)]), low, high, np.array([len(starts)]), starts))


def _crossed(answer: InContext, alignment: Alignment) -> list[tuple[int, int]]:
    """Return the visible characters of each token that crosses the border of a word."""
    text, starts = answer.surprisals.text, answer.surprisals.starts
    found = []
    for start in np.unique(starts[alignment.crossing]).tolist():
        following = int(np.searchsorted(starts, start, "right"))
        end = int(starts[following]) if following < len(starts) else len(text)
        piece = text[start:end]
        found.append((start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())))
    return found


def _pieces(text: str, begin: int, end: int) -> list[tuple[int, int]]:
    """Return the spans of the punctuation before a word, of the word, and of the punctuation after it.

    >>> _pieces('("Ah!")', 0, 7), _pieces("well-known", 0, 10), _pieces("...", 0, 3)
    ([(0, 2), (2, 4), (4, 7)], [(0, 10)], [(0, 3)])
    """
    low, high = begin, end
    while low < end and _is_mark(text[low]):
        low += 1
    if low == end:
        return [(begin, end)]
    while _is_mark(text[high - 1]):
        high -= 1
    return [(left, right) for left, right in ((begin, low), (low, high), (high, end)) if left < right]


@cache
def _is_mark(character: str) -> bool:
    """Return whether a character is a punctuation mark, that is, in one of Unicode's categories P."""
    return unicodedata.category(character).startswith("P")


By = Literal["token", "word"]
Context = Literal["lines", "document"]
LineEnds = Literal["space", "keep"]

# Texts and characters that are scored at a time. A longer text is a portion of its own.
PORTION, CHARACTERS = 2048, 1 << 20
_FILE_NAME = re.compile(r"\S+\.(?:txt|csv|tsv|jsonl?|md|gz)")
_SURROUNDING = " \t"


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    starts: tuple[int, ...] = (0,)  # the position in `text` of the first character of each of its lines
    lines: tuple[int, ...] = (1,)  # the numbers of these lines in their file, from 1


@dataclass(frozen=True, slots=True)
class Count:
    """Counts of scored texts and tokens, and of rows without a surprisal.

    Arguments:
        texts, tokens, rows: the numbers of texts, of their tokens, and of rows in the table.
        long: the number of texts that were scored in windows.
        windows: the number of windows of these texts.
        unscored: the number of rows without bits because nothing precedes the first token of a text.
        not_numbers: the number of rows without bits because the model's answer is not a number.
        crossing: the number of words without bits because a token belongs to several words.
        attached: the number of words whose punctuation stays attached, because a token contains both.
        example: a token that belongs to several words.
    """

    texts: int = 0
    tokens: int = 0
    rows: int = 0
    long: int = 0
    windows: int = 0
    unscored: int = 0
    not_numbers: int = 0
    crossing: int = 0
    attached: int = 0
    example: str = ""

    def __add__(self, other: "Count") -> "Count":
        numbers = {name: getattr(self, name) + getattr(other, name) for name in _NUMBERS}
        return Count(**numbers, example=self.example or other.example)

    def notes(self, model: LanguageModel, by: By) -> list[str]:
        """Return one sentence for each fact about the table that the user should know."""
        notes = {
            f"{self.long:,} of {self.texts:,} texts longer than the model's window, scored in {self.windows:,} windows; "
            "the column `context` has the number of tokens that the model saw": self.long,
            f"{self.unscored:,} {_plural(by, self.unscored)} without bits, since nothing precedes the first token of a text "
            f"(bos={model.settings.get('bos', 'no')})": self.unscored,
            f"{self.attached:,} {_plural('word', self.attached)} with the punctuation attached, since a token holds parts of "
            "both": self.attached,
        }
        return [note for note, number in notes.items() if number]

    def problems(self, by: By) -> list[str]:
        """Return one sentence for each reason why bits are unexpectedly missing."""
        rows = f"of {self.rows:,} {_plural(by, self.rows)} without bits"
        problems = {
            f"{self.not_numbers:,} {rows}: the model's answer is not a number": self.not_numbers,
            f"{self.crossing:,} {rows}: a token belongs to several words, for example {self.example!r}": self.crossing,
        }
        return [problem for problem, number in problems.items() if number]


def _plural(noun: str, number: int) -> str:
    return noun if number == 1 else f"{noun}s"


_NUMBERS = [field.name for field in fields(Count) if field.name != "example"]


def _types() -> dict[str, Any]:
    import polars as pl

    return {"pl": pl}


@public(types=_types)
def score_text(
    model: LanguageModel | OwnModel,
    text: str | Path | Sequence[str],
    *,
    by: By = "token",
    context: Context = "lines",
    stride: int | None = None,
    punctuation: Punctuation = "attached",
    line_ends: LineEnds = "space",
    progress: Progress | None = None,
) -> "pl.DataFrame":
    """Compute the surprisal of each token or word of a text, of several texts or of a file.

    Arguments:
        model: the model; or an object with the method `score`, as a class of your own has it in a Python file.
        text: a text as `str`, whose lines are separate texts; a list of texts; or a file as `pathlib.Path`: UTF-8, gzipped
            or not. A text is scored as it stands, blanks at its ends included. Blank lines are skipped, and spaces and tabs
            around the lines of a file, or of a document whose line ends are read as spaces, are not scored.
        by: "token" for a row per token, or "word" for a row per word.
        context: whether each line is a separate text ("lines"), or all lines are one "document".
        stride: the minimum number of context tokens in the windows after the first, for a text that is longer than the
            model's positions; half of the positions by default.
        punctuation: whether punctuation marks before and after a word belong to it ("attached"), or have separate rows
            ("apart").
        line_ends: whether a line end in a document is read as a "space", or is scored unchanged ("keep").
        progress: receives the number of characters scored so far, and warnings.

    Returns:
        The columns `text` (from 0), `line` (in the text, the list or the file, from 1), `index` (of the token or word in its
        text, from 0), `start` and `end` (in characters of the text), `token` or `word`, `bits`, `known` (whether it is in
        the model's vocabulary) and `context` (the number of tokens of the text that the model saw; for a word, when scoring
        its first token).
        `bits` is nan for the first token of a text under `bos=no`; a warning is given if other bits are missing.

    Raises:
        UsageError: a `str` is the name of a file, an argument has no such value, or options don't go together.
        InputError: the file can't be read, or has no text.
        ModelError: the model can't score a text, or is a recording.
        Interrupted: `progress` requested a stop.
    """
    model, progress = as_language_model(model), progress or Progress()
    if isinstance(text, Path):
        texts = list(divide(lines.prose(text), context, line_ends, str(text)))
    else:
        for each in [text] if isinstance(text, str) else text:
            refuse_file_name(each, "A text or a file? Pass a pathlib.Path to score the file.")
        numbered = utf8.lines(text) if isinstance(text, str) else enumerate(text, 1)
        texts = list(divide(numbered, context, line_ends, "text", surrounding=""))
    progress.planned(sum(len(part.text) for part in texts), 0, 1)
    total, parts = Count(), [empty(by)]
    for frame, count in text_tables(model, texts, by, stride, punctuation, lambda done: progress.answered("", done)):
        parts.append(frame)
        total += count
    for note in total.notes(model, by):
        progress.warned(note)
    for problem in total.problems(by):
        warnings.warn(problem, stacklevel=3)
    import polars as pl

    return pl.concat(parts)


def refuse_file_name(text: str, cure: str) -> None:
    """Refuse a text that is the name of a file, or looks like one."""
    if os.path.isfile(text) or _FILE_NAME.fullmatch(text):
        raise UsageError(f"text {text!r}", "a text that looks like the name of a file", "a text", cure)


def divide(
    numbered: Iterable[tuple[int, str]],
    context: Context,
    line_ends: LineEnds,
    place: str,
    surrounding: str = _SURROUNDING,
) -> Iterator[Text]:
    """Divide lines into texts: each line that is not blank, or all of them as one document.

    Arguments:
        numbered: the lines with their numbers.
        context, line_ends: as for `score_text`.
        place: the file, for messages.
        surrounding: the characters that are removed at the ends of lines that are separate texts.

    Raises:
        InputError: there is only white space.

    >>> lines = [(1, "One line."), (2, ""), (3, " Another.")]
    >>> [text] = divide(lines, "document", "space", "")
    >>> text
    Text(text='One line. Another.', starts=(0, 10), lines=(1, 3))
    >>> next(divide(lines, "document", "keep", "")).text
    'One line.\\n\\n Another.'
    """
    empty = True
    kept: list[tuple[int, str]] = []
    for number, line in numbered:
        content = (
            line.strip(surrounding) if context == "lines" else line if line_ends == "keep" else line.strip(_SURROUNDING)
        )
        blank = not content or content.isspace()
        empty = empty and blank
        if context == "document":
            if not blank or (line_ends == "keep" and not empty):
                kept.append((number, content))
        elif not blank:
            yield Text(content, lines=(number,))
    if empty:
        raise InputError(place, "no text", "at least one line that is not blank")
    if context == "document":
        while kept[-1][1].strip() == "":
            kept.pop()
        joint = "\n" if line_ends == "keep" else " "
        starts = np.cumsum([0, *(len(line) + 1 for _, line in kept[:-1])]).tolist()
        yield Text(joint.join(line for _, line in kept), tuple(starts), tuple(number for number, _ in kept))


def columns(by: By, entropy: bool = False) -> "dict[str, pl.DataType]":
    import polars as pl

    return {
        "text": pl.Int64(), "line": pl.Int64(), "index": pl.Int64(), "start": pl.Int64(), "end": pl.Int64(),
        by: pl.String(), "bits": pl.Float64(), "known": pl.Boolean(), "context": pl.Int64(),
        **({"entropy": pl.Float64()} if entropy else {}),
    }  # fmt: skip


def empty(by: By) -> "pl.DataFrame":
    import polars as pl

    return pl.DataFrame(schema=columns(by))


def text_tables(
    model: LanguageModel,
    texts: Iterable[Text],
    by: By = "token",
    stride: int | None = None,
    punctuation: Punctuation = "attached",
    done: Callable[[int], None] | None = None,
    entropy: bool = False,
) -> "Iterator[tuple[pl.DataFrame, Count]]":
    """Score texts, and yield a table for each portion of them. Memory does not grow with the number of texts."""
    # `done` is called with the number of characters scored since the last call; it may raise an exception to stop.
    import polars as pl

    refuse_options(model, by, punctuation)
    number, asking = 0, Asking(model)
    read = asking.read_reduced if entropy else asking.read
    for portion in portions(texts):
        answers = read([part.text for part in portion], stride, done)
        parts, total = [], Count()
        for part, answer in zip(portion, answers, strict=True):
            spans = token_spans(answer) if by == "token" else word_spans(model, answer, punctuation)
            parts.append(rows(number, part, spans, by))
            total += counted(model, answer, spans)
            number += 1
        asking.confirm()
        joined = {name: list(chain.from_iterable(part[name] for part in parts)) for name in columns(by, entropy)}
        yield pl.DataFrame(joined, schema=columns(by, entropy)), total


def refuse_options(model: LanguageModel, by: By, punctuation: Punctuation) -> None:
    if punctuation == "apart" and by == "token":
        raise UsageError("punctuation 'apart'", "rows of tokens", "rows of words", "Add by=word.")
    if punctuation == "apart" and model.settings.get("boundary") == "word":
        raise UsageError(
            "punctuation 'apart'", "a model with boundary=word, whose words end only before white space",
            "punctuation 'attached', or boundary=token",
        )  # fmt: skip


def portions(texts: Iterable[Text]) -> Iterator[list[Text]]:
    """Yield texts in lists, each of which is scored in one call."""
    portion: list[Text] = []
    size = 0
    for text in texts:
        if portion and (len(portion) == PORTION or size + len(text.text) > CHARACTERS):
            yield portion
            portion, size = [], 0
        portion.append(text)
        size += len(text.text)
    if portion:
        yield portion


def counted(model: LanguageModel, answer: InContext, spans: Spans) -> Count:
    starts = answer.surprisals.starts
    missing = np.isnan(answer.surprisals.bits)
    undefined = np.isnan(spans.bits) & (spans.crossing == "")
    # Without a start symbol, the first token has no bits. Other bits that are missing are the model's fault.
    if model.bos is None:
        missing[:1] = False
    unscored = int(model.bos is None and undefined[:1].any() and not missing[starts < spans.ends[:1].sum()].any())
    crossing = spans.crossing[spans.crossing != ""]
    return Count(
        texts=1,
        tokens=len(starts),
        rows=len(spans.starts),
        long=int(answer.windows > 1),
        windows=answer.windows if answer.windows > 1 else 0,
        unscored=unscored,
        not_numbers=int(undefined.sum()) - unscored,
        crossing=len(crossing),
        attached=spans.attached,
        example=next(iter(crossing), ""),
    )


def rows(number: int, part: Text, spans: Spans, by: By) -> dict[str, NDArray[np.generic] | list[str]]:
    """Return the columns of one text."""
    text, count = part.text, len(spans.starts)
    shown = _shown(text, spans.starts) if len(part.starts) > 1 else spans.starts
    line = np.searchsorted(part.starts, shown, "right") - 1
    return {
        "text": np.full(count, number),
        "line": np.array(part.lines)[line],
        "index": np.arange(count),
        "start": spans.starts,
        "end": spans.ends,
        by: [text[start:end] for start, end in zip(spans.starts.tolist(), spans.ends.tolist(), strict=True)],
        "bits": spans.bits,
        "known": spans.known,
        "context": spans.context,
        **({} if spans.entropy is None else {"entropy": spans.entropy}),
    }


def _shown(text: str, starts: Ints) -> Ints:
    """Return the first visible character at or after each start; the end of the text if there is none."""
    shown = np.array([match.start() for match in re.finditer(r"\S", text)], np.int64)
    following = np.searchsorted(shown, starts)
    return np.append(shown, len(text))[following]
