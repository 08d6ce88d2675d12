"""Parts of a model formula: variables, terms, sums of terms, and random terms."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Variable:
    """A column, optionally with a function applied."""

    column: str
    function: str = ""

    def __str__(self) -> str:
        return f"{self.function}({self.column})" if self.function else self.column


Term: TypeAlias = tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum of terms, with or without an intercept. Terms are sorted by order, and variables by first mention, as in R."""

    intercept: bool
    terms: tuple[Term, ...]

    def __str__(self) -> str:
        return " + ".join([str(int(self.intercept)), *(":".join(map(str, term)) for term in self.terms)])


@dataclass(frozen=True, slots=True)
class Bar:
    """A random term: correlated effects that vary between the levels of crossed columns."""

    effects: Sum
    group: tuple[str, ...]

    def __str__(self) -> str:
        return f"({self.effects} | {':'.join(self.group)})"


@dataclass(frozen=True, slots=True)
class Model:
    """A parsed model formula."""

    text: str
    response: Variable
    fixed: Sum
    bars: tuple[Bar, ...]

    def __str__(self) -> str:
        return " + ".join([f"{self.response} ~ {self.fixed}", *map(str, self.bars)])


def joined(left: Term, right: Term) -> Term:
    """Return the interaction of two terms, with each variable included once."""
    return tuple(dict.fromkeys(left + right))


def ordered(intercept: bool, terms: Sequence[Term]) -> Sum:
    """Sort terms: main effects before interactions, and variables of an interaction in the order of first mention."""
    order = {variable: None for term in terms for variable in term}
    mention = {variable: number for number, variable in enumerate(order)}
    inner = [tuple(sorted(term, key=mention.__getitem__)) for term in terms]
    return Sum(intercept, tuple(sorted(inner, key=len)))


def apart(effects: Sum) -> list[Sum]:
    """Split a random term into uncorrelated effects: `(1 + x || g)` becomes `(1 | g) + (0 + x | g)`."""
    return [Sum(True, ())] * effects.intercept + [Sum(False, (term,)) for term in effects.terms]
