"""Patterns: `The | {head.sg} | {prep} the | {verb.$number} | {rest}`, text with slots, in regions."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from syntagm.errors import InputError
from syntagm.io.toml import shown
from syntagm.templates.spelling import join, tidy

MAX_LENGTH = 10_000
MAX_PIECES = 1_000
MAX_DEPTH = 20

_PIECE = re.compile(r"\{([^{}]*)\}|([^{}]+)|([{}])")
_NAME = r"\w[\w-]*"
_SLOT = re.compile(rf"\s*(?:\$(?P<variable>{_NAME})|(?P<slot>{_NAME})(?:\.(?P<how>[$!]?)(?P<form>{_NAME}))?)\s*")


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
        InputError: a brace that isn't closed, something in braces that is no slot, or more than 10,000 characters.

    >>> [piece.slot or piece.literal for piece in parse("The {head.pl} | {verb}s, then", "here").pieces()]
    ['The', 'head', 'verb', 's, then']
    """
    if len(text) > MAX_LENGTH:
        raise InputError(place, f"a pattern of {len(text):,} characters", f"at most {MAX_LENGTH:,}")
    regions = tuple(tuple(_pieces(region, place)) for region in text.split("|"))
    return Pattern(text, place, regions, len(regions) > 1)


def _pieces(region: str, place: str) -> Iterator[Piece]:
    blank = True
    for found in _PIECE.finditer(region):
        inside, literal, brace = found.groups()
        if brace:
            what = f"a brace that isn't {'closed' if brace == '{' else 'opened'} in {shown(region.strip())}"
            raise InputError(place, what, "{slot} or {slot.form}", "Close it in the same region.")
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
        raise InputError(place, f"{{{inside:.60}}}", expected)
    named = {name: value or "" for name, value in found.groupdict().items()}
    return Piece(glued, **named)


@dataclass(slots=True)
class Settings:
    """One configuration: the value of each variable, and which variables the patterns have turned out to need.

    `variables` are all values of each variable, `rules` the alternatives of those that are rules.
    """

    values: Mapping[str, str]
    variables: Mapping[str, tuple[str, ...]]
    rules: Mapping[str, Mapping[str, Pattern]]
    needed: set[str]


def resolve(pattern: Pattern, settings: Settings) -> Pattern:
    """The pattern for one configuration: rules replaced by alternatives, variables by text, every form named.

    Raises:
        InputError: no such variable, or `!` with one that hasn't two values; a rule that leads back to itself, that is
            used with a form, or that makes the pattern longer than 1,000 pieces.
    """
    steps: list[int] = []
    regions = tuple(tuple(_resolved(region, settings, pattern.place, (), steps)) for region in pattern.regions)
    return replace(pattern, regions=regions)


def _resolved(
    pieces: tuple[Piece, ...], settings: Settings, place: str, above: tuple[str, ...], steps: list[int]
) -> Iterator[Piece]:
    for piece in pieces:
        # Counts what is looked at, not what comes out: rules can be many and yield nothing.
        steps.append(1)
        if len(steps) > MAX_PIECES:
            cure = "Use fewer slots, or rules that name fewer rules."
            raise InputError(place, f"more than {MAX_PIECES:,} slots, rules and texts", "fewer", cure)
        if piece.slot in settings.rules:
            yield from _resolved(
                _alternative(piece, settings, place, above), settings, place, (*above, piece.slot), steps
            )
        elif name := piece.variable or (piece.form if piece.how else ""):
            yield _settled(piece, name, settings, place)
        else:
            yield piece


def _alternative(piece: Piece, settings: Settings, place: str, above: tuple[str, ...]) -> tuple[Piece, ...]:
    rule = piece.slot
    if piece.form:
        cure = f"Write {{{rule}}}, or call the slot something else."
        raise InputError(place, f"a form of {rule}, which is a rule", f"a slot, or {{{rule}}}", cure)
    if rule in above:
        way = " -> ".join([*above[above.index(rule) :], rule])
        raise InputError(place, f"a rule that leads back to itself: {way}", "rules without recursion")
    if len(above) >= MAX_DEPTH:
        raise InputError(place, f"rules more than {MAX_DEPTH} deep", "fewer")
    settings.needed.add(rule)
    inner = tuple(settings.rules[rule][settings.values[rule]].pieces())
    # An empty alternative still says whether what comes next stands after a blank.
    first = inner[0] if inner else Piece(glued=True)
    return (replace(first, glued=piece.glued), *inner[1:])


def _settled(piece: Piece, name: str, settings: Settings, place: str) -> Piece:
    if name not in settings.values:
        listed = ", ".join(settings.values) or "none"
        raise InputError(place, f"no variable {name!r}", f"one of the variables: {listed}", "List it in [vary].")
    settings.needed.add(name)
    value, values = settings.values[name], settings.variables[name]
    if piece.variable:
        return Piece(piece.glued, literal=value)
    if piece.how == "!" and len(values) != 2:
        cure = f"Write a pattern for each, with a variable of two values, or {{{piece.slot}.${name}}}."
        raise InputError(
            place,
            f"{{{piece.slot}.!{name}}}, but {name} has {len(values)} value{'' if len(values) == 1 else 's'}",
            "two values",
            cure,
        )
    form = value if piece.how == "$" else values[1 - values.index(value)]
    if not form:
        raise InputError(place, f'the value "" of {name} as a form of {piece.slot}', "the name of a form")
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
    return join([(piece.glued, words[piece.slot][piece.form] if piece.slot else piece.literal) for piece in region])
