"""Configurations of a template: patterns without variables, and the slots in order with their candidate words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, compress, islice
from math import prod
from typing import Any

from syntagm.errors import InputError
from syntagm.templates import expression, lexicon
from syntagm.templates.expand import TOP, Expansion, Impossible, Needs, Scope
from syntagm.templates.expression import FALSE, TRUE, Expression, flags
from syntagm.templates.lexicon import FIRST, Choice, LexicalClass, Word
from syntagm.templates.pattern import Pattern, Piece
from syntagm.templates.template import Template

MAX_CONFIGURATIONS = 10_000
MAX_PIECES = 1_000_000

Arms = list[tuple[LexicalClass, tuple[Expression, ...]]]


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot of a plan and the words that meet its own conditions."""

    name: str
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """One configuration of a template.

    Arguments:
        values: variable -> value, for the variables that the configuration needs.
        conditions, item_tags: the patterns, with every form named.
        slots: the slots, in order.
        joint: the conditions on several slots.
        together: the conditions of all suites that are filled by the same draws; empty unless slots are sampled.
    """

    values: Mapping[str, str]
    conditions: Mapping[str, Pattern]
    item_tags: Mapping[str, Pattern]
    slots: tuple[Slot, ...]
    joint: tuple[Expression, ...]
    together: tuple[Mapping[str, Pattern], ...]

    @property
    def size(self) -> int:
        """The number of combinations of words, ignoring conditions between slots; an upper bound for the number of items."""
        return prod(len(slot.words) for slot in self.slots)

    def patterns(self) -> Iterable[Pattern]:
        """Yield all patterns of the suite itself."""
        yield from self.conditions.values()
        yield from self.item_tags.values()


def plans(template: Template) -> list[Plan]:
    """Return a plan for each configuration of a template, in the order of its variables; the last variable varies fastest.

    Configurations that differ only in variables that they don't need count once, for instance if a variable occurs in
    only one alternative of a rule.

    Raises:
        InputError: there are more than 10,000 configurations, a slot, form or variable does not exist, or a slot has no
            word.
    """
    refuse_many(template)
    planner = Planner(template)
    found: list[tuple[tuple[int, ...], Plan]] = []
    pieces = 0
    for plan in planner.every({}):
        found.append((planner.rank(plan), plan))
        pieces += sum(len(region) for pattern in plan.patterns() for region in pattern.regions)
        if pieces > MAX_PIECES:
            text = f"patterns of more than {MAX_PIECES:,} pieces in all configurations"
            raise InputError(template.place, text, "fewer pieces", "Remove variables, rules or conditions.")
        if len(found) > MAX_CONFIGURATIONS:
            _refuse_configurations(template, len(found))
    return [plan for _, plan in sorted(found, key=lambda pair: pair[0])]


def refuse_many(template: Template) -> None:
    """Refuse variables with more than 10,000 combinations of values."""
    sizes = [len(variable.values) for variable in template.variables.values()]
    # Twenty variables of two values exceed the limit already, and the exact product may be too long to print.
    if (number := prod(size for size in islice((size for size in sizes if size > 1), 20))) > MAX_CONFIGURATIONS:
        _refuse_configurations(template, number)


def _refuse_configurations(template: Template, number: int) -> None:
    raise InputError(
        f"{template.place}, [vary]", f"{number:,} configurations or more", f"at most {MAX_CONFIGURATIONS:,}",
        "Remove variables, rules or values.",
    )  # fmt: skip


