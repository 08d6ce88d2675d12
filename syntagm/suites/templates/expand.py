"""Expansion of a template's patterns and conditions for one configuration.

A configuration gives each variable a value, and each rule and each use of a phrase an alternative. Expansion needs them
one after the other: where one is missing, it asks for a choice, or stops with `Needs`, which says what it could be.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from syntagm.core import InputError, counted
from syntagm.suites.templates import expression, lexicon
from syntagm.suites.templates.expression import FALSE, TRUE, VARIABLE, Expression, Ref
from syntagm.suites.templates.lexicon import Choice
from syntagm.suites.templates.pattern import Pattern, Phrase, Piece
from syntagm.suites.templates.template import Template

# Steps are counted instead of seconds, so that a template is refused on every machine or on none. Bundled templates need
# 9,000 steps of planning, and a million pairs, for three items.
PLANNED, PLANNED_PER_SUITE, PLANNED_PER_ITEM = 800_000, 10_000, 5_000
COMPARED, COMPARED_PER_ITEM = 20_000_000, 500_000


@dataclass(slots=True)
class Effort:
    """The steps that the suites of a file have taken. The more items are asked for, the more steps are allowed."""

    place: str  # the suite at work, for messages
    items: int = 0  # the number of items
    suites: int = 1  # the number of suites
    planned: int = 0  # the number of slots, texts, rules and comparisons that were visited in configurations
    compared: int = 0  # the number of pairs of groups of words that were compared in counting

    def plan(self, steps: int = 1) -> None:
        """Count steps of planning."""
        self.planned += steps
        if self.planned > PLANNED + PLANNED_PER_SUITE * self.suites + PLANNED_PER_ITEM * self.items:
            found = f"more than {self.planned - 1:,} slots, texts and comparisons in all configurations"
            raise InputError(self.place, found, "fewer", "Remove variables, rules, alternatives or conditions.")

    def compare(self, pairs: int) -> None:
        """Count pairs of groups of words."""
        self.compared += pairs
        if self.compared > (most := COMPARED + COMPARED_PER_ITEM * self.items):
            found = f"conditions between slots that compare more than {most:,} pairs of words"
            cure = "Remove slots or conditions between slots, or compare columns with fewer different cells."
            raise InputError(self.place, found, "fewer", cure)


MAX_VARIABLES = 200
MAX_PIECES = 1_000
MAX_DEPTH = 20
MAX_CHAIN = 50


class Needs(Exception):
    """The configuration doesn't say which value a variable has; `options` are the possible values with their weights."""

    def __init__(self, name: str, options: Sequence[tuple[str, int]]) -> None:
        self.name = name
        self.options = options


class Impossible(Exception):
    """The configuration doesn't exist: a condition on its variables doesn't hold."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What names mean inside a phrase: slots, and the values of parameters together with all values that they can have."""

    instance: str = ""
    slots: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)


TOP = Scope()


