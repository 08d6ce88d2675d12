"""Patterns, such as `The | {head.sg} | {prep} the | {verb.$number} | {rest}`; variables, rules and phrases."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from syntagm.core import InputError, known, need, toml
from syntagm.suites.templates import cells, expression, lexicon
from syntagm.suites.templates.cells import MISSING
from syntagm.suites.templates.expression import VARIABLE, Expression
from syntagm.suites.templates.lexicon import Choice, Lexicon
from syntagm.suites.templates.spelling import join, tidy

MAX_LENGTH = 10_000

_PIECE = re.compile(r"\{([^{}]*)\}|([^{}]+)|([{}])")
_NAME = r"\w[\w-]*"
_SLOT = re.compile(rf"\s*+(?:\$(?P<variable>{_NAME})|(?P<slot>{_NAME})(?:\.(?P<how>[$!]?)(?P<form>{_NAME}))?)\s*+")
_CALL = re.compile(rf"\s*+(?P<slot>{_NAME})\(\s*+(?P<arguments>[$!]?{_NAME}(?:\s*+,\s*+[$!]?{_NAME})*+)?\s*+\)\s*+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A literal, a variable that is inserted as text, a form of a slot, or the use of a rule or phrase."""

    glued: bool  # whether the piece follows without a space
    literal: str = ""
    variable: str = ""
    slot: str = ""
    form: str = ""
    # What `form` names. "" means a form, `$` a variable whose value is the form, and `!` a variable with two values, of
    # which the other value is the form.
    how: str = ""
    # The arguments of a phrase, which `slot` names; None if there are no brackets.
    arguments: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern: a text and the pieces of each region. `split` is true if the text has region borders."""

    text: str
    place: str
    regions: tuple[tuple[Piece, ...], ...]
    split: bool

    def pieces(self) -> Iterator[Piece]:
        for region in self.regions:
            yield from region


def parse(text: str, place: str) -> Pattern:
    """Parse a pattern.

    Raises:
        InputError: a brace isn't closed, braces contain anything other than a slot, or there are more than 10,000
            characters.

    >>> [piece.slot or piece.literal for piece in parse("The {head.pl} | {verb}s, then", "here").pieces()]
    ['The', 'head', 'verb', 's, then']
    """
    if len(text) > MAX_LENGTH:
        raise InputError(place, f"a pattern of {len(text):,} characters", f"at most {MAX_LENGTH:,}")
    regions = tuple(tuple(_pieces(region, place)) for region in text.split("|"))
    return Pattern(text, place, regions, len(regions) > 1)


def _pieces(region: str, place: str) -> Iterator[Piece]:
    after_space = True
    for match in _PIECE.finditer(region):
        inside, literal, brace = match.groups()
        if brace:
            found = f"a brace that isn't {'closed' if brace == '{' else 'opened'} in {toml.shown(region.strip())}"
            raise InputError(place, found, "{slot} or {slot.form}", "Close it in the same region.")
        if literal is None:
            yield _slot(inside, place, glued=not after_space)
            after_space = False
        elif literal.strip():
            yield Piece(glued=not after_space and not literal[0].isspace(), literal=tidy(literal))
            after_space = literal[-1].isspace()
        else:
            after_space = True


def _slot(inside: str, place: str, glued: bool) -> Piece:
    if call := _CALL.fullmatch(inside):
        arguments = (part.strip() for part in (call["arguments"] or "").split(","))
        return Piece(glued, slot=call["slot"], arguments=tuple(part for part in arguments if part))
    match = _SLOT.fullmatch(inside)
    if not match:
        expected = "{slot}, {slot.form}, {slot.$variable}, {slot.!variable}, {$variable} or {phrase(slot, $variable)}"
        raise InputError(place, f"{{{inside:.60}}}", expected)
    variable, slot, how, form = (match[name] or "" for name in ("variable", "slot", "how", "form"))
    return Piece(glued, "", variable, slot, form, how)


def fill(region: tuple[Piece, ...], words: Mapping[str, Mapping[str, str]]) -> str:
    """Return the text of a region of a resolved pattern.

    Arguments:
        region: the pieces.
        words: slot -> form -> text.

    >>> pattern = parse("the {head.pl}s, {rest}", "here")
    >>> fill(pattern.regions[0], {"head": {"pl": "dog"}, "rest": {"": "barking"}})
    'the dogs, barking'
    """
    if len(region) == 1:
        [piece] = region
        return words[piece.slot].get(piece.form, MISSING) if piece.slot else piece.literal
    return join(
        [(piece.glued, words[piece.slot].get(piece.form, MISSING) if piece.slot else piece.literal) for piece in region]
    )


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
    parsed = parse(need(value, str, place), place)
    if parsed.split:
        raise InputError(place, "a region border", "a pattern without |", "Put the borders into the conditions.")
    return Alternative(parsed, when, weight)
