"""Lexical classes, inverted indices of their words, the words that can fill a slot, and vocabularies that limit them.

A class is a table. Each row is a word; the columns are its forms and features. The cell of a feature contains a set of
values, for instance `person/animal`. `-` stands for the empty set or a missing form.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from syntagm.core import InputError, did_you_mean, toml
from syntagm.suites.languages import spelling
from syntagm.suites.templates import cells, expression
from syntagm.suites.templates.cells import MISSING
from syntagm.suites.templates.expression import All, Any, Expression, Has, Not, Share, cell_has, holds, values

FEW = 100  # one of so many members


@dataclass(slots=True)
class Index:
    """The members with each value of each column, as sets of bits: bit i stands for member i."""

    members: Sequence[Mapping[str, str]]  # the cells of each member by column
    full: int = field(init=False)
    _columns: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    _masks: dict[tuple[str, str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.full = (1 << len(self.members)) - 1

    def column(self, name: str) -> Mapping[str, Sequence[int]]:
        """Return the numbers of the members by value of a column. The value `-` stands for no value."""
        if name not in self._columns:
            numbers: dict[str, list[int]] = {}
            for number, member in enumerate(self.members):
                for value in values(member.get(name, MISSING)) or (MISSING,):
                    numbers.setdefault(value, []).append(number)
            self._columns[name] = numbers
        return self._columns[name]

    def any(self, name: str, wanted: Iterable[str]) -> int:
        result, few = 0, list[int]()
        column = self.column(name)
        for value in wanted:
            numbers = column.get(value, ())
            # A column may have as many values as there are members. So only large sets are kept.
            if len(numbers) * FEW < len(self.members):
                few += numbers
            else:
                if (name, value) not in self._masks:
                    self._masks[name, value] = mask_of(numbers, len(self.members))
                result |= self._masks[name, value]
        return result | mask_of(few, len(self.members)) if few else result

    def present(self, form: str) -> int:
        """Return the members that have a form: its cell isn't `-`."""
        key = form, "\0"
        if key not in self._masks:
            numbers = [number for number, member in enumerate(self.members) if member.get(form, MISSING) != MISSING]
            self._masks[key] = mask_of(numbers, len(self.members))
        return self._masks[key]

    def meeting(self, expression: Expression, slot: str, others: Mapping[str, Mapping[str, str]]) -> int:
        """Return the members that meet a bound condition without `!= slot`."""
        if isinstance(expression, Has):
            if expression.ref.slot == slot:
                return self.any(expression.ref.name, expression.values)
            cell = others[expression.ref.slot].get(expression.ref.name, MISSING)
            return self.full if cell_has(cell, expression.values) else 0
        if isinstance(expression, Share):
            return self._sharing(expression, slot, others)
        if isinstance(expression, Not):
            return self.full & ~self.meeting(expression.part, slot, others)
        if isinstance(expression, All):
            result = self.full
            for part in expression.parts:
                result &= self.meeting(part, slot, others)
            return result
        if isinstance(expression, Any):
            result = 0
            for part in expression.parts:
                result |= self.meeting(part, slot, others)
            return result
        raise AssertionError("!= slot compares words, not groups of words")

    def _sharing(self, share: Share, slot: str, others: Mapping[str, Mapping[str, str]]) -> int:
        own, other = (share.ref, share.other) if share.ref.slot == slot else (share.other, share.ref)
        if own.slot != slot or other.slot == slot:
            numbers = (
                number for number, member in enumerate(self.members) if holds(share, {**others, slot: member}, {})
            )
            return mask_of(list(numbers), len(self.members))
        return self.any(own.name, values(others[other.slot].get(other.name, MISSING)))


def mask_of(numbers: Sequence[int], size: int) -> int:
    if len(numbers) * FEW < size:
        result = 0
        for number in numbers:
            result |= 1 << number
        return result
    digits = bytearray(b"0") * size
    for number in numbers:
        digits[size - 1 - number] = 49
    return int(digits, 2) if size else 0


_FLAGS = bytes(max(0, value - 48) if value < 50 else 0 for value in range(256))


def flags(mask: int, size: int) -> bytes:
    """Return a byte 0 or 1 for each member, from the first.

    >>> list(flags(0b1010, 5))
    [0, 1, 0, 1, 0]
    """
    return f"{mask:0{size}b}".encode().translate(_FLAGS)[::-1] if size else b""


