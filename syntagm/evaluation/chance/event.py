"""Formulas as events: comparisons of sums of values with 0, joined by "all" or "at least one"."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from syntagm.core import InputError
from syntagm.suites import Binary, Node, Reference


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


def read(node: Node) -> Event:
    """Convert a formula, or a part of it whose value is a verdict, to an event."""
    assert isinstance(node, Binary)
    if node.operator in ("&", "|"):
        return join(node.operator == "&", [read(node.left), read(node.right)])
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


def join(every: bool, events: Iterable[Event]) -> Event:
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
    return join(not event.every, [opposite(part) for part in event.parts])


def within(event: Event) -> Iterator[Inequality]:
    """Yield all comparisons in an event, including repeated ones."""
    if isinstance(event, Inequality):
        yield event
    elif isinstance(event, Joined):
        for part in event.parts:
            yield from within(part)
