"""Lexical classes, and conditions on the words that can fill a slot.

A class is a table. Each row is a word; the columns are its forms and features. The cell of a feature contains a set of
values, for instance `person/animal`. `-` stands for the empty set or a missing form.
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
    """A word: forms and features by name, from a row of a class or of a table of items."""

    place: str
    forms: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LexicalClass:
    """A lexical class: its columns and its words. Its first column is the form used for `{slot}` without a form."""

    name: str
    place: str
    columns: tuple[str, ...]
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition: `column = values`, `column = $variable`, `column = slot.other`, or `!= slot`.

    `negative` is true if the operator is `!=`.
    """

    text: str
    column: str
    negative: bool
    variable: str = ""
    slot: str = ""
    other: str = ""
    values: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Choice:
    """The words that can fill a slot: those of a class that meet all conditions."""

    slot: str
    place: str
    lexical_class: str
    conditions: tuple[Condition, ...] = ()


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
    return LexicalClass(name, place, table.columns, tuple(Word(row.place, row.cells) for row in table.rows))


def choice(slot: str, text: str, place: str) -> Choice:
    """Parse the choice for a slot, `class[condition, condition]`.

    Raises:
        InputError: the text is not such a choice.

    >>> [condition.text for condition in choice("object", "noun[kind = verb.object, != subject]", "here").conditions]
    ['kind = verb.object', '!= subject']
    """
    match = _SLOT.fullmatch(text)
    if not match:
        raise InputError(place, shown(text), "a class, with conditions in brackets: noun[kind = person]")
    parts = [part.strip() for part in (match[2] or "").split(",")]
    if len(parts) > MAX_CONDITIONS:
        raise InputError(place, f"{len(parts):,} conditions", f"at most {MAX_CONDITIONS}")
    return Choice(slot, place, match[1], tuple(_condition(part, place) for part in parts if part))


def _condition(text: str, place: str) -> Condition:
    match = _CONDITION.fullmatch(text)
    if not match:
        cure = "A row without a value fails every = and meets every !=." if text.rstrip().endswith("-") else ""
        raise InputError(place, f"the condition {shown(text)}", _EXPECTED, cure)
    column, negative = match["column"] or "", match["operator"] == "!="
    if column:
        listed = values(match["values"] or "")
        groups = {name: match[name] or "" for name in ("variable", "slot", "other")}
        return Condition(text, column, negative, values=listed, **groups)
    if not negative or not match["values"] or "/" in match["values"]:
        raise InputError(place, f"the condition {shown(text)}", _EXPECTED)
    return Condition(text, "", True, slot=match["values"])


@lru_cache(maxsize=100_000)
def values(cell: str) -> frozenset[str]:
    """Return the set of values in a cell.

    >>> sorted(values("person / animal")), sorted(values("-"))
    (['animal', 'person'], [])
    """
    return frozenset() if cell == cells.MISSING else frozenset(filter(None, map(str.strip, cell.split("/"))))


def holds(condition: Condition, word: Word, chosen: Mapping[str, str], filled: Mapping[str, Word]) -> bool:
    """Return whether a word meets a condition.

    Arguments:
        chosen: the values of variables.
        filled: the words in earlier slots.
    """
    if not condition.column:
        return word is not filled[condition.slot]
    if condition.variable:
        required = frozenset({chosen[condition.variable]})
    elif condition.slot:
        required = values(filled[condition.slot].forms[condition.other])
    else:
        required = condition.values
    return bool(values(word.forms[condition.column]) & required) != condition.negative


def check(choices: Sequence[Choice], classes: Mapping[str, LexicalClass], variables: Sequence[str]) -> None:
    """Refuse conditions that name a class, column, variable or earlier slot that doesn't exist.

    A slot without a choice, which has the name of a class, comes before all others.

    Raises:
        InputError: a name doesn't exist; the message lists the existing names.
    """
    listed = {choice.slot for choice in choices}
    before = {name: lexical_class for name, lexical_class in classes.items() if name not in listed}
    for choice in choices:
        if choice.lexical_class not in classes:
            raise InputError(
                choice.place, f"no class {choice.lexical_class!r}", f"one of the classes: {shorten(classes)}"
            )
        own = classes[choice.lexical_class]
        for condition in choice.conditions:
            for name, kind, names in _unknown(condition, own, variables, before):
                raise InputError(
                    f"{choice.place}, {condition.text}", f"no {kind} {name!r}", f"one of: {shorten(names)}"
                )
        before[choice.slot] = own


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


def shorten(names: Iterable[str]) -> str:
    """List at most 20 names for a message, because a lexicon may have hundreds."""
    listed = list(names)
    return (", ".join(listed[:20]) + (", ..." if len(listed) > 20 else "")) or "none"