CLASS = "class"
FIRST = ""
MAX_ARMS = 50
MAX_DEPTH = 20

_NAME = r"\w[\w-]*+"
_ARM = re.compile(rf"\s*+({_NAME})\s*+(?:\[([^\[\]]*)\])?\s*+")


@dataclass(frozen=True, slots=True, eq=False)
class Word:
    """A word: forms and features by name, from a row of a class or of a table of items."""

    # `entry` names the entry that the word belongs to: all uses of a verb are one entry.

    place: str
    forms: Mapping[str, str]
    entry: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class LexicalClass:
    """A lexical class: its columns and its words. Its first column is the form used for `{slot}` without a form."""

    # Each word has two further columns: `class`, the name of the class, and the empty name, which is its first form.

    name: str
    place: str
    columns: tuple[str, ...]
    words: tuple[Word, ...]
    # The values of each column, if a schema declares them. For other columns, those that occur.
    declared: Mapping[str, frozenset[str]] = field(default_factory=dict)
    features: frozenset[str] = frozenset()  # the columns that are no forms, if a schema says so
    index: Index = field(default_factory=lambda: Index(()))

    def has(self, column: str) -> bool:
        return column in self.columns or column in (CLASS, FIRST)

    def values(self, column: str) -> Iterable[str]:
        """Return the values that a column can have: those that are declared, or those that occur."""
        return self.declared[column] if column in self.declared else self.index.column(column)


