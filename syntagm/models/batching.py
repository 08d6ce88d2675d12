"""Answers to blanks in their order, where the same is asked several times and much is best answered at once."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from syntagm.answers import Fill

Key = TypeVar("Key", bound=Hashable)


def once(
    keys: Sequence[Key],
    answer: Callable[[Iterator[Key]], tuple[list[Key], list[Fill]]],
    done: Callable[[int], None] | None,
) -> Iterator[Fill]:
    """The answer to each key, computed once for equal keys, and kept as long as it is still asked for farther on.

    Arguments:
        answer: takes some of the distinct keys that wait, at least one, and gives them with their answers.
        done: called after each portion with the number of keys that it answered, repeats counted.
    """
    repeats, left = Counter(keys), Counter(keys)
    waiting = iter(list(repeats))
    answers: dict[Key, Fill] = {}
    for key in keys:
        while key not in answers:
            portion, found = answer(waiting)
            answers |= zip(portion, found, strict=True)
            if done:
                done(sum(repeats[one] for one in portion))
        yield answers[key]
        left[key] -= 1
        if not left[key]:
            del answers[key]


def in_portions(
    size: int, answer: Callable[[list[Key]], list[Fill]]
) -> Callable[[Iterator[Key]], tuple[list[Key], list[Fill]]]:
    """What `once` takes, of a function that answers `size` keys at once."""

    def some(waiting: Iterator[Key]) -> tuple[list[Key], list[Fill]]:
        portion = list(islice(waiting, size))
        return portion, answer(portion)

    return some
