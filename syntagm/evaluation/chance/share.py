"""The probability of an event if all values are independent draws from one distribution; see `chance`."""

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import TypeVar

from syntagm.core import InputError
from syntagm.evaluation.chance.event import Event, Inequality, Joined, join, opposite, within

MOST_VALUES, MOST_COMPARISONS, MOST_HALF_SPACES = 12, 8, 3
_LARGEST_DENOMINATOR = 1000
_ROUNDING = 1e-12

Share = Fraction | float
Part = TypeVar("Part", bound=Event)


@cache
def share(event: Event) -> tuple[Share, bool]:
    """Compute the probability of an event, and tell whether it is the same for all continuous distributions."""
    if isinstance(event, bool):
        return Fraction(event), True
    if isinstance(event, Inequality):
        return Fraction(1, 2), event.swaps
    if not event.every:
        complement, free = share(opposite(event))
        return 1 - complement, free
    blocks = _blocks(event.parts, _have_a_value_in_common)
    if len(blocks) > 1:
        shares, frees = zip(*(share(join(True, block)) for block in blocks), strict=True)
        return math.prod(shares), all(frees)
    alternatives = next((part for part in event.parts if isinstance(part, Joined)), None)
    return _conjunction([*within(event)]) if alternatives is None else _inclusion_exclusion(event, alternatives)


def _inclusion_exclusion(event: Joined, alternatives: Joined) -> tuple[Share, bool]:
    """Resolve a disjunction: P(x and (a or b)) = P(x and a) + P(x and b) - P(x and a and b)."""
    _limit("comparisons", len({*within(event)}), MOST_COMPARISONS)
    others = [part for part in event.parts if part is not alternatives]
    first, rest = alternatives.parts[0], join(False, alternatives.parts[1:])
    (with_first, *_), (with_rest, *_), (with_both, *_) = shares = [
        share(join(True, [*others, *chosen])) for chosen in ([first], [rest], [first, rest])
    ]
    return with_first + with_rest - with_both, all(free for _, free in shares)


def _conjunction(comparisons: Sequence[Inequality]) -> tuple[Share, bool]:
    if all(comparison.ranks for comparison in comparisons):
        return _orders(comparisons), True
    # Uncorrelated normal sums are independent, even if they have common values.
    blocks = _blocks(comparisons, lambda first, second: first @ second != 0)
    return math.prod(
        _orders(block) if all(comparison.ranks for comparison in block) else _half_spaces(block) for block in blocks
    ), False


def _orders(comparisons: Sequence[Inequality]) -> Fraction:
    """Compute the proportion of the values' orders that satisfy comparisons between single values."""
    places = {reference: place for place, reference in enumerate(_references(comparisons))}
    _limit("values", len(places), MOST_VALUES)
    below = [0] * len(places)
    for comparison in comparisons:
        (lesser, _), (greater, _) = sorted(comparison.terms, key=lambda term: term[1])
        below[places[greater]] |= 1 << places[lesser]
    # ways[s]: the number of orders of the values in the set s (a bit mask) if they are the smallest values.
    ways = [1] + [0] * ((1 << len(places)) - 1)
    for smallest in range(len(ways)):
        for place, needed in enumerate(below):
            if ways[smallest] and not smallest >> place & 1 and needed & smallest == needed:
                ways[smallest | 1 << place] += ways[smallest]
    return Fraction(ways[-1], math.factorial(len(places)))


def _half_spaces(comparisons: Sequence[Inequality]) -> Share:
    """Compute the probability of the intersection of half-spaces under a normal distribution."""
    kept = list(comparisons)
    if len(kept) > MOST_HALF_SPACES:
        if any(_implied(-comparison, comparisons) for comparison in comparisons):
            return Fraction(0)
        for comparison in comparisons:
            others = [other for other in kept if other != comparison]
            kept = others if _implied(comparison, others) else kept
    _limit("comparisons of sums", len(kept), MOST_HALF_SPACES)
    angles = math.fsum(math.asin(_correlation(comparison, other)) for comparison, other in combinations(kept, 2))
    # 1/2, 1/4 + angle / 2 pi, 1/8 + angles / 4 pi.
    return _rational(2.0 ** -len(kept) + angles / (math.pi * 2 ** (len(kept) - 1)))


def _correlation(first: Inequality, second: Inequality) -> float:
    # Correlations of 1 and -1 belong to equal and opposite comparisons only, which were removed; numbers of this size
    # don't round to them.
    return (first @ second) / math.sqrt((first @ first) * (second @ second))


def _implied(comparison: Inequality, others: Sequence[Inequality]) -> bool:
    """Return whether a comparison is a sum of positive multiples of two others, and so implied by them."""
    return any(_between(comparison, first, second) for first, second in combinations(others, 2))


def _between(comparison: Inequality, first: Inequality, second: Inequality) -> bool:
    # The least-squares multiples, by Cramer's rule; all numbers are whole.
    scale = (first @ first) * (second @ second) - (first @ second) ** 2
    x = (comparison @ first) * (second @ second) - (comparison @ second) * (first @ second)
    y = (comparison @ second) * (first @ first) - (comparison @ first) * (first @ second)
    own, a, b = (dict(inequality.terms) for inequality in (comparison, first, second))
    exactly = all(scale * own.get(k, 0) == x * a.get(k, 0) + y * b.get(k, 0) for k in {*own, *a, *b})
    return scale > 0 and x > 0 and y > 0 and exactly


def _rational(value: float) -> Share:
    near = Fraction(value).limit_denominator(_LARGEST_DENOMINATOR)
    return near if abs(near - Fraction(value)) < _ROUNDING else value


def _blocks(parts: Sequence[Part], linked: Callable[[Part, Part], bool]) -> list[list[Part]]:
    """Group parts into connected components: no part is linked with a part of another group."""
    blocks: list[list[Part]] = []
    for part in parts:
        touched = [block for block in blocks if any(linked(part, member) for member in block)]
        blocks = [block for block in blocks if block not in touched]
        blocks.append([*(member for block in touched for member in block), part])
    return blocks


def _have_a_value_in_common(first: Event, second: Event) -> bool:
    return not _references(within(first)).keys().isdisjoint(_references(within(second)))


def _references(comparisons: Iterable[Inequality]) -> dict[object, None]:
    return dict.fromkeys(reference for comparison in comparisons for reference, _ in comparison.terms)


def _limit(what: str, count: int, most: int) -> None:
    if count > most:
        found = f"{count} {what} that depend on each other"
        raise InputError(
            "no chance level", found, f"at most {most}", "The chance level of more values can't be computed exactly."
        )
