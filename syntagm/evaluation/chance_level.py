"""Chance levels: the probability that predictions hold if all values are independent draws from one distribution.

A value belongs to a region in a condition. The same region in the same condition always has the same value, and
different regions or conditions have independent values. The distribution is continuous, so `a = b` has probability 0
and there are no ties.

If only the order of values matters, as in `(5;%a%) < (5;%b%) & (5;%a%) < (5;%c%)`, the orders that satisfy the formula
are counted: all n! orders of n values are equally probable, regardless of the distribution. A single comparison whose
two sides can be exchanged, as in a + b < c + d, has probability 1/2, regardless of the distribution. In all other
cases, sums and differences depend on the distribution, which is assumed to be normal. Comparisons are then half-spaces
through the centre of a spherical normal distribution, and the probability of three of them is

    1/8 + (arcsin r12 + arcsin r13 + arcsin r23) / 4 pi        r: correlations of the differences compared with 0

Parts without a common value (under the normal distribution: uncorrelated parts) are independent, and their
probabilities are multiplied. `|` is resolved by inclusion and exclusion. Formulas that these rules don't cover are
refused, never approximated.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import TypeVar

from syntagm.core import InputError
from syntagm.suites import Binary, Formula, Node, Reference


@dataclass(frozen=True, slots=True)
class Inequality:
    """The event that a sum of values, each multiplied by an integer, is above 0."""

    # Terms are sorted, and their factors have no common divisor.

    terms: tuple[tuple[Reference, int], ...]

    def __neg__(self) -> "Inequality":
        return Inequality(tuple((reference, -times) for reference, times in self.terms))

    def __matmul__(self, other: "Inequality") -> int:
        """Compute the covariance of two sums whose values have variance 1."""
        factors = dict(self.terms)
        return sum(factors.get(reference, 0) * times for reference, times in other.terms)

    @property
    def ranks(self) -> bool:
        """Whether the inequality compares one value with one other value."""
        return sorted(times for _, times in self.terms) == [-1, 1]

    @property
    def swaps(self) -> bool:
        """Whether the two sides can be exchanged by renaming values."""
        counts = Counter(times for _, times in self.terms)
        return all(counts[-times] == count for times, count in counts.items())


@dataclass(frozen=True, slots=True)
class Joined:
    """A conjunction (`every`) or disjunction of events. Its parts are sorted, and none of them is of the same kind."""

    every: bool
    parts: tuple["Event", ...]


Event = bool | Inequality | Joined


def event_of(node: Node) -> Event:
    """Convert a formula, or a part of it whose value is a verdict, to an event."""
    assert isinstance(node, Binary)
    if node.operator in ("&", "|"):
        return joined_events(node.operator == "&", [event_of(node.left), event_of(node.right)])
    terms, constant = _difference(node)
    if node.operator == "=":
        if not terms and constant:
            raise InputError("no chance level", "a number compared with a number by =", "values of regions")
        return not terms
    if not terms:
        return constant > 0
    _refuse_scale(constant, sum(terms.values()))
    divisor = math.gcd(*terms.values())
    return Inequality(tuple(sorted(((reference, times // divisor) for reference, times in terms.items()), key=str)))


def _refuse_scale(constant: Fraction, surplus: int) -> None:
    if constant or surplus:
        found = (
            "a comparison with a number" if constant else "different numbers of values on the two sides of a comparison"
        )
        cure = "The chance level would depend on the unit or the mean of the values."
        raise InputError("no chance level", found, "the same number of values on both sides, and no numbers", cure)


def _difference(node: Binary) -> tuple[dict[Reference, int], Fraction]:
    """Subtract the smaller side of a comparison from the larger; return the factor of each value, and the constant."""
    terms: Counter[Reference] = Counter()
    constant = Fraction(0)
    left, right = (-1, 1) if node.operator == "<" else (1, -1)
    for summand, sign in (*_summands(node.left, left), *_summands(node.right, right)):
        if isinstance(summand, Reference):
            terms[summand] += sign
        else:
            constant += sign * Fraction(summand)
    return {reference: times for reference, times in terms.items() if times}, constant


def _summands(node: Node, sign: int) -> Iterator[tuple[Reference | float, int]]:
    if isinstance(node, Binary):
        yield from _summands(node.left, sign)
        yield from _summands(node.right, sign if node.operator == "+" else -sign)
    else:
        yield node, sign


def joined_events(every: bool, events: Iterable[Event]) -> Event:
    """Join events by "all" or "at least one", and remove certain, repeated and nested parts."""
    parts: set[Event] = set()
    for event in events:
        parts |= set(event.parts) if isinstance(event, Joined) and event.every == every else {event}
    if (not every) in parts or any(isinstance(part, Inequality) and -part in parts for part in parts):
        return not every
    parts.discard(every)
    if not parts:
        return every
    # Sorted, so that floating-point sums are the same in every process.
    return Joined(every, tuple(sorted(parts, key=repr))) if len(parts) > 1 else parts.pop()


def opposite(event: Event) -> Event:
    """Return the complement of an event. Ties have probability 0, so the complement of a comparison ignores them."""
    if isinstance(event, bool):
        return not event
    if isinstance(event, Inequality):
        return -event
    return joined_events(not event.every, [opposite(part) for part in event.parts])


def inequalities(event: Event) -> Iterator[Inequality]:
    """Yield all comparisons in an event, including repeated ones."""
    if isinstance(event, Inequality):
        yield event
    elif isinstance(event, Joined):
        for part in event.parts:
            yield from inequalities(part)


MOST_VALUES, MOST_COMPARISONS, MOST_HALF_SPACES = 12, 8, 3
_LARGEST_DENOMINATOR = 1000
_ROUNDING = 1e-12

Share = Fraction | float
Part = TypeVar("Part", bound=Event)


@cache
def probability(event: Event) -> tuple[Share, bool]:
    """Compute the probability of an event, and tell whether it is the same for all continuous distributions."""
    if isinstance(event, bool):
        return Fraction(event), True
    if isinstance(event, Inequality):
        return Fraction(1, 2), event.swaps
    if not event.every:
        complement, free = probability(opposite(event))
        return 1 - complement, free
    blocks = _blocks(event.parts, _have_a_value_in_common)
    if len(blocks) > 1:
        shares, frees = zip(*(probability(joined_events(True, block)) for block in blocks), strict=True)
        return math.prod(shares), all(frees)
    alternatives = next((part for part in event.parts if isinstance(part, Joined)), None)
    return _conjunction([*inequalities(event)]) if alternatives is None else _inclusion_exclusion(event, alternatives)


def _inclusion_exclusion(event: Joined, alternatives: Joined) -> tuple[Share, bool]:
    """Resolve a disjunction: P(x and (a or b)) = P(x and a) + P(x and b) - P(x and a and b)."""
    _limit("comparisons", len({*inequalities(event)}), MOST_COMPARISONS)
    others = [part for part in event.parts if part is not alternatives]
    first, rest = alternatives.parts[0], joined_events(False, alternatives.parts[1:])
    (with_first, *_), (with_rest, *_), (with_both, *_) = shares = [
        probability(joined_events(True, [*others, *chosen])) for chosen in ([first], [rest], [first, rest])
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
    return not _references(inequalities(first)).keys().isdisjoint(_references(inequalities(second)))


def _references(comparisons: Iterable[Inequality]) -> dict[object, None]:
    return dict.fromkeys(reference for comparison in comparisons for reference, _ in comparison.terms)


def _limit(what: str, count: int, most: int) -> None:
    if count > most:
        found = f"{count} {what} that depend on each other"
        raise InputError(
            "no chance level", found, f"at most {most}", "The chance level of more values can't be computed exactly."
        )


ANY, NORMAL = "any continuous distribution", "normal distribution"


@dataclass(frozen=True, slots=True)
class Chance:
    """The chance level of predictions."""

    value: float  # from 0 to 1; nan if unknown
    fraction: Fraction | None  # the exact value if it is rational, otherwise None
    method: str  # the distributions for which the value holds; if the value is unknown, the reason

    def __str__(self) -> str:
        if math.isnan(self.value):
            return ""
        return f"{self.value:.4f}" if self.fraction is None else str(self.fraction)


def chance(*formulas: Formula) -> Chance:
    """Compute the probability that all formulas hold if values are independent draws from one continuous distribution.

    Raises:
        InputError: the rules of this module don't cover the formulas, or the probability is undefined: a value is
            compared with a number, different numbers of values are compared, or a whole sentence and a region of it
            both occur.

    >>> from syntagm.suites import parse
    >>> level = chance(parse("(1;%a%) > (1;%b%) & (1;%a%) > (1;%c%)"))
    >>> str(level), level.method
    ('1/3', 'any continuous distribution')
    >>> str(chance(parse("(1;%a%) > (1;%b%) & (1;%a%) > (1;%c%) & (1;%a%) - (1;%b%) > (1;%c%) - (1;%d%)")))
    '7/24'
    """
    _refuse_mixtures(formulas)
    share, free = probability(joined_events(True, (event_of(formula.tree) for formula in formulas)))
    return Chance(float(share), share if isinstance(share, Fraction) else None, ANY if free else NORMAL)


def known(*formulas: Formula) -> Chance:
    """Compute the chance level like `chance`, but return nan with the reason as method instead of raising an error."""
    try:
        return chance(*formulas)
    except InputError as error:
        return unknown(str(error))


def unknown(reason: str) -> Chance:
    return Chance(math.nan, None, reason)


def mean(chances: Sequence[Chance]) -> Chance:
    """Average chance levels; the mean is unknown if one of them is unknown, or if there are none.

    >>> str(mean([Chance(0.5, Fraction(1, 2), ANY), Chance(0.25, Fraction(1, 4), NORMAL)]))
    '3/8'
    """
    unknown_levels = [level for level in chances if math.isnan(level.value)]
    if unknown_levels or not chances:
        return Chance(math.nan, None, unknown_levels[0].method if unknown_levels else "no chance level: no suites")
    method = NORMAL if any(level.method == NORMAL for level in chances) else ANY
    fractions = [level.fraction for level in chances if level.fraction is not None]
    if len(fractions) == len(chances):
        exact = sum(fractions, Fraction(0)) / len(chances)
        return Chance(float(exact), exact, method)
    return Chance(sum(level.value for level in chances) / len(chances), None, method)


def comparisons(*formulas: Formula) -> tuple[Inequality, ...]:
    """Return the distinct comparisons in the formulas, written as comparisons with 0, in no particular order."""
    # Comparisons with `=`, and those in which all values cancel, are not included.
    events = (event_of(formula.tree) for formula in formulas)
    return tuple(dict.fromkeys(inequality for event in events for inequality in inequalities(event)))


def _refuse_mixtures(formulas: Iterable[Formula]) -> None:
    references = {reference for formula in formulas for reference in formula.references()}
    whole = {reference.condition for reference in references if reference.region == "*"}
    for reference in sorted(references, key=str):
        if reference.condition in whole and reference.region != "*":
            found = f"({reference.region};%{reference.condition}%) beside the whole sentence"
            raise InputError("no chance level", found, "values that are drawn independently")


def against_chance(right: int, n: int, chance: float) -> float:
    """Compute the two-sided p-value of the exact binomial test: twice the smaller tail, at most 1.

    Arguments:
        right: the number of items for which the prediction holds.
        n: the number of items.
        chance: the probability that the prediction holds for an item by chance.

    >>> round(against_chance(5, 5, 0.5), 4), against_chance(1, 2, 0.5)  # 2 / 2**5
    (0.0625, 1.0)
    """
    from scipy.special import bdtr, bdtrc

    lower = float(bdtr(right, n, chance)) if right < n else 1.0
    upper = float(bdtrc(right - 1, n, chance)) if right else 1.0
    return min(1.0, 2.0 * min(lower, upper))
