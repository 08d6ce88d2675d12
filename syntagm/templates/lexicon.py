"""Lexical classes, and the conditions under which their words can fill a slot.

A class is a table; each row is a word, with its forms and features by column. A cell of a feature holds a set of values,
`person/animal`; `-` is the empty set, or no such form.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from syntagm.errors import InputError
from syntagm.io.toml import shown
from syntagm.templates import cells

MAX_CONDITIONS = 50

_NAME = r"\w[\w-]*+"
_SLOT = re.compile(rf"\s*({_NAME})\s*(?:\[([^\[\]]*)\])?\s*")
_CONDITION = re.compile(
    rf"(?P<column>{_NAME})?\s*(?P<operator>!?=)\s*"
    rf"(?:\$(?P<variable>{_NAME})|(?P<slot>{_NAME})\.(?P<other>{_NAME})|(?P<values>{_NAME}(?:\s*/\s*{_NAME})*))"
)
_EXPECTED = "column = value, column = $variable, column = slot.column (or != for =), or != slot"


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
            expected = "the name of a form or feature alone"
            raise InputError(f"{place}, column {column}", "a dot", expected, f"Write {column.rpartition('.')[2]}.")
    return LexicalClass(name, place, table.columns, tuple(Word(row.place, row.cells) for row in table.rows))


def choice(slot: str, text: str, place: str) -> Choice:
    """What `class[condition, condition]` says about a slot; InputError if it says nothing.

    >>> [one.text for one in choice("object", "noun[kind = verb.object, != subject]", "here").conditions]
    ['kind = verb.object', '!= subject']
    """
    found = _SLOT.fullmatch(text)
    if not found:
        raise InputError(place, shown(text), "a class, with conditions in brackets: noun[kind = person]")
    parts = [part.strip() for part in (found[2] or "").split(",")]
    if len(parts) > MAX_CONDITIONS:
        raise InputError(place, f"{len(parts):,} conditions", f"at most {MAX_CONDITIONS}")
    return Choice(slot, place, found[1], tuple(_condition(part, place) for part in parts if part))


def _condition(text: str, place: str) -> Condition:
    found = _CONDITION.fullmatch(text)
    if not found:
        cure = "A row without a value has none that is =, and is always !=." if text.rstrip().endswith("-") else ""
        raise InputError(place, f"the condition {shown(text)}", _EXPECTED, cure)
    column, negative = found["column"] or "", found["operator"] == "!="
    if column:
        listed = values(found["values"] or "")
        named = {name: found[name] or "" for name in ("variable", "slot", "other")}
        return Condition(text, column, negative, values=listed, **named)
    if not negative or not found["values"] or "/" in found["values"]:
        raise InputError(place, f"the condition {shown(text)}", _EXPECTED)
    return Condition(text, "", True, slot=found["values"])


@lru_cache(maxsize=100_000)
def values(cell: str) -> frozenset[str]:
    """The values in a cell.

    >>> sorted(values("person / animal")), sorted(values("-"))
    (['animal', 'person'], [])
    """
    return frozenset() if cell == cells.MISSING else frozenset(filter(None, map(str.strip, cell.split("/"))))


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

    A slot that isn't among the choices is earlier than all of them, if there is a class of its name.

    Raises:
        InputError: naming the slot and what there is.
    """
    listed = {one.slot for one in choices}
    before = {name: one for name, one in classes.items() if name not in listed}
    for one in choices:
        if one.lexical_class not in classes:
            raise InputError(one.place, f"no class {one.lexical_class!r}", f"one of the classes: {some(classes)}")
        for condition in one.conditions:
            for found, kind, there in _unknown(condition, classes[one.lexical_class], variables, before):
                raise InputError(f"{one.place}, {condition.text}", f"no {kind} {found!r}", f"one of: {some(there)}")
        before[one.slot] = classes[one.lexical_class]


def _unknown(
    condition: Condition, own: LexicalClass, variables: Sequence[str], before: Mapping[str, LexicalClass]
) -> Iterator[tuple[str, str, Iterable[str]]]:
    if condition.column and condition.column not in own.columns:
        yield condition.column, f"column in class {own.name}", own.columns
    if condition.variable and condition.variable not in variables:
        yield condition.variable, "variable", variables
    if condition.slot and condition.slot not in before:
        yield condition.slot, "slot before this one", before
    elif condition.other and condition.other not in before[condition.slot].columns:
        yield condition.other, f"column in class {before[condition.slot].name}", before[condition.slot].columns


def some(names: Iterable[str]) -> str:
    """Names for a message: a lexicon may have hundreds."""
    listed = list(names)
    return (", ".join(listed[:20]) + (", ..." if len(listed) > 20 else "")) or "none"
