"""What a formula says, as comparisons of sums of values with 0, joined by "all" and "at least one"."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from syntagm.errors import InputError
from syntagm.formula import Binary, Node, Reference


@dataclass(frozen=True, slots=True)
class Inequality:
    """The sum of some values, each times a whole number, is above 0. Terms are sorted, and without a common divisor."""

    terms: tuple[tuple[Reference, int], ...]

    def __neg__(self) -> "Inequality":
        return Inequality(tuple((reference, -times) for reference, times in self.terms))

    def __matmul__(self, other: "Inequality") -> int:
        """The covariance of the two sums, if values have variance 1."""
        mine = dict(self.terms)
        return sum(mine.get(reference, 0) * times for reference, times in other.terms)

    @property
    def ranks(self) -> bool:
        """Does it compare one value with one other?"""
        return sorted(times for _, times in self.terms) == [-1, 1]

    @property
    def swaps(self) -> bool:
        """Can the two sides be swapped by renaming values?"""
        times = Counter(times for _, times in self.terms)
        return all(times[-one] == count for one, count in times.items())


@dataclass(frozen=True, slots=True)
class Joined:
    """Several events: all of them, or at least one. Parts are sorted, and none is joined in the same way."""

    every: bool
    parts: tuple["Event", ...]


Event = bool | Inequality | Joined


def read(node: Node) -> Event:
    """What a formula, or a part of one that is a verdict, says.

    Raises:
        InputError: a comparison is not balanced, or has a number in it.
    """
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
    return Inequality(tuple(sorted(((one, times // divisor) for one, times in terms.items()), key=str)))


def _refuse_scale(constant: Fraction, surplus: int) -> None:
    if constant or surplus:
        found = (
            "a comparison with a number" if constant else "more values on one side of a comparison than on the other"
        )
        cure = "Chance then depends on the unit, or on the mean, of the values."
        raise InputError("no chance level", found, "as many values on both sides, and no number", cure)


def _difference(node: Binary) -> tuple[dict[Reference, int], Fraction]:
    """The larger side less the smaller: how often each value is counted, and the number that is added."""
    terms: Counter[Reference] = Counter()
    constant = Fraction(0)
    left, right = (-1, 1) if node.operator == "<" else (1, -1)
    for one, sign in (*_summands(node.left, left), *_summands(node.right, right)):
        if isinstance(one, Reference):
            terms[one] += sign
        else:
            constant += sign * Fraction(one)
    return {one: times for one, times in terms.items() if times}, constant


def _summands(node: Node, sign: int) -> Iterator[tuple[Reference | float, int]]:
    if isinstance(node, Binary):
        yield from _summands(node.left, sign)
        yield from _summands(node.right, sign if node.operator == "+" else -sign)
    else:
        yield node, sign


def join(every: bool, events: Iterable[Event]) -> Event:
    """All events, or at least one, without what is certain, doubled or nested."""
    parts: set[Event] = set()
    for event in events:
        parts |= set(event.parts) if isinstance(event, Joined) and event.every == every else {event}
    if (not every) in parts or any(isinstance(one, Inequality) and -one in parts for one in parts):
        return not every
    parts.discard(every)
    if not parts:
        return every
    # Sorted, so that sums of rounded numbers are the same in every process.
    return Joined(every, tuple(sorted(parts, key=repr))) if len(parts) > 1 else parts.pop()


def opposite(event: Event) -> Event:
    """The opposite; of a comparison but for ties, which have probability 0."""
    if isinstance(event, bool):
        return not event
    if isinstance(event, Inequality):
        return -event
    return join(not event.every, [opposite(part) for part in event.parts])


def within(event: Event) -> Iterator[Inequality]:
    """Every comparison in an event, repeats included."""
    if isinstance(event, Inequality):
        yield event
    elif isinstance(event, Joined):
        for part in event.parts:
            yield from within(part)
