"""Conditions on words and variables: `kind = person`, `count = mass => type != numeral`, `not (a = x or b = y)`.

A condition is parsed once, and bound for each configuration: variables and parameters are replaced by their values, and
columns get the name of their slot. A bound condition only speaks of words in slots.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from syntagm.core import InputError, toml
from syntagm.suites.templates.cells import MISSING

MAX_CONDITIONS = 50
MAX_LENGTH = 10_000
MAX_DEPTH = 20
VARIABLE = "$"

_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>'[^']*')|(?P<name>\$?\w[\w-]*(?:\.\w[\w-]*)?)|"
    r"(?P<sign>=>|!=|[=/(),-])|(?P<other>\S))"
)
_EXPECTED = "column = value, column = $variable, column = slot.column (or != for =), or != slot"


@dataclass(frozen=True, slots=True)
class Ref:
    """A column of the word in a slot. The slot `` is the slot that has the condition, and `$` stands for a variable."""

    slot: str
    name: str


@dataclass(frozen=True, slots=True)
class Has:
    """The column has one of the values, or no value if `-` is one of them."""

    ref: Ref
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """Two columns share a value."""

    ref: Ref
    other: Ref


@dataclass(frozen=True, slots=True)
class Differ:
    """Two slots have different entries."""

    slot: str
    other: str


@dataclass(frozen=True, slots=True)
class Not:
    part: "Expression"


@dataclass(frozen=True, slots=True)
class All:
    parts: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Any:
    parts: tuple["Expression", ...]


Expression = Has | Share | Differ | Not | All | Any
TRUE, FALSE = All(()), Any(())


@lru_cache(maxsize=100_000)
def values(cell: str) -> frozenset[str]:
    """Return the set of values in a cell.

    >>> sorted(values("person / animal")), sorted(values("-"))
    (['animal', 'person'], [])
    """
    return frozenset() if cell == MISSING else frozenset(filter(None, map(str.strip, cell.split("/"))))


def parse(text: str, place: str, bare: str = "") -> tuple[Expression, ...]:
    """Parse conditions that are separated by commas.

    Arguments:
        text: the conditions.
        place: their place, for messages.
        bare: what a name without a dot stands for: "" for a column of the slot itself, `$` for a variable.

    Raises:
        InputError: the text is not a list of conditions, has more than 50 of them or more than 10,000 characters, or is
            nested more than 20 deep.

    >>> parse("kind = person/animal, != subject", "here")
    (Has(ref=Ref(slot='', name='kind'), values=('person', 'animal')), Differ(slot='', other='subject'))
    """
    if not text.strip():
        return ()
    refuse_long(text, place)
    parser = _Parser(text, place, bare, [*_tokens(text, place)])
    parts = parser.listed(0)
    if parser.tokens:
        parser.refuse()
    refuse_many(parts, place)
    return tuple(parts)


def refuse_many(conditions: Sequence[Expression], place: str) -> None:
    """Refuse more than 50 conditions."""
    if len(conditions) > MAX_CONDITIONS:
        raise InputError(place, f"{len(conditions):,} conditions", f"at most {MAX_CONDITIONS}", "Join or remove some.")


def refuse_long(text: str, place: str) -> None:
    """Refuse conditions of more than 10,000 characters."""
    if len(text) > MAX_LENGTH:
        cure = "Put the words into a class of their own, or give them a feature that the condition names."
        raise InputError(place, f"conditions of {len(text):,} characters", f"at most {MAX_LENGTH:,}", cure)


def _tokens(text: str, place: str) -> Iterator[tuple[str, str]]:
    for match in _TOKEN.finditer(text.rstrip()):
        kind = match.lastgroup or ""
        if kind == "other":
            raise InputError(place, f"the condition {toml.shown(text.strip())}", _EXPECTED)
        yield kind, match[kind]


@dataclass(slots=True)
class _Parser:
    """A recursive-descent parser: `,` binds most loosely, then `=>`, `or`, `and`, `not`."""

    text: str
    place: str
    bare: str
    tokens: list[tuple[str, str]]

    def __post_init__(self) -> None:
        self.tokens.reverse()

    def refuse(self) -> None:
        raise InputError(self.place, f"the condition {toml.shown(self.text.strip())}", _EXPECTED)

    def ahead(self, *texts: str) -> bool:
        return bool(self.tokens) and self.tokens[-1][0] != "quoted" and self.tokens[-1][1] in texts

    def taken(self, *texts: str) -> bool:
        if self.ahead(*texts):
            self.tokens.pop()
            return True
        return False

    def listed(self, depth: int) -> list[Expression]:
        parts = [self.implication(depth)]
        while self.taken(","):
            # A comma may end the list.
            if self.tokens and not self.ahead(")"):
                parts.append(self.implication(depth))
        return parts

    def implication(self, depth: int) -> Expression:
        if depth > MAX_DEPTH:
            raise InputError(self.place, f"brackets nested more than {MAX_DEPTH} deep", "fewer levels")
        left = self.joined("or", depth)
        return Any((Not(left), self.implication(depth + 1))) if self.taken("=>") else left

    def joined(self, word: str, depth: int) -> Expression:
        def operand() -> Expression:
            return self.joined("and", depth) if word == "or" else self.negated(depth)

        parts = [operand()]
        while self.taken(word):
            parts.append(operand())
        return parts[0] if len(parts) == 1 else Any(tuple(parts)) if word == "or" else All(tuple(parts))

    def negated(self, depth: int) -> Expression:
        if depth > MAX_DEPTH:
            raise InputError(self.place, f"brackets nested more than {MAX_DEPTH} deep", "fewer levels")
        if self.taken("not"):
            return Not(self.negated(depth + 1))
        if self.taken("("):
            parts = self.listed(depth + 1)
            if not self.taken(")"):
                self.refuse()
            return parts[0] if len(parts) == 1 else All(tuple(parts))
        return self.comparison()

    def comparison(self) -> Expression:
        if self.taken("!="):
            kind, other = self.word()
            if kind != "name" or "." in other or other[0] == VARIABLE or self.bare or self.ahead("/"):
                self.refuse()
            return Differ("", other)
        kind, left = self.word()
        negative = self.ahead("!=")
        if kind == "quoted" or left == MISSING or not self.taken("=", "!="):
            self.refuse()
        result = self.right(self.ref(left))
        return Not(result) if negative else result

    def right(self, left: Ref) -> Expression:
        kind, text = self.word()
        if kind == "name" and (text[0] == VARIABLE or "." in text):
            return Share(left, self.ref(text))
        listed = [text.strip("'") if kind == "quoted" else text]
        while self.taken("/"):
            kind, text = self.word()
            if kind == "name" and (text[0] == VARIABLE or "." in text):
                self.refuse()
            listed.append(text.strip("'") if kind == "quoted" else text)
        return Has(left, tuple(listed))

    def word(self) -> tuple[str, str]:
        if not self.tokens or (self.tokens[-1][0] == "sign" and self.tokens[-1][1] != MISSING):
            self.refuse()
        return self.tokens.pop()

    def ref(self, text: str) -> Ref:
        if text[0] == VARIABLE:
            return Ref(VARIABLE, text[1:])
        slot, dot, name = text.partition(".")
        return Ref(slot, name) if dot else Ref(self.bare, text)


def bound(expression: Expression, ref: Callable[[Ref], Ref | str], slot: Callable[[str], str]) -> Expression:
    """Return a condition in which every name is replaced."""
    if isinstance(expression, Has):
        left = ref(expression.ref)
        return Has(left, expression.values) if isinstance(left, Ref) else _constant(left in expression.values)
    if isinstance(expression, Share):
        left, right = ref(expression.ref), ref(expression.other)
        if isinstance(left, Ref):
            return Share(left, right) if isinstance(right, Ref) else Has(left, (right,))
        return Has(right, (left,)) if isinstance(right, Ref) else _constant(left == right)
    if isinstance(expression, Differ):
        return Differ(slot(expression.slot), slot(expression.other))
    if isinstance(expression, Not):
        part = bound(expression.part, ref, slot)
        return FALSE if part == TRUE else TRUE if part == FALSE else Not(part)
    # What follows a part that decides isn't looked at: it may name a variable that doesn't exist in this configuration.
    parts = []
    for inner in expression.parts:
        parts.append(bound(inner, ref, slot))
        if parts[-1] == (FALSE if isinstance(expression, All) else TRUE):
            return parts[-1]
    return conjunction(parts) if isinstance(expression, All) else disjunction(parts)


def _constant(value: bool) -> Expression:
    return TRUE if value else FALSE


def conjunction(parts: Iterable[Expression]) -> Expression:
    remaining = _different(inner for part in parts for inner in (part.parts if isinstance(part, All) else (part,)))
    if FALSE in remaining:
        return FALSE
    return remaining[0] if len(remaining) == 1 else All(tuple(remaining))


def disjunction(parts: Iterable[Expression]) -> Expression:
    remaining = _different(inner for part in parts for inner in (part.parts if isinstance(part, Any) else (part,)))
    if TRUE in remaining:
        return TRUE
    return remaining[0] if len(remaining) == 1 else Any(tuple(remaining))


def _different(parts: Iterable[Expression]) -> list[Expression]:
    return list(dict.fromkeys(parts))


def text(expression: Expression, inside: bool = False) -> str:
    if isinstance(expression, Not):
        if isinstance(expression.part, Has | Share):
            return text(expression.part).replace(" = ", " != ", 1)
        return f"not {text(expression.part, True)}"
    if isinstance(expression, Has):
        return f"{_name(expression.ref)} = {'/'.join(expression.values)}"
    if isinstance(expression, Share):
        return f"{_name(expression.ref)} = {_name(expression.other)}"
    if isinstance(expression, Differ):
        return f"!= {expression.other}"
    joined = (", " if isinstance(expression, All) else " or ").join(text(part, True) for part in expression.parts)
    return f"({joined})" if inside else joined


def _name(ref: Ref) -> str:
    return f"{ref.slot}.{ref.name}" if ref.slot not in ("", VARIABLE) else ref.slot + ref.name


def atoms(expression: Expression) -> Iterator[Has | Share | Differ]:
    if isinstance(expression, Not):
        yield from atoms(expression.part)
    elif isinstance(expression, All | Any):
        for part in expression.parts:
            yield from atoms(part)
    else:
        yield expression


def columns(expression: Expression) -> Iterator[Ref]:
    for atom in atoms(expression):
        if not isinstance(atom, Differ):
            yield atom.ref
            if isinstance(atom, Share):
                yield atom.other


def slots(expression: Expression) -> tuple[str, ...]:
    """Return the slots of a bound condition, each once, in order."""
    named: dict[str, None] = {}
    for atom in atoms(expression):
        if isinstance(atom, Differ):
            named |= {atom.slot: None, atom.other: None}
        else:
            named |= {atom.ref.slot: None} | ({atom.other.slot: None} if isinstance(atom, Share) else {})
    return tuple(named)


def holds(expression: Expression, cells: Mapping[str, Mapping[str, str]], entries: Mapping[str, str]) -> bool:
    if isinstance(expression, Has):
        return cell_has(cells[expression.ref.slot].get(expression.ref.name, MISSING), expression.values)
    if isinstance(expression, Share):
        left, right = (cells[ref.slot].get(ref.name, MISSING) for ref in (expression.ref, expression.other))
        return not values(left).isdisjoint(values(right))
    if isinstance(expression, Differ):
        return entries[expression.slot] != entries[expression.other]
    if isinstance(expression, Not):
        return not holds(expression.part, cells, entries)
    if isinstance(expression, All):
        return all(holds(part, cells, entries) for part in expression.parts)
    return any(holds(part, cells, entries) for part in expression.parts)


def cell_has(cell: str, wanted: Sequence[str]) -> bool:
    """Return whether a cell has one of the values, or no value if `-` is one of them."""
    found = values(cell)
    return any(value in found or (value == MISSING and not found) for value in wanted)
