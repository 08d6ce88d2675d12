"""Lexical classes, and the conditions under which their words can fill a slot.

A class is a table; each row is a word, with its forms and features by column. A cell of a feature holds a set of values,
`person/animal`; `-` is the empty set, or no such form.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from syntagm.errors import InputError
from syntagm.grammar import cells

_SLOT = re.compile(r"\s*([\w-]+)\s*(?:\[([^\[\]]*)\])?\s*")
_CONDITION = re.compile(
    r"\s*(?P<column>[\w-]*)\s*(?P<operator>!?=)\s*"
    r"(?:\$(?P<variable>[\w-]+)|(?P<slot>[\w-]+)\.(?P<other>[\w-]+)|(?P<values>[\w-]+(?:\s*/\s*[\w-]+)*))\s*"
)


@dataclass(frozen=True, slots=True, eq=False)
class Word:
    """A row of a class, or what a row of items says about a slot: forms and features by name."""

    place: str
    forms: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LexicalClass:
    """A class: its columns, of which the first is the form that `{slot}` alone stands for, and its words."""

    name: str
    place: str
    columns: tuple[str, ...]
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """`column = values`, `column = $variable`, `column = slot.other`, or `!= slot`; `negative` turns it round."""

    text: str
    column: str
    negative: bool
    variable: str = ""
    slot: str = ""
    other: str = ""
    values: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Choice:
    """What fills a slot: the words of a class that meet all conditions."""

    slot: str
    place: str
    lexical_class: str
    conditions: tuple[Condition, ...] = ()


def lexical_class(name: str, text: str, place: str) -> LexicalClass:
    """The class that a table holds; InputError if it is none.

    >>> [word.forms["pl"] for word in lexical_class("noun", "sg | pl\\nox | oxen\\nfish | fish", "here").words]
    ['oxen', 'fish']
    """
    table = cells.read(text, place)
    for column in table.columns:
        if "." in column:
            raise InputError(f"{place}, column {column}", "a dot", "the name of a form or feature alone")
    return LexicalClass(name, place, table.columns, tuple(Word(row.place, row.cells) for row in table.rows))


def choice(slot: str, text: str, place: str) -> Choice:
    """What `class[condition, condition]` says about a slot; InputError if it says nothing.

    >>> [one.text for one in choice("object", "noun[kind = verb.object, != subject]", "here").conditions]
    ['kind = verb.object', '!= subject']
    """
    found = _SLOT.fullmatch(text)
    if not found:
        raise InputError(place, repr(text), "a class, with conditions in brackets: noun[kind = person]")
    conditions = tuple(_condition(part, place) for part in (found[2] or "").split(",") if part.strip())
    return Choice(slot, place, found[1], conditions)


def _condition(text: str, place: str) -> Condition:
    found = _CONDITION.fullmatch(text)
    expected = "column = value, column = $variable, column = slot.column (or != for =), or != slot"
    if not found:
        raise InputError(place, f"the condition {text.strip()!r}", expected)
    column, negative = found["column"], found["operator"] == "!="
    if column:
        values = frozenset(value.strip() for value in (found["values"] or "").split("/") if value.strip())
        named = {name: found[name] or "" for name in ("variable", "slot", "other")}
        return Condition(text.strip(), column, negative, values=values, **named)
    if not negative or not found["values"] or "/" in found["values"]:
        raise InputError(place, f"the condition {text.strip()!r}", expected)
    return Condition(text.strip(), "", True, slot=found["values"])


def values(cell: str) -> frozenset[str]:
    """The values in a cell.

    >>> sorted(values("person / animal")), sorted(values("-"))
    (['animal', 'person'], [])
    """
    return frozenset() if cell == cells.MISSING else frozenset(part.strip() for part in cell.split("/"))


def holds(condition: Condition, word: Word, chosen: Mapping[str, str], filled: Mapping[str, Word]) -> bool:
    """Does a word meet a condition, given the values of variables and the words in the slots before?"""
    if not condition.column:
        return word is not filled[condition.slot]
    if condition.variable:
        wanted = frozenset({chosen[condition.variable]})
    elif condition.slot:
        wanted = values(filled[condition.slot].forms[condition.other])
    else:
        wanted = condition.values
    return bool(values(word.forms[condition.column]) & wanted) != condition.negative


def check(choices: Sequence[Choice], classes: Mapping[str, LexicalClass], variables: Sequence[str]) -> None:
    """Refuse conditions that name a class, column, variable or earlier slot that there isn't.

    Raises:
        InputError: naming the slot and what there is.
    """
    before: dict[str, LexicalClass] = {}
    for one in choices:
        if one.lexical_class not in classes:
            known = ", ".join(sorted(classes)) or "none"
            raise InputError(one.place, f"no class {one.lexical_class!r}", f"one of the classes: {known}")
        for condition in one.conditions:
            for found, kind, known in _unknown(condition, classes[one.lexical_class], variables, before):
                raise InputError(f"{one.place}, {condition.text}", f"no {kind} {found!r}", f"one of: {known or 'none'}")
        before[one.slot] = classes[one.lexical_class]


def _unknown(
    condition: Condition, own: LexicalClass, variables: Sequence[str], before: Mapping[str, LexicalClass]
) -> Iterator[tuple[str, str, str]]:
    if condition.column and condition.column not in own.columns:
        yield condition.column, f"column in class {own.name}", ", ".join(own.columns)
    if condition.variable and condition.variable not in variables:
        yield condition.variable, "variable", ", ".join(variables)
    if condition.slot and condition.slot not in before:
        yield condition.slot, "slot before this one", ", ".join(before)
    elif condition.other and condition.other not in before[condition.slot].columns:
        columns = before[condition.slot].columns
        yield condition.other, f"column in class {before[condition.slot].name}", ", ".join(columns)