@dataclass(slots=True)
class Planner:
    """A planner, which remembers the words that meet conditions, because configurations have most slots in common."""

    template: Template
    _words: dict[Any, tuple[Word, ...]] = field(default_factory=dict)
    _checked: set[Expression] = field(default_factory=set)
    _known_arms: dict[tuple[str, str], Arms] = field(default_factory=dict)
    _unlisted: dict[str, Choice] = field(default_factory=dict)

    def every(self, assigned: Mapping[str, str]) -> Iterator[Plan]:
        """Yield the plans of all configurations that begin with the given values."""
        try:
            yield self.plan(assigned)
        except Impossible:
            return
        except Needs as needs:
            for value, _ in needs.options:
                yield from self.every({**assigned, needs.name: value})

    def rank(self, plan: Plan) -> tuple[int, ...]:
        """Return the place of a plan among all plans, in the order of variables and rules."""
        template = self.template
        listed = [(name, variable.values) for name, variable in template.variables.items()]
        listed += [(name, tuple(template.phrases[name].alternatives)) for name in template.rules]
        return tuple(values.index(plan.values[name]) if name in plan.values else 0 for name, values in listed)

    def plan(self, assigned: Mapping[str, str]) -> Plan:
        """Return the plan of a configuration.

        Raises:
            Needs: the configuration lacks a value.
            Impossible: the conditions on its variables exclude the configuration.
            InputError: a slot, form or variable doesn't exist, or a slot has no word.
        """
        template = self.template
        expansion = Expansion(template, assigned)
        own = (template.conditions, template.item_tags)
        # Suites that share their draws fill the same slots in the same order.
        family = [_resolved(group, expansion) for pair in template.together or (own,) for group in pair]
        at = [pair[0] is template.conditions for pair in template.together or (own,)].index(True)
        used: dict[str, str] = {}
        for group in family:
            for pattern in group.values():
                for piece in pattern.pieces():
                    if piece.slot:
                        used.setdefault(piece.slot, pattern.place)
        for condition in template.require:
            if expansion.bound(condition, "", TOP, f"{template.place}, require") == FALSE:
                raise Impossible
        joint: list[Expression] = []
        slots = {} if template.fill == "table" else self._conditions(expansion, used, joint)
        forms = _table_forms(template) or {name: self._columns(name, expansion) for name in slots}
        # Equal regions become the same object, so that their text is built only once for each item.
        interned: dict[tuple[Piece, ...], tuple[Piece, ...]] = {}
        family = [_named(group, forms, interned) for group in family]
        filled = tuple(
            Slot(name, self._candidates(name, arms, _needed(name, family[::2]), expansion))
            for name, arms in slots.items()
        )
        order = dict.fromkeys([*template.variables, *template.rules, *assigned])
        values = {name: assigned[name] for name in order if name in expansion.needed}
        conditions, tags = family[2 * at : 2 * at + 2]
        return Plan(values, conditions, tags, filled, tuple(joint), tuple(family[::2]) if template.together else ())

    def _choice(self, name: str, expansion: Expansion, place: str) -> tuple[Choice, Scope]:
        """Return the choice for a slot: its own, or the class of its name."""
        template = self.template
        if name in expansion.own:
            return expansion.own[name]
        if name not in template.choices and name not in self._unlisted:
            if name not in template.lexicon.classes and name not in template.lexicon.aliases:
                known = [*template.choices, *template.rules, *template.lexicon.classes, *template.lexicon.aliases]
                lexicon.refuse_unknown(name, "slot or class", known, place)
            self._unlisted[name] = lexicon.choice(name, name, f"{template.place}, slot {name}")
        return template.choices.get(name) or self._unlisted[name], TOP

    def _classes(self, name: str, expansion: Expansion, place: str) -> list[LexicalClass]:
        """Return the classes that can fill a slot."""
        return [own for own, _ in self._arms(self._choice(name, expansion, place)[0])]

    def _arms(self, choice: Choice) -> Arms:
        key = choice.place, choice.text
        if key not in self._known_arms:
            self._known_arms[key] = lexicon.arms(choice, self.template.lexicon)
        return self._known_arms[key]

    def _conditions(self, expansion: Expansion, used: dict[str, str], joint: list[Expression]) -> dict[str, Arms]:
        """Return the slots to fill, in order, with the conditions on their own words, and collect those on several slots.

        Slots that conditions name are filled, too. Slots without a choice come first, then those of `[slots]`, then
        those of phrases.
        """
        guards = {guard: place for whole, place in expansion.guards.items() for guard in _parts(whole)}
        for guard, place in guards.items():
            for name in expression.slots(guard):
                used.setdefault(name, place)
        arms: dict[str, Arms] = {}
        while waiting := [
            name for name in [*self.template.choices, *expansion.own] if name in used and name not in arms
        ]:
            for name in reversed(waiting):
                choice, scope = self._choice(name, expansion, used[name])
                arms[name] = self._bound(name, choice, scope, expansion)
                for condition in (part for _, parts in arms[name] for part in parts):
                    for other in expression.slots(condition):
                        used.setdefault(other, f"{choice.place}, {expression.text(condition)}")
        unlisted = [name for name in used if name not in arms]
        for name in unlisted:
            arms[name] = [(own, ()) for own in self._classes(name, expansion, used[name])]
        listed = [name for name in [*self.template.choices, *expansion.own] if name in used]
        result = {}
        for name in [*unlisted, *listed]:
            place = self._choice(name, expansion, used[name])[0].place
            for condition in dict.fromkeys(part for _, parts in arms[name] for part in parts):
                self._check(condition, place, expansion, name, name in expansion.own)
            result[name] = _divided(name, arms[name], place, joint)
        for guard, place in guards.items():
            self._check(guard, place, expansion, "", True)
            if len(expression.slots(guard)) > 1:
                joint.append(guard)
        return result

    def _bound(self, name: str, choice: Choice, scope: Scope, expansion: Expansion) -> Arms:
        result = []
        for own, conditions in self._arms(choice):
            bound = [
                expansion.bound(part, name, scope, f"{choice.place}, {expression.text(part)}") for part in conditions
            ]
            if FALSE not in bound:
                result.append((own, tuple(part for whole in bound for part in _parts(whole) if part != TRUE)))
        return result

    def _check(self, condition: Expression, place: str, expansion: Expansion, own: str, general: bool) -> None:
        """Refuse a column or value that no class of its slot has.

        Arguments:
            condition: the condition.
            place: its place, for messages.
            expansion: the configuration.
            own: the slot that has the condition.
            general: whether it's enough if any class of the lexicon has them, as for phrases, which many slots use.
        """
        if condition in self._checked:
            return
        self._checked.add(condition)
        every = self.template.lexicon.classes
        for atom in expression.atoms(condition):
            at = f"{place}, {expression.text(condition).removeprefix(f'{own}.'):.200}"
            if isinstance(atom, expression.Differ):
                if atom.slot == atom.other:
                    found = f"a condition that compares {atom.slot} with itself"
                    raise InputError(at, found, "another slot")
                continue
            for ref in expression.columns(atom):
                classes = self._classes(ref.slot, expansion, place)
                lexicon.refuse_column(ref.name, [*classes, *(every.values() if general else ())], at)
            if isinstance(atom, expression.Has):
                general_value = general or atom.ref.name == lexicon.CLASS
                classes = list(every.values()) if general_value else self._classes(atom.ref.slot, expansion, place)
                lexicon.refuse_values(atom.values, atom.ref.name, classes, at)

    def _columns(self, name: str, expansion: Expansion) -> tuple[str, ...]:
        """Return the columns of the words in a slot. The first is the form for `{slot}` without a form."""
        classes = self._classes(name, expansion, "")
        columns = dict.fromkeys(column for own in classes for column in own.columns)
        first = {own.columns[0] for own in classes}
        return (*first, *columns) if len(first) == 1 else (FIRST, *columns)

    def _candidates(self, name: str, arms: Arms, forms: set[str], expansion: Expansion) -> tuple[Word, ...]:
        """Return the words that meet the conditions of a slot on its own words, and have the forms that sentences need.

        Raises:
            InputError: there is no such word.
            Impossible: there is one, but an alternative asks for another.
        """
        guards = tuple(
            guard for whole in expansion.guards for guard in _parts(whole) if expression.slots(guard) == (name,)
        )
        key = tuple((own.place, conditions) for own, conditions in arms), guards, tuple(sorted(forms))
        if key not in self._words:
            masks: dict[str, int] = {}
            found = 0
            for own, conditions in arms:
                mask = own.index.full
                for condition in conditions:
                    mask &= own.index.meeting(condition, name, {})
                for form in forms:
                    mask &= own.index.present(form)
                found |= mask
                for guard in guards:
                    mask &= own.index.meeting(guard, name, {})
                masks[own.name] = masks.get(own.name, 0) | mask
            if not found:
                self._refuse_empty(name, arms, forms, expansion)
            # Slots with the same words share them, because what is counted with them is remembered by their identity.
            same = tuple(masks.items())
            if same not in self._words:
                classes = {own.name: own for own, _ in arms}
                kept = [compress(classes[of].words, flags(mask, len(classes[of].words))) for of, mask in same]
                self._words[same] = tuple(chain.from_iterable(kept))
            self._words[key] = self._words[same]
        if not self._words[key]:
            raise Impossible
        return self._words[key]

    def _refuse_empty(self, name: str, arms: Arms, forms: set[str], expansion: Expansion) -> None:
        conditions = dict.fromkeys(expression.text(part).replace(f"{name}.", "") for _, parts in arms for part in parts)
        shown = ", ".join([*conditions, *(f"a form {form}" for form in sorted(forms))])
        chosen = ", ".join(f"{key} = {value}" for key, value in expansion.assigned.items())
        classes = " or ".join(dict.fromkeys(own.name for own in self._classes(name, expansion, "")))
        found = f"no word in class {classes} with {shown:.300}" + (f" where {chosen:.200}" if chosen else "")
        place = self._choice(name, expansion, "")[0].place
        raise InputError(place, found, "at least one word", "Add words, or remove a condition.")


