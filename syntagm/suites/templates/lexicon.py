"""Lexical classes, and the words that can fill a slot.

A class is a table. Each row is a word; the columns are its forms and features. The cell of a feature contains a set of
values, for instance `person/animal`. `-` stands for the empty set or a missing form.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from syntagm.core import InputError, did_you_mean, toml
from syntagm.suites.templates import cells, expression
from syntagm.suites.templates.cells import MISSING
from syntagm.suites.templates.expression import Expression
from syntagm.suites.templates.index import Index

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
        """Return whether the words have a column."""
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
