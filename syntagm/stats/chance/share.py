"""In which share of all cases an event holds, if values are independent draws from one distribution; see `chance`."""

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import TypeVar

from syntagm.errors import InputError
from syntagm.stats.chance.event import Event, Inequality, Joined, join, opposite, within

MOST_VALUES, MOST_COMPARISONS, MOST_HALF_SPACES = 12, 8, 3
_LARGEST_DENOMINATOR = 1000
_ROUNDING = 1e-12

Share = Fraction | float
Part = TypeVar("Part", bound=Event)


@cache
def share(event: Event) -> tuple[Share, bool]:
    """The share, a fraction where it is rational; and whether it is the same for all continuous distributions.

    Raises:
        InputError: too many comparisons hang together.
    """
    if isinstance(event, bool):
        return Fraction(event), True
    if isinstance(event, Inequality):
        return Fraction(1, 2), event.swaps
    if not event.every:
        found, free = share(opposite(event))
        return 1 - found, free
    blocks = _blocks(event.parts, _have_a_value_in_common)
    if len(blocks) > 1:
        shares, frees = zip(*(share(join(True, block)) for block in blocks), strict=True)
        return math.prod(shares), all(frees)
    alternatives = next((part for part in event.parts if isinstance(part, Joined)), None)
    return _conjunction([*within(event)]) if alternatives is None else _inclusion_exclusion(event, alternatives)


def _inclusion_exclusion(event: Joined, alternatives: Joined) -> tuple[Share, bool]:
    """P(x and (a or b)) = P(x and a) + P(x and b) - P(x and a and b)."""
    _limit("comparisons", len({*within(event)}), MOST_COMPARISONS)
    others = [part for part in event.parts if part is not alternatives]
    first, rest = alternatives.parts[0], join(False, alternatives.parts[1:])
    (one, *_), (two, *_), (both, *_) = shares = [
        share(join(True, [*others, *chosen])) for chosen in ([first], [rest], [first, rest])
    ]
    return one + two - both, all(free for _, free in shares)


def _conjunction(comparisons: Sequence[Inequality]) -> tuple[Share, bool]:
    if all(one.ranks for one in comparisons):
        return _orders(comparisons), True
    # Normal sums that are not correlated are independent, even if they share values.
    blocks = _blocks(comparisons, lambda one, other: one @ other != 0)
    return math.prod(
        _orders(block) if all(one.ranks for one in block) else _half_spaces(block) for block in blocks
    ), False


def _orders(comparisons: Sequence[Inequality]) -> Fraction:
    """The share of orders of the values that fit comparisons of one value with one other."""
    places = {reference: place for place, reference in enumerate(_references(comparisons))}
    _limit("values", len(places), MOST_VALUES)
    below = [0] * len(places)
    for one in comparisons:
        (lesser, _), (greater, _) = sorted(one.terms, key=lambda term: term[1])
        below[places[greater]] |= 1 << places[lesser]
    # ways[s]: in how many orders the values in the set s can be the smallest.
    ways = [1] + [0] * ((1 << len(places)) - 1)
    for smallest in range(len(ways)):
        for place, needed in enumerate(below):
            if ways[smallest] and not smallest >> place & 1 and needed & smallest == needed:
                ways[smallest | 1 << place] += ways[smallest]
    return Fraction(ways[-1], math.factorial(len(places)))


def _half_spaces(comparisons: Sequence[Inequality]) -> Share:
    """The share of a normal cloud in the half-spaces, all of them at once."""
    kept = list(comparisons)
    if len(kept) > MOST_HALF_SPACES:
        if any(_implied(-one, comparisons) for one in comparisons):
            return Fraction(0)
        for one in comparisons:
            others = [other for other in kept if other != one]
            kept = others if _implied(one, others) else kept
    _limit("comparisons of sums", len(kept), MOST_HALF_SPACES)
    angles = math.fsum(math.asin(_correlation(one, other)) for one, other in combinations(kept, 2))
    # 1/2, 1/4 + angle / 2 pi, 1/8 + angles / 4 pi.
    return _rational(2.0 ** -len(kept) + angles / (math.pi * 2 ** (len(kept) - 1)))


def _correlation(one: Inequality, other: Inequality) -> float:
    # Only equal and opposite comparisons have 1 and -1, and there are none: whole numbers of this size can't round to them.
    return (one @ other) / math.sqrt((one @ one) * (other @ other))


def _implied(one: Inequality, others: Sequence[Inequality]) -> bool:
    """Is it the sum of positive multiples of two others? Then it holds where they do."""
    return any(_between(one, first, second) for first, second in combinations(others, 2))


def _between(one: Inequality, first: Inequality, second: Inequality) -> bool:
    # The multiples that come nearest, by Cramer's rule; all are whole numbers.
    scale = (first @ first) * (second @ second) - (first @ second) ** 2
    x = (one @ first) * (second @ second) - (one @ second) * (first @ second)
    y = (one @ second) * (first @ first) - (one @ first) * (first @ second)
    mine, a, b = (dict(comparison.terms) for comparison in (one, first, second))
    exactly = all(scale * mine.get(k, 0) == x * a.get(k, 0) + y * b.get(k, 0) for k in {*mine, *a, *b})
    return scale > 0 and x > 0 and y > 0 and exactly


def _rational(value: float) -> Share:
    near = Fraction(value).limit_denominator(_LARGEST_DENOMINATOR)
    return near if abs(near - Fraction(value)) < _ROUNDING else value


def _blocks(parts: Sequence[Part], linked: Callable[[Part, Part], bool]) -> list[list[Part]]:
    """The parts in groups, such that no part is linked with one of another group."""
    blocks: list[list[Part]] = []
    for part in parts:
        touched = [block for block in blocks if any(linked(part, one) for one in block)]
        blocks = [block for block in blocks if block not in touched]
        blocks.append([*(one for block in touched for one in block), part])
    return blocks


def _have_a_value_in_common(one: Event, other: Event) -> bool:
    return not _references(within(one)).keys().isdisjoint(_references(within(other)))


def _references(comparisons: Iterable[Inequality]) -> dict[object, None]:
    return dict.fromkeys(reference for one in comparisons for reference, _ in one.terms)


def _limit(what: str, count: int, most: int) -> None:
    if count > most:
        found = f"{count} {what} that hang together"
        raise InputError("no chance level", found, f"at most {most}", "More are not computed exactly.")