def _parts(condition: Expression) -> tuple[Expression, ...]:
    return condition.parts if isinstance(condition, expression.All) else (condition,)


def _divided(name: str, arms: Arms, place: str, joint: list[Expression]) -> Arms:
    """Return the conditions that name no other slot, and add the others to `joint`."""
    outer = [tuple(part for part in parts if expression.slots(part) != (name,)) for _, parts in arms]
    common = [part for part in (outer[0] if outer else ()) if all(part in other for other in outer)]
    joint += common
    names = [own.name for own, _ in arms]
    for (own, _), parts in zip(arms, outer, strict=True):
        rest = [part for part in parts if part not in common]
        if rest and names.count(own.name) > 1:
            found = f"two parts of class {own.name} with different conditions on other slots"
            raise InputError(place, found, f"one part of class {own.name}", "Join them with or: noun[a = x or b = y].")
        there = expression.Not(expression.Has(expression.Ref(name, lexicon.CLASS), (own.name,)))
        joint += [expression.disjunction([there, part]) for part in rest]
    return [
        (own, tuple(part for part in parts if part not in other))
        for (own, parts), other in zip(arms, outer, strict=True)
    ]


def _resolved(group: Mapping[str, Pattern], expansion: Expansion) -> dict[str, Pattern]:
    return {name: expansion.pattern(pattern) for name, pattern in group.items()}