@dataclass(frozen=True, slots=True)
class Arm:
    """A part of a union: a class, or an alias of a union, and the conditions on its words."""

    name: str
    conditions: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """The words that can fill a slot: those of one of several classes that meet its conditions."""

    slot: str
    place: str
    text: str
    arms: tuple[Arm, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """Classes, aliases of unions of classes, and the sections of phrases, by name; and the tag of the language, if it is said."""

    classes: Mapping[str, LexicalClass] = field(default_factory=dict)
    aliases: Mapping[str, Choice] = field(default_factory=dict)
    phrases: Mapping[str, tuple[object, str]] = field(default_factory=dict)
    language: str = ""


def lexical_class(name: str, text: str, place: str) -> LexicalClass:
    """Read a class from a table.

    Raises:
        InputError: the text is not such a table.

    >>> [word.forms["pl"] for word in lexical_class("noun", "sg | pl\\nox | oxen\\nfish | fish", "here").words]
    ['oxen', 'fish']
    """
    table = cells.read(text, place)
    for column in table.columns:
        if "." in column:
            expected = "the name of a form or feature without a dot"
            raise InputError(f"{place}, column {column}", "a dot", expected, f"Write {column.rpartition('.')[2]}.")
    return of_words(name, place, table.columns, [(row.place, row.place, row.cells) for row in table.rows])


def of_words(
    name: str,
    place: str,
    columns: tuple[str, ...],
    rows: Iterable[tuple[str, str, Mapping[str, str]]],
    declared: Mapping[str, frozenset[str]] | None = None,
    features: frozenset[str] = frozenset(),
) -> LexicalClass:
    """Return a class of words. Each row is a place, an entry, and the cells."""
    words = tuple(
        Word(where, {CLASS: name, **by_column, FIRST: by_column[columns[0]]}, entry) for where, entry, by_column in rows
    )
    index = Index([word.forms for word in words])
    return LexicalClass(name, place, columns, words, declared or {}, features, index)


def choice(slot: str, text: str, place: str) -> Choice:
    """Parse the choice for a slot, `class[condition, condition] | class`.

    Raises:
        InputError: the text is not such a choice.

    >>> [arm.name for arm in choice("object", "noun[kind = verb.object, != subject] | name", "here").arms]
    ['noun', 'name']
    """
    expression.refuse_long(text, place)
    parts = text.split("|")
    if len(parts) > MAX_ARMS:
        raise InputError(place, f"{len(parts):,} classes", f"at most {MAX_ARMS}")
    arms = []
    for part in parts:
        match = _ARM.fullmatch(part)
        if not match:
            raise InputError(place, toml.shown(text), "a class, with conditions in brackets: noun[kind = person]")
        arms.append(Arm(match[1], expression.parse(match[2] or "", place)))
    return Choice(slot, place, text, tuple(arms))


def arms(choice: Choice, lexicon: Lexicon) -> list[tuple[LexicalClass, tuple[Expression, ...]]]:
    """Return the classes that a choice names, each with its conditions. Aliases are replaced by the classes they name."""
    result: list[tuple[LexicalClass, tuple[Expression, ...]]] = []
    _collect(choice, lexicon, (), (), result)
    return result


def _collect(
    choice: Choice,
    lexicon: Lexicon,
    above: tuple[str, ...],
    conditions: tuple[Expression, ...],
    result: list[tuple[LexicalClass, tuple[Expression, ...]]],
) -> None:
    for arm in choice.arms:
        if arm.name in lexicon.classes:
            result.append((lexicon.classes[arm.name], conditions + arm.conditions))
        elif arm.name not in lexicon.aliases:
            refuse_unknown(arm.name, "class", [*lexicon.classes, *lexicon.aliases], choice.place, "one of the classes")
        elif arm.name in above or len(above) > MAX_DEPTH:
            way = " -> ".join([*above, arm.name])
            raise InputError(choice.place, f"a class that leads back to itself: {way:.200}", "a class made of others")
        else:
            alias = lexicon.aliases[arm.name]
            _collect(alias, lexicon, (*above, arm.name), conditions + arm.conditions, result)
        if len(result) > MAX_ARMS:
            raise InputError(choice.place, f"more than {MAX_ARMS} classes", f"at most {MAX_ARMS}")


def refuse_column(name: str, classes: Sequence[LexicalClass], place: str) -> None:
    """Refuse a column that none of the classes has."""
    if not any(own.has(name) for own in classes):
        names = [column for own in classes for column in own.columns]
        which = "class " + " or ".join(dict.fromkeys(own.name for own in classes))
        refuse_unknown(name, f"column in {which}", names, place)


def refuse_values(wanted: Iterable[str], column: str, classes: Sequence[LexicalClass], place: str) -> None:
    """Refuse values that a column can't have in any of the classes."""
    allowed = {value: None for own in classes if own.has(column) for value in own.values(column)}
    for value in wanted:
        if value != MISSING and value not in allowed:
            refuse_unknown(value, f"value of {column}", sorted(set(allowed) - {MISSING}), place)


def refuse_unknown(
    name: str, kind: str, names: Iterable[str], place: str, expected: str = "one of", of: str = ""
) -> NoReturn:
    """Raise an error that says which names there are, and which of them is nearest."""
    known = list(dict.fromkeys(names))
    found = f"no {kind} {name[:100]!r}{of}"
    raise InputError(place, found, f"{expected}: {shorten(known)}", did_you_mean(name, known))


def shorten(names: Iterable[str]) -> str:
    """List at most 20 names for a message, because a lexicon may have hundreds."""
    listed = list(names)
    return (", ".join(f"{name:.100}" for name in listed[:20]) + (", ..." if len(listed) > 20 else "")) or "none"


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The words of a list or of a model."""

    about: str
    split: Callable[[str], Sequence[str]]  # function that splits a sentence into words as the source does
    known: Callable[[str], bool]  # function that returns whether a word is in the source
    _masks: dict[tuple[int, str], tuple[LexicalClass, int]] = field(default_factory=dict)

    def unknown(self, text: str) -> str:
        """Return the first unknown word of a sentence, or ""."""
        return next((word for word in self.split(text) if not self.known(word)), "")

    def having(self, own: LexicalClass, form: str) -> int:
        """Return the words of a class with a known form, as a set of bits."""
        # A form counts as known if it is with or without a capital, because a sentence may begin with it. Whether each
        # word of the sentence is known is checked when the sentence is made.
        key = id(own), form
        if key not in self._masks:
            # The class is kept, too, so that no other object gets its id.
            cells = (word.forms.get(form, MISSING) for word in own.words)
            numbers = [number for number, cell in enumerate(cells) if cell != MISSING and self._allows(cell)]
            self._masks[key] = own, mask_of(numbers, len(own.words))
        return self._masks[key][1]

    def _allows(self, form: str) -> bool:
        parts = self.split(spelling.plain(form))
        return all(self.known(part) or self.known(part.lower()) or self.known(part.capitalize()) for part in parts)


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The vocabulary of one template, and the entries that it leaves."""

    words: Words  # the words of the source
    met: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)  # those of them whose forms are known
