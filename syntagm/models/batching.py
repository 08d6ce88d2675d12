"""Deduplication and batching of queries."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

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