def _table_forms(template: Template) -> dict[str, tuple[str, ...]]:
    """Return the forms of each slot that the columns of the table provide.

    Forms are in the order of the columns, but a column named like the slot comes first.
    """
    forms: dict[str, tuple[str, ...]] = {}
    for column in template.table.columns if template.table else ():
        slot, _, form = column.partition(".")
        forms[slot] = (*forms.get(slot, ()), form) if form else ("", *forms.get(slot, ()))
    return forms


def _named(
    group: Mapping[str, Pattern],
    forms: Mapping[str, Sequence[str]],
    interned: dict[tuple[Piece, ...], tuple[Piece, ...]],
) -> dict[str, Pattern]:
    """Return patterns in which every slot names a form; the first form is added where the pattern names none."""
    result = {}
    for name, pattern in group.items():
        regions = (tuple(_with_form(piece, forms, pattern.place) for piece in region) for region in pattern.regions)
        result[name] = replace(pattern, regions=tuple(interned.setdefault(region, region) for region in regions))
    return result


def _with_form(piece: Piece, forms: Mapping[str, Sequence[str]], place: str) -> Piece:
    if not piece.slot:
        return piece
    if piece.slot not in forms:
        lexicon.refuse_unknown(piece.slot, "slot", forms, place)
    known = forms[piece.slot]
    if not piece.form:
        return replace(piece, form=known[0])
    if piece.form not in known:
        found = f"no form {piece.form!r} of {piece.slot}"
        if tuple(known) == ("",):
            raise InputError(place, found, f"{{{piece.slot}}}", f"{piece.slot} has only one form.")
        lexicon.refuse_unknown(piece.form, "form", filter(None, known), place, of=f" of {piece.slot}")
    return piece


def _needed(slot: str, groups: Sequence[Mapping[str, Pattern]]) -> set[str]:
    """Return the forms of a slot that sentences need. Forms in tags are not required, because a tag may be `-`."""
    pieces = (piece for group in groups for pattern in group.values() for piece in pattern.pieces())
    return {piece.form for piece in pieces if piece.slot == slot}
