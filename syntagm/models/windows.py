"""Overlapping windows over the tokens of a text that is longer than a model's positions.

Each token is scored in exactly one window. The other tokens of the window are its context.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TypeVar

from syntagm.core import UsageError

Key = TypeVar("Key", bound=Hashable)
Answer = TypeVar("Answer")


def once(
    keys: Sequence[Key],
    answer: Callable[[Iterator[Key]], tuple[list[Key], list[Answer]]],
    done: Callable[[int], None] | None,
) -> Iterator[Answer]:
    """Yield the answer to each key in order, computing equal keys once. An answer is discarded after its last use."""
    repeats, remaining = Counter(keys), Counter(keys)
    distinct = iter(list(repeats))
    answers: dict[Key, Answer] = {}
    for key in keys:
        while key not in answers:
            batch, fills = answer(distinct)
            answers |= zip(batch, fills, strict=True)
            if done:
                done(sum(repeats[answered] for answered in batch))
        yield answers[key]
        remaining[key] -= 1
        if not remaining[key]:
            del answers[key]


def in_batches(
    size: int, answer: Callable[[list[Key]], list[Answer]]
) -> Callable[[Iterator[Key]], tuple[list[Key], list[Answer]]]:
    """Wrap a function that answers up to `size` keys at a time, so that `once` can call it."""

    def next_batch(keys: Iterator[Key]) -> tuple[list[Key], list[Answer]]:
        batch = list(islice(keys, size))
        return batch, answer(batch)

    return next_batch


@dataclass(frozen=True, slots=True)
class Window:
    """A span of tokens, and the span within it that is scored. Both exclude their ends."""

    begin: int  # `begin`, `end`: the tokens that the model sees
    end: int
    first: int  # `first`, `last`: the tokens that are scored
    last: int


def before(tokens: int, size: int, overlap: int) -> list[Window]:
    """Return the windows of a left-to-right model.

    Each window after the first begins `overlap` tokens before the first token that it scores. So the context of a token
    depends only on its position, not on the text after it.

    Arguments:
        tokens: number of tokens of the text.
        size: maximum number of tokens in a window.
        overlap: minimum number of tokens before a scored token in the windows after the first; less than `size`.

    >>> [(window.begin, window.first, window.last) for window in before(10, 6, 3)]
    [(0, 0, 6), (3, 6, 9), (6, 9, 10)]
    """
    firsts = [0, *range(size, tokens, size - overlap)]
    return [Window(begin := max(0, first - overlap), end := min(begin + size, tokens), first, end) for first in firsts]


def around(tokens: int, size: int, overlap: int) -> list[Window]:
    """Return the windows of a model that sees both sides of a token.

    The middle of the overlap of two windows divides their scored tokens, so each scored token has at least half of
    `overlap` on both sides, if the text does. The last window ends with the text.

    Arguments:
        tokens: number of tokens of the text.
        size: number of tokens in a window.
        overlap: minimum number of tokens that neighbouring windows share; less than `size`.

    >>> [(window.begin, window.end, window.first, window.last) for window in around(10, 6, 3)]
    [(0, 6, 0, 4), (3, 9, 4, 6), (4, 10, 6, 10)]
    """
    begins = [*range(0, tokens - size, size - overlap), max(0, tokens - size)]
    middles = [(following + begin + size) // 2 for begin, following in pairwise(begins)]
    return [
        Window(begin, min(begin + size, tokens), first, last)
        for begin, first, last in zip(begins, [0, *middles], [*middles, tokens], strict=True)
    ]


def overlap_of(given: int | None, size: int, positions: int, model: str, least: int = 0) -> int:
    """Return the overlap of windows: the given overlap, or half of the model's positions."""
    overlap = max(least, min(positions // 2, size - 1)) if given is None else given
    if not least <= overlap < size:
        found = f"{overlap} tokens of context in windows of {max(size, 0)} tokens"
        raise UsageError(f"stride of {model}", found, f"a number from {least} to {max(size - 1, least)}")
    return overlap


def refuse_overlap(given: int | None, model: str, reason: str) -> None:
    """Refuse an overlap of windows for a model that needs no windows."""
    if given is not None:
        raise UsageError(f"stride of {model}", f"a stride of {given}, but {reason}", "no stride")


def shares(total: int, windows: Sequence[Window]) -> list[int]:
    """Divide a number among the windows of a text, in proportion to their scored tokens.

    >>> shares(25, before(10, 6, 3))
    [15, 7, 3]
    """
    tokens = max(1, *(window.last for window in windows))
    ends = [total * window.last // tokens for window in windows[:-1]]
    return [end - begin for begin, end in pairwise([0, *ends, total])]
