"""Variables, rules and phrases: what makes the configurations of a template."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from syntagm.core import InputError, known, need, toml
from syntagm.suites.templates import cells, expression, lexicon, pattern
from syntagm.suites.templates.expression import VARIABLE, Expression
from syntagm.suites.templates.lexicon import Choice, Lexicon
from syntagm.suites.templates.pattern import Pattern
from syntagm.suites.templates.spelling import tidy

MAX_WEIGHT = 1_000_000
SLOTS = "slots"

_HEADER = re.compile(r"(\w[\w-]*)\(([^()]*)\)|(\w[\w-]*)")
_PARAMETER = re.compile(r"\$?\w[\w-]*")


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable: its values, and the conditions on other variables under which it exists."""

    values: tuple[str, ...]
    when: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Alternative:
    """An alternative of a rule or phrase: its pattern, the conditions under which it is possible, and its weight."""

    pattern: Pattern
    when: tuple[Expression, ...] = ()
    weight: int = 1


@dataclass(frozen=True, slots=True)
class Phrase:
    """A rule or phrase."""

    name: str
    place: str  # its place, for messages
    alternatives: Mapping[str, Alternative]  # the alternatives by name
    # The names of its parameters. Those that begin with `$` are values, the others are slots.
    parameters: tuple[str, ...] = ()
    choices: Mapping[str, Choice] = field(default_factory=dict)  # its own slots
    single: bool = False  # whether it has just one text, so that it is no variable


def variable(value: Any, place: str) -> Variable:
    """Return a variable from a list of values, or from a table `{ values = [...], when = "..." }`."""
    when: tuple[Expression, ...] = ()
    if isinstance(value, dict):
        known(value, ("values", "when"), place)
        when = _guard(value, place)
        value = value.get("values", [])
    texts = tuple(tidy(need(text, str, place)) for text in need(value, list, place))
    if not texts or len(set(texts)) < len(texts):
        raise InputError(place, toml.shown(list(texts)), "a list of different values")
    if longest := next((text for text in texts if len(text) > cells.MAX_CELL), ""):
        raise InputError(place, f"a value of {len(longest):,} characters", f"at most {cells.MAX_CELL:,}")
    return Variable(texts, when)


def _guard(table: Mapping[str, Any], place: str) -> tuple[Expression, ...]:
    text = need(table.get("when", ""), str, f"{place}, when")
    return expression.parse(text, f"{place}, when", VARIABLE)


def rule(name: str, value: Any, place: str) -> Phrase:
    """Return a rule from a list of alternatives, or from alternatives by name."""
    if not isinstance(value, list | dict):
        raise InputError(place, toml.shown(value), "a list of patterns, or patterns by name")
    return Phrase(name, place, _alternatives(value, place))


def phrase(header: str, value: Any, place: str) -> Phrase:
    """Return a phrase, `name(slot, $value)`, from a text, a list, or a table of alternatives and slots."""
    match = _HEADER.fullmatch(header.strip())
    parameters = tuple(part.strip() for part in (match[2] or "").split(",")) if match and match[2] else ()
    if not match or not all(_PARAMETER.fullmatch(part) for part in parameters):
        raise InputError(place, f"the name {toml.shown(header)}", "name(slot, $value), such as np(head, $number)")
    if len({part.removeprefix(VARIABLE) for part in parameters}) < len(parameters):
        raise InputError(place, f"a parameter twice in {toml.shown(header)}", "each parameter once")
    choices: dict[str, Choice] = {}
    if isinstance(value, dict):
        value = dict(value)
        own = need(value.pop(SLOTS, {}), dict, f"{place}, {SLOTS}")
        for slot, text in own.items():
            at = f"{place}, {SLOTS}, {slot:.100}"
            if not re.fullmatch(r"\w[\w-]*", slot) or slot in parameters:
                raise InputError(
                    at, f"the name {toml.shown(slot)} for a slot", "another name, of letters, digits, _ and -"
                )
            choices[slot] = lexicon.choice(slot, need(text, str, at), at)
    elif not isinstance(value, str | list):
        raise InputError(place, toml.shown(value), "a pattern, a list of patterns, or patterns by name")
    single = isinstance(value, str)
    alternatives = _alternatives([value] if single else value, place)
    return Phrase(match[1] or match[3], place, alternatives, parameters, choices, single)


@lru_cache(maxsize=4)
def of_lexicon(words: Lexicon) -> Mapping[str, Phrase]:
    """Return the phrases of a lexicon by name. They are read once, since many suites may share the lexicon."""
    phrases: dict[str, Phrase] = {}
    for header, (value, place) in words.phrases.items():
        made = phrase(header, value, place)
        if phrases.setdefault(made.name, made) is not made:
            raise InputError(place, f"a second phrase called {made.name}", "each name once")
    return phrases


def _alternatives(value: list[Any] | dict[str, Any], place: str) -> dict[str, Alternative]:
    """Return alternatives by name. The alternatives in a list are called 1, 2, 3."""
    if isinstance(value, list):
        value = {str(number): text for number, text in enumerate(value, 1)}
    if not value:
        raise InputError(place, "[]", "a list of patterns, or patterns by name")
    return {name: _alternative(content, f"{place}, {name}") for name, content in value.items()}


def _alternative(value: Any, place: str) -> Alternative:
    when: tuple[Expression, ...] = ()
    weight = 1
    if isinstance(value, dict):
        known(value, ("text", "when", "weight"), place)
        when, weight = _guard(value, place), value.get("weight", 1)
        if isinstance(weight, bool) or not isinstance(weight, int) or not 1 <= weight <= MAX_WEIGHT:
            raise InputError(f"{place}, weight", toml.shown(weight), f"a whole number from 1 to {MAX_WEIGHT:,}")
        if "text" not in value:
            raise InputError(place, "no text", 'a pattern: { text = "...", when = "..." }')
        value = value["text"]
    parsed = pattern.parse(need(value, str, place), place)
    if parsed.split:
        raise InputError(place, "a region border", "a pattern without |", "Put the borders into the conditions.")
    return Alternative(parsed, when, weight)
