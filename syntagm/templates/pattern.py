"""Patterns: texts with slots and region borders, such as `The | {head.sg} | {prep} the | {verb.$number} | {rest}`."""

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
    """A literal, a variable that is inserted as text, or a form of a slot.

    Arguments:
        glued: whether the piece follows without a space.
        how: what `form` names. "" means a form, `$` a variable whose value is the form, and `!` a variable with two
            values, of which the other value is the form.
    """

    glued: bool
    literal: str = ""
    variable: str = ""
    slot: str = ""
    form: str = ""
    how: str = ""


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
            found = f"a brace that isn't {'closed' if brace == '{' else 'opened'} in {shown(region.strip())}"
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
    match = _SLOT.fullmatch(inside)
    if not match:
        expected = "{slot}, {slot.form}, {slot.$variable}, {slot.!variable} or {$variable}"
        raise InputError(place, f"{{{inside:.60}}}", expected)
    groups = {name: value or "" for name, value in match.groupdict().items()}
    return Piece(glued, **groups)


@dataclass(slots=True)
class Settings:
    """A configuration: the value of each variable.

    Arguments:
        values: variable -> its value in this configuration.
        variables: variable -> all its values. Rules are variables, too.
        rules: rule -> alternatives by name.
        needed: the variables that patterns use; `resolve` adds to it.
    """

    values: Mapping[str, str]
    variables: Mapping[str, tuple[str, ...]]
    rules: Mapping[str, Mapping[str, Pattern]]
    needed: set[str]


def resolve(pattern: Pattern, settings: Settings) -> Pattern:
    """Resolve a pattern for one configuration: insert the alternatives of rules and the values of variables, and name all forms.

    Raises:
        InputError: there is no such variable, or `!` is used with a variable that doesn't have two values; a rule leads
            back to itself, is used with a form, or makes the pattern longer than 1,000 pieces.
    """
    steps: list[int] = []
    regions = tuple(tuple(_resolved(region, settings, pattern.place, (), steps)) for region in pattern.regions)
    return replace(pattern, regions=regions)


def _resolved(
    pieces: tuple[Piece, ...], settings: Settings, place: str, above: tuple[str, ...], steps: list[int]
) -> Iterator[Piece]:
    for piece in pieces:
        # Counts the pieces that are visited, not those that result: many rules may yield nothing.
        steps.append(1)
        if len(steps) > MAX_PIECES:
            cure = "Use fewer slots, or rules that name fewer rules."
            raise InputError(place, f"more than {MAX_PIECES:,} slots, rules and texts", "fewer", cure)
        if piece.slot in settings.rules:
            yield from _resolved(
                _alternative(piece, settings, place, above), settings, place, (*above, piece.slot), steps
            )
        elif name := piece.variable or (piece.form if piece.how else ""):
            yield _substitute(piece, name, settings, place)
        else:
            yield piece


def _alternative(piece: Piece, settings: Settings, place: str, above: tuple[str, ...]) -> tuple[Piece, ...]:
    rule = piece.slot
    if piece.form:
        cure = f"Write {{{rule}}}, or rename the slot."
        raise InputError(place, f"a form of {rule}, which is a rule", f"a slot, or {{{rule}}}", cure)
    if rule in above:
        way = " -> ".join([*above[above.index(rule) :], rule])
        raise InputError(place, f"a rule that leads back to itself: {way}", "rules without recursion")
    if len(above) >= MAX_DEPTH:
        raise InputError(place, f"rules nested more than {MAX_DEPTH} deep", "fewer levels")
    settings.needed.add(rule)
    inner = tuple(settings.rules[rule][settings.values[rule]].pieces())
    # An empty alternative still determines whether the next piece follows a space.
    first = inner[0] if inner else Piece(glued=True)
    return (replace(first, glued=piece.glued), *inner[1:])


def _substitute(piece: Piece, name: str, settings: Settings, place: str) -> Piece:
    if name not in settings.values:
        listed = ", ".join(settings.values) or "none"
        raise InputError(place, f"no variable {name!r}", f"one of the variables: {listed}", "List it in [vary].")
    settings.needed.add(name)
    value, values = settings.values[name], settings.variables[name]
    if piece.variable:
        return Piece(piece.glued, literal=value)
    if piece.how == "!" and len(values) != 2:
        cure = f"Write one pattern per value, use a variable with two values, or write {{{piece.slot}.${name}}}."
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
        return words[piece.slot][piece.form] if piece.slot else piece.literal
    return join([(piece.glued, words[piece.slot][piece.form] if piece.slot else piece.literal) for piece in region])
