"""Patterns: `The | {head.sg} | {prep} the | {verb.$number} | {rest}`, text with slots, in regions."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from syntagm.errors import InputError
from syntagm.grammar.spelling import join, tidy

_PIECE = re.compile(r"\{([^{}]*)\}|([^{}]+)|([{}])")
_SLOT = re.compile(r"\s*(?:\$(?P<variable>[\w-]+)|(?P<slot>[\w-]+)(?:\.(?P<how>[$!]?)(?P<form>[\w-]+))?)\s*")


@dataclass(frozen=True, slots=True)
class Piece:
    """A literal, a variable as text, or a form of a slot. `how` says what `form` names: a form, `$` a variable whose
    value is the form, `!` a variable whose other value is. A glued piece follows without a blank."""

    glued: bool
    literal: str = ""
    variable: str = ""
    slot: str = ""
    form: str = ""
    how: str = ""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A text and its regions, each of pieces; `split` says whether the text names regions at all."""

    text: str
    place: str
    regions: tuple[tuple[Piece, ...], ...]
    split: bool

    def pieces(self) -> Iterator[Piece]:
        """All pieces, in order."""
        for region in self.regions:
            yield from region


def parse(text: str, place: str) -> Pattern:
    """The pattern that a text says.

    Raises:
        InputError: a brace that isn't closed, or something in braces that is no slot.

    >>> [piece.slot or piece.literal for piece in parse("The {head.pl} | {verb}s, then", "here").pieces()]
    ['The', 'head', 'verb', 's, then']
    """
    regions = tuple(tuple(_pieces(region, place)) for region in text.split("|"))
    return Pattern(text, place, regions, len(regions) > 1)


def _pieces(region: str, place: str) -> Iterator[Piece]:
    blank = True
    for found in _PIECE.finditer(region):
        inside, literal, brace = found.groups()
        if brace:
            raise InputError(
                place, f"a brace that isn't closed or opened in {region.strip()!r}", "{slot} or {slot.form}"
            )
        if literal is None:
            yield _slot(inside, place, glued=not blank)
            blank = False
        elif literal.strip():
            yield Piece(glued=not blank and not literal[0].isspace(), literal=tidy(literal))
            blank = literal[-1].isspace()
        else:
            blank = True


def _slot(inside: str, place: str, glued: bool) -> Piece:
    found = _SLOT.fullmatch(inside)
    if not found:
        expected = "{slot}, {slot.form}, {slot.$variable}, {slot.!variable} or {$variable}"
        raise InputError(place, "{" + inside + "}", expected)
    named = {name: value or "" for name, value in found.groupdict().items()}
    return Piece(glued, **named)


def expand(pattern: Pattern, rules: Mapping[str, Mapping[str, Pattern]], chosen: Mapping[str, str]) -> Pattern:
    """The pattern with each rule replaced by the alternative that is chosen for it.

    Raises:
        InputError: a rule leads back to itself.
    """
    regions = tuple(tuple(_expanded(region, rules, chosen, pattern.place, ())) for region in pattern.regions)
    return replace(pattern, regions=regions)


def _expanded(
    pieces: tuple[Piece, ...],
    rules: Mapping[str, Mapping[str, Pattern]],
    chosen: Mapping[str, str],
    place: str,
    above: tuple[str, ...],
) -> Iterator[Piece]:
    for piece in pieces:
        if piece.slot not in rules:
            yield piece
            continue
        if piece.slot in above:
            way = " -> ".join([*above[above.index(piece.slot) :], piece.slot])
            raise InputError(place, f"a rule that leads back to itself: {way}", "rules without recursion")
        inner = tuple(rules[piece.slot][chosen[piece.slot]].pieces())
        if inner:
            inner = (replace(inner[0], glued=piece.glued), *inner[1:])
        yield from _expanded(inner, rules, chosen, place, (*above, piece.slot))


def resolve(pattern: Pattern, values: Mapping[str, str], others: Mapping[str, tuple[str, ...]]) -> Pattern:
    """The pattern for one configuration: variables as text, and every form named.

    Arguments:
        pattern: without rules.
        values: the value of each variable.
        others: all values of each variable, from which `!` takes the other one.

    Raises:
        InputError: no such variable, or `!` with a variable that hasn't two values.
    """
    regions = tuple(
        tuple(_resolved(piece, values, others, pattern.place) for piece in region) for region in pattern.regions
    )
    return replace(pattern, regions=regions)


def _resolved(piece: Piece, values: Mapping[str, str], others: Mapping[str, tuple[str, ...]], place: str) -> Piece:
    name = piece.variable or (piece.form if piece.how else "")
    if not name:
        return piece
    if name not in values:
        known = ", ".join(values) or "none; list it in [vary]"
        raise InputError(place, f"no variable {name!r}", f"one of the variables: {known}")
    if piece.variable:
        return Piece(piece.glued, literal=values[name])
    if piece.how == "!" and len(others[name]) != 2:
        raise InputError(place, f"{{{piece.slot}.!{name}}}, but {name} has {len(others[name])} values", "two values")
    form = values[name] if piece.how == "$" else next(value for value in others[name] if value != values[name])
    return replace(piece, form=form, how="")


def fill(region: tuple[Piece, ...], words: Mapping[str, Mapping[str, str]]) -> str:
    """What a region of a resolved pattern holds when each slot is filled by a word, its forms by name.

    >>> pattern = parse("the {head.pl}s, {rest}", "here")
    >>> fill(pattern.regions[0], {"head": {"pl": "dog"}, "rest": {"": "barking"}})
    'the dogs, barking'
    """
    if len(region) == 1:
        [piece] = region
        return words[piece.slot][piece.form] if piece.slot else piece.literal
    return join((piece.glued, words[piece.slot][piece.form] if piece.slot else piece.literal) for piece in region)
