"""Lists of trials: Latin squares, in which a person sees one condition of an item, and the sides of pairs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import ceil, lcm

from syntagm.experiment.plan import Trial


def latin(
    trials: Sequence[Trial], others: Sequence[Trial], per_person: int | None
) -> tuple[tuple[tuple[int, bool], ...], ...]:
    """Return the lists of an experiment: for each the numbers of its trials, and for pairs which sentence comes first."""
    # In list l, item i has condition (i + l) modulo the number of conditions. If a person is to see fewer trials than
    # there are items, complete groups of items (one for each condition) are dealt to blocks. Of pairs, each list exists
    # twice, with opposite sides; within a list, the favoured sentence is first in every second pair of each condition
    # of a suite, and so in half of all pairs.
    items: dict[tuple[str, str], list[int]] = {}
    for number, trial in enumerate(trials):
        items.setdefault((trial.suite, trial.item), []).append(number)
    squares = lcm(*(len(conditions) for conditions in items.values())) if items else 1
    blocks = max(1, ceil(len(items) / per_person)) if per_person else 1
    sides = 2 if any(len(trial.texts) > 1 for trial in (*trials, *others)) else 1
    block = _blocks(items, blocks)
    # Groups are complete, so that blocks may differ by a group.
    while per_person and max(Counter(block.values()).values(), default=0) > per_person:
        blocks += 1
        block = _blocks(items, blocks)
    lists = []
    for number in range(blocks * squares * sides):
        part, square, side = number // (squares * sides), number // sides % squares, number % sides
        seen: dict[str, int] = {}
        shown = []
        for (suite, item), conditions in items.items():
            place = seen[suite] = seen.get(suite, -1) + 1
            if block[suite, item] == part:
                shown.append(conditions[(place + square) % len(conditions)])
        kinds = [(trials[trial].suite, trials[trial].condition) for trial in shown]
        first = zip(shown, _sides(kinds, side), strict=True)
        rest = zip(
            range(len(trials), len(trials) + len(others)),
            _sides([(other.role, other.suite, other.condition) for other in others], side), strict=True,
        )  # fmt: skip
        lists.append((*first, *rest))
    return tuple(lists)


def _sides(kinds: Sequence[tuple[str, ...]], side: int) -> list[bool]:
    """Return whether the favoured sentence comes first in each trial: every second time of each kind, and in half of all.

    Kinds with an odd number of trials have one more on one side; these sides alternate.

    Arguments:
        kinds: what trials are balanced within, such as suite and condition.
        side: 1 for the opposite sides.

    >>> _sides([("a",), ("b",), ("a",), ("b",)], 0), _sides([("a",), ("b",), ("c",)], 1)
    ([True, True, False, False], [False, True, False])
    """
    start: dict[tuple[str, ...], int] = {}
    for kind, count in Counter(kinds).items():
        start[kind] = side
        side += count % 2
    found = []
    for kind in kinds:
        found.append(start[kind] % 2 == 0)
        start[kind] += 1
    return found


def _blocks(items: Mapping[tuple[str, str], Sequence[int]], blocks: int) -> dict[tuple[str, str], int]:
    """Return the block of each item. Items that follow each other, one for each condition, share a block."""
    found, groups, places = {}, -1, dict[str, int]()
    for (suite, item), conditions in items.items():
        place = places[suite] = places.get(suite, -1) + 1
        if place % len(conditions) == 0:
            groups += 1
        found[suite, item] = groups % blocks
    return found
