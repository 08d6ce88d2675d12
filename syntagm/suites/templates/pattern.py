"""Patterns: texts with slots and region borders, such as `The | {head.sg} | {prep} the | {verb.$number} | {rest}`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from syntagm.core import InputError, toml
from syntagm.suites.templates.cells import MISSING
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
        """Yield all pieces, in order."""
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