@dataclass(slots=True)
class Expansion:
    """The expansion of a template for one configuration."""

    template: Template
    assigned: dict[str, str]
    effort: Effort  # what configurations have cost so far
    # Function that returns one of the possible values where one is missing; by default, `Needs` is raised.
    choose: Callable[[Needs], str] | None = None
    needed: set[str] = field(default_factory=set)  # what the expansion has used of `assigned`
    own: dict[str, tuple[Choice, Scope]] = field(default_factory=dict)
    guards: dict[Expression, str] = field(default_factory=dict)
    own_guards: dict[str, list[Expression]] = field(default_factory=dict)  # slot -> those that name only this slot
    _pending: list[str] = field(default_factory=list)
    _regions: dict[tuple[Piece, ...], tuple[tuple[Piece, ...], int]] = field(default_factory=dict)

    def pattern(self, pattern: Pattern) -> Pattern:
        """Return a pattern with the alternatives of rules and phrases and the values of variables."""
        steps: list[int] = []
        try:
            regions = tuple(self._region(region, pattern.place, steps) for region in pattern.regions)
        finally:
            self.effort.plan(len(pattern.regions) + len(steps))
        return replace(pattern, regions=regions)

    def _region(self, region: tuple[Piece, ...], place: str, steps: list[int]) -> tuple[Piece, ...]:
        # The conditions of a pair have most regions in common.
        if region not in self._regions:
            before = len(steps)
            expanded = tuple(self._pieces(region, TOP, place, (), steps))
            self._regions[region] = expanded, len(steps) - before
        else:
            steps += [1] * self._regions[region][1]
            _refuse_long(steps, place)
        return self._regions[region][0]

    def _pieces(
        self, pieces: tuple[Piece, ...], scope: Scope, place: str, above: tuple[str, ...], steps: list[int]
    ) -> Iterator[Piece]:
        for piece in pieces:
            # Counts the pieces that are visited, not those that result: many rules may yield nothing.
            steps.append(1)
            _refuse_long(steps, place)
            if piece.arguments is not None or (piece.slot in self.template.phrases and piece.slot not in scope.slots):
                inner, inside, name = self._used(piece, scope, place, above)
                yield from self._pieces(inner, inside, place, (*above, name), steps)
            elif name := piece.variable or (piece.form if piece.how else ""):
                yield self._substituted(piece, name, scope, place)
            elif piece.slot:
                slot = scope.slots.get(piece.slot, piece.slot)
                # Built anew, as `replace` would take longer than all else in this loop.
                yield piece if slot == piece.slot else Piece(piece.glued, "", "", slot, piece.form, piece.how)
            else:
                yield piece

    def _used(
        self, piece: Piece, scope: Scope, place: str, above: tuple[str, ...]
    ) -> tuple[tuple[Piece, ...], Scope, str]:
        """Return the pieces of the chosen alternative of a rule or phrase, what names mean in them, and its name."""
        name = piece.slot
        if name not in self.template.phrases:
            lexicon.refuse_unknown(name, "phrase", self.template.phrases, place, "one of the phrases")
        phrase = self.template.phrases[name]
        if piece.form:
            cure = f"Write {{{name}}}, or rename the slot."
            raise InputError(place, f"a form of {name}, which is a rule", f"a slot, or {{{name}}}", cure)
        if len(above) > MAX_DEPTH:
            raise InputError(place, f"rules nested more than {MAX_DEPTH} deep", "fewer levels")
        inside = self._inside(phrase, piece.arguments or (), scope, place)
        if inside.instance in above:
            way = " -> ".join([*above[above.index(inside.instance) :], inside.instance])
            raise InputError(place, f"a rule that leads back to itself: {way:.300}", "rules without a cycle")
        for slot, choice in phrase.choices.items():
            self.own.setdefault(inside.slots[slot], (choice, inside))
        alternative = phrase.alternatives[self._alternative(phrase, inside, place)]
        for condition in alternative.when:
            bound = self.bound(condition, "", inside, alternative.pattern.place)
            if bound == FALSE:
                raise Impossible
            if bound != TRUE:
                self.guards.setdefault(bound, alternative.pattern.place)
        inner = tuple(alternative.pattern.pieces())
        # An empty alternative still determines whether the next piece follows a space.
        first = inner[0] if inner else Piece(glued=True)
        if first.glued == piece.glued:
            return inner or (first,), inside, inside.instance
        return (replace(first, glued=piece.glued), *inner[1:]), inside, inside.instance

    def _inside(self, phrase: Phrase, arguments: Sequence[str], scope: Scope, place: str) -> Scope:
        # Uses with the same slots are the same phrase: they have the same words, and the same alternative.
        if len(arguments) != len(phrase.parameters):
            header = f"{phrase.name}({', '.join(phrase.parameters)})"
            found = f"{phrase.name} with {counted(len(arguments), 'argument')}"
            raise InputError(place, found, f"{{{header}}}" if phrase.parameters else f"{{{phrase.name}}}")
        self.effort.plan(len(phrase.parameters) + len(phrase.choices))
        slots: dict[str, str] = {}
        values: dict[str, tuple[str, tuple[str, ...]]] = {}
        for parameter, argument in zip(phrase.parameters, arguments, strict=True):
            if parameter[0] == VARIABLE:
                values[parameter[1:]] = self._value(argument, scope, place)
            elif argument[0] in "$!":
                raise InputError(place, f"the argument {argument} for {parameter}", "a slot")
            else:
                slots[parameter] = scope.slots.get(argument, argument)
        listed = list(slots.values())
        outer = f"{scope.instance}." if scope.instance and not listed and (phrase.choices or phrase.parameters) else ""
        instance = outer + phrase.name + (f"({', '.join(listed)})" if listed else "")
        slots |= {slot: f"{instance}.{slot}" for slot in phrase.choices}
        return Scope(instance, slots, values)

    def _value(self, argument: str, scope: Scope, place: str) -> tuple[str, tuple[str, ...]]:
        if argument[0] not in "$!":
            return argument, (argument,)
        value, every = self.value(argument[1:], scope, place)
        return (value if argument[0] == "$" else _other(value, every, f"!{argument[1:]}", argument[1:], place)), every

    def _alternative(self, phrase: Phrase, inside: Scope, place: str) -> str:
        if phrase.single:
            return next(iter(phrase.alternatives))
        name = inside.instance
        if name not in self.assigned:
            with self._deciding(name, f"a choice in {name} that", place):
                options = [
                    (key, alternative.weight)
                    for key, alternative in phrase.alternatives.items()
                    if FALSE
                    not in [self.bound(part, "", inside, alternative.pattern.place) for part in alternative.when]
                ]
            if not options:
                raise Impossible
            self._choose(name, options)
        self.needed.add(name)
        if self.assigned[name] not in phrase.alternatives:
            raise Impossible
        return self.assigned[name]

    def value(self, name: str, scope: Scope, place: str) -> tuple[str, tuple[str, ...]]:
        """Return the value of a variable, a parameter or a rule, and all values that it can have."""
        if name in scope.values:
            return scope.values[name]
        phrase = self.template.phrases.get(name)
        if phrase and not phrase.parameters and not phrase.single:
            return self._alternative(phrase, self._inside(phrase, (), TOP, place), place), tuple(phrase.alternatives)
        if name not in self.template.variables:
            listed = [*scope.values, *self.template.variables, *self.template.rules]
            if not listed:
                raise InputError(place, f"no variable {name!r}", "one of the variables: none", "List it in [vary].")
            lexicon.refuse_unknown(name, "variable", listed, place, "one of the variables")
        variable = self.template.variables[name]
        if name not in self.assigned:
            if not self.exists(name, place):
                where = ", ".join(f"{key} = {value}" for key, value in self.assigned.items())
                cure = f'Give the alternative that uses it the same condition: when = "...", as {name} has in [vary].'
                raise InputError(place, f"the variable {name} where {where:.200}", "a variable that exists there", cure)
            self._choose(name, [(value, 1) for value in variable.values])
        self.needed.add(name)
        return self.assigned[name], variable.values

    def _choose(self, name: str, options: Sequence[tuple[str, int]]) -> None:
        if len(self.assigned) >= len(self.template.variables) + MAX_VARIABLES:
            found = f"more than {MAX_VARIABLES} rules and phrases with alternatives"
            raise InputError(self.template.place, found, "fewer in one configuration")
        # There may be thousands of values; a value costs less than a piece of a pattern.
        self.effort.plan(len(options) // 20)
        needs = Needs(name, options)
        if not self.choose:
            raise needs
        self.assigned[name] = self.choose(needs)
        self.effort.plan()

    def exists(self, name: str, place: str) -> bool:
        """Return whether the conditions on a variable of `[vary]` hold in this configuration."""
        at = self.template.places.get(("vary", name), place)
        with self._deciding(name, f"the variable {name}, which", place):
            bound = [self.bound(part, "", TOP, f"{at}, when") for part in self.template.variables[name].when]
        if any(part not in (TRUE, FALSE) for part in bound):
            raise InputError(f"{at}, when", "a condition on words", "conditions on variables")
        return FALSE not in bound

    @contextmanager
    def _deciding(self, name: str, what: str, place: str) -> Iterator[None]:
        """Look up what decides on a choice, which may take other choices."""
        # What is looked up is not what the configuration needs once the choice is made.
        if name in self._pending:
            raise InputError(place, f"{what} depends on itself", "conditions without a cycle")
        if len(self._pending) >= MAX_CHAIN:
            raise InputError(place, f"more than {MAX_CHAIN} choices, each of which depends on the next", "fewer")
        self._pending.append(name)
        needed = set(self.needed)
        try:
            yield
        finally:
            self.needed = needed
            self._pending.pop()

    def _substituted(self, piece: Piece, name: str, scope: Scope, place: str) -> Piece:
        value, every = self.value(name, scope, place)
        if piece.variable:
            return Piece(piece.glued, literal=value)
        form = value if piece.how == "$" else _other(value, every, f"{{{piece.slot}.!{name}}}", name, place, piece.slot)
        if not form:
            raise InputError(place, f'the value "" of {name} as a form of {piece.slot}', "the name of a form")
        return Piece(piece.glued, "", "", scope.slots.get(piece.slot, piece.slot), form)

    def bound(self, condition: Expression, slot: str, scope: Scope, place: str) -> Expression:
        """Return a condition in which variables are replaced by values, and every column has its slot."""

        def ref(named: Ref) -> Ref | str:
            self.effort.plan()
            if named.slot == VARIABLE:
                return self.value(named.name, scope, place)[0]
            return Ref(scope.slots.get(named.slot, named.slot) if named.slot else slot, named.name)

        def slot_of(name: str) -> str:
            self.effort.plan()
            return scope.slots.get(name, name) if name else slot

        return expression.bound(condition, ref, slot_of)


def _refuse_long(steps: Sequence[int], place: str) -> None:
    if len(steps) > MAX_PIECES:
        cure = "Use fewer slots, or rules that name fewer rules."
        raise InputError(place, f"more than {MAX_PIECES:,} slots, rules and texts", "fewer", cure)


def _other(value: str, every: Sequence[str], use: str, name: str, place: str, slot: str = "") -> str:
    if len(every) != 2:
        number = counted(len(every), "value")
        cure = f"Write one pattern per value, use a variable with two values, or write {{{slot or 'slot'}.${name}}}."
        raise InputError(place, f"{use}, but {name} has {number}", "two values", cure)
    return every[1 - every.index(value)]
