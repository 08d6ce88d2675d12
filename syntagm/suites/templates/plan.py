"""Configurations of a template: patterns without variables, and the slots in order with the words that meet their conditions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, compress, islice
from math import prod
from typing import Any

from syntagm.core import InputError
from syntagm.suites.templates import expression, lexicon
from syntagm.suites.templates.expand import MAX_VARIABLES, TOP, Effort, Expansion, Impossible, Needs, Scope
from syntagm.suites.templates.expression import FALSE, TRUE, VARIABLE, Expression
from syntagm.suites.templates.lexicon import FIRST, Choice, LexicalClass, Word, flags
from syntagm.suites.templates.pattern import Pattern, Piece
from syntagm.suites.templates.template import Template

MAX_SLOTS = 100

Arms = list[tuple[LexicalClass, tuple[Expression, ...]]]


@dataclass(frozen=True, slots=True)
class _Bound:
    """The conditions of a slot in a configuration."""

    arms: Arms  # the classes that can fill it, each with the conditions on its own words
    joint: tuple[Expression, ...]  # the conditions that name other slots
    others: Mapping[str, str]  # the other slots, each with the place of the condition that names it
    needed: frozenset[str]  # the variables that were looked up


@dataclass(slots=True)
class Selector:
    """The selector of words for a template. It remembers its results, because configurations have most slots in common."""

    template: Template
    _words: dict[Any, tuple[Word, ...]] = field(default_factory=dict)
    _checked: set[Expression] = field(default_factory=set)
    _known_arms: dict[tuple[str, str], Arms] = field(default_factory=dict)
    _bound: dict[Any, _Bound] = field(default_factory=dict)
    _variables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _known_columns: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    _places: dict[tuple[str, int], str] = field(default_factory=dict)
    _unlisted: dict[str, Choice] = field(default_factory=dict)
    _order: dict[str, int] = field(default_factory=dict)

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
        return [own for own, _ in self._arms(self._choice(name, expansion, place)[0])]

    def _arms(self, choice: Choice) -> Arms:
        key = choice.place, choice.text
        if key not in self._known_arms:
            self._known_arms[key] = lexicon.arms(choice, self.template.lexicon)
        return self._known_arms[key]

    def conditions(self, expansion: Expansion, used: dict[str, str], joint: list[Expression]) -> dict[str, Arms]:
        """Return the slots to fill, in order, with the conditions on their own words, and collect those on several slots."""
        # Slots that conditions name are filled, too. Slots without a choice come first, then those of `[slots]`, then
        # those of phrases.
        guards = {guard: place for whole, place in expansion.guards.items() for guard in _parts(whole)}
        for guard, place in guards.items():
            names = expression.slots(guard)
            for name in names:
                used.setdefault(name, place)
            if len(names) == 1:
                expansion.own_guards.setdefault(names[0], []).append(guard)
        bound: dict[str, _Bound] = {}
        if not self._order:
            self._order = {name: number for number, name in enumerate(self.template.choices)}
        own = {name: number for number, name in enumerate(expansion.own, len(self._order))}

        def order(name: str) -> int:
            return self._order.get(name, own.get(name, -1))

        while waiting := [name for name in used if name not in bound]:
            if len(used) > MAX_SLOTS:
                found = f"more than {MAX_SLOTS} slots in one configuration"
                raise InputError(self.template.place, found, f"at most {MAX_SLOTS}", "Use fewer slots in a sentence.")
            listed = sorted((name for name in waiting if order(name) >= 0), key=order, reverse=True)
            for name in listed or waiting:
                bound[name] = self._slot(name, used[name], expansion)
                for other, place in bound[name].others.items():
                    used.setdefault(other, place)
        result = {}
        for name in sorted(used, key=order):
            expansion.effort.plan(1 + len(bound[name].arms) + len(bound[name].joint))
            result[name] = bound[name].arms
            joint += bound[name].joint
        for guard, place in guards.items():
            self._check(guard, place, expansion, "", True)
            if len(expression.slots(guard)) > 1:
                joint.append(guard)
        return result

    def _slot(self, name: str, place: str, expansion: Expansion) -> "_Bound":
        # Slots are remembered for the values of the variables that their conditions name.
        choice, scope = self._choice(name, expansion, place)
        if choice.place not in self._variables:
            refs = [ref for arm in choice.arms for part in arm.conditions for ref in expression.columns(part)]
            refs += [ref for _, parts in self._arms(choice) for part in parts for ref in expression.columns(part)]
            self._variables[choice.place] = tuple({ref.name for ref in refs if ref.slot == VARIABLE})
        variables = [variable for variable in self._variables[choice.place] if variable not in scope.values]
        own_key = (name, choice.place, tuple(scope.slots.items()), tuple(scope.values.items()))
        key = (own_key, tuple(map(expansion.assigned.get, variables)))
        if key not in self._bound:
            before, expansion.needed = expansion.needed, set()
            arms = []
            for own, conditions in self._arms(choice):
                bound = [expansion.bound(part, name, scope, self._place(choice, part)) for part in conditions]
                if FALSE not in bound:
                    arms.append((own, tuple(part for whole in bound for part in _parts(whole) if part != TRUE)))
            for condition in dict.fromkeys(part for _, parts in arms for part in parts):
                self._check(condition, choice.place, expansion, name, name in expansion.own)
            joint: list[Expression] = []
            divided = _divided(name, arms, choice.place, joint)
            others: dict[str, str] = {}
            for part in joint:
                for other in expression.slots(part):
                    others.setdefault(other, f"{choice.place}, {expression.text(part)}")
            # A condition may have been the first to need a variable.
            key = (own_key, tuple(map(expansion.assigned.get, variables)))
            self._bound[key] = _Bound(divided, tuple(joint), others, frozenset(expansion.needed))
            expansion.needed |= before
        expansion.needed |= self._bound[key].needed
        return self._bound[key]

    def _place(self, choice: Choice, condition: Expression) -> str:
        # The conditions of a choice live as long as the template, so that their identity names them.
        key = choice.place, id(condition)
        if key not in self._places:
            self._places[key] = f"{choice.place}, {expression.text(condition)}"
        return self._places[key]

    def _check(self, condition: Expression, place: str, expansion: Expansion, own: str, general: bool) -> None:
        """Refuse a column or value that no class of its slot has."""
        if condition in self._checked:
            return
        self._checked.add(condition)
        every = self.template.lexicon.classes
        at = f"{place}, {expression.text(condition).removeprefix(f'{own}.'):.200}"
        for atom in expression.atoms(condition):
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

    def columns(self, name: str, expansion: Expansion) -> tuple[str, ...]:
        """Return the columns of the words in a slot. The first is the form for `{slot}` without a form."""
        choice = self._choice(name, expansion, "")[0]
        key = choice.place, choice.text
        if key in self._known_columns:
            return self._known_columns[key]
        classes = [own for own, _ in self._arms(choice)]
        columns = dict.fromkeys(column for own in classes for column in own.columns)
        first = {own.columns[0] for own in classes}
        self._known_columns[key] = (*first, *columns) if len(first) == 1 else (FIRST, *columns)
        return self._known_columns[key]

    def candidates(self, name: str, arms: Arms, forms: set[str], expansion: Expansion) -> tuple[Word, ...]:
        """Return the words that meet the conditions of a slot on its own words, and have the forms that sentences need."""
        guards = tuple(expansion.own_guards.get(name, ()))
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
                mask &= self._in_vocabulary(own, mask, forms)
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
                # Each configuration may have other words, which are kept.
                expansion.effort.plan(len(self._words[same]) // 20)
            self._words[key] = self._words[same]
        if not self._words[key]:
            raise Impossible(f"no word of slot {name} is in the vocabulary" if self.template.vocabulary else "")
        return self._words[key]

    def _in_vocabulary(self, own: LexicalClass, fitting: int, forms: set[str]) -> int:
        """Return the words of a class whose forms are in the vocabulary. The vocabulary remembers what it left out."""
        vocabulary, mask = self.template.vocabulary, own.index.full
        if vocabulary:
            for form in forms:
                mask &= vocabulary.words.having(own, form)
            for entries, chosen in ((vocabulary.met, fitting), (vocabulary.kept, fitting & mask)):
                entries.update(word.entry for word in compress(own.words, flags(chosen, len(own.words))))
        return mask

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


MAX_CONFIGURATIONS = 10_000


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


def plans(template: Template, effort: Effort | None = None) -> list[Plan]:
    """Return a plan for each configuration of a template, in the order of its variables; the last variable varies fastest."""
    # Configurations that differ only in variables that they don't need count once, for instance if a variable occurs in
    # only one alternative of a rule.
    refuse_many(template)
    planner = Planner(template, effort or Effort(template.place))
    found: list[tuple[tuple[tuple[int, int], ...], Plan]] = []
    for plan in planner.every({}):
        found.append((planner.rank(plan), plan))
        if len(found) > MAX_CONFIGURATIONS:
            _refuse_configurations(template, len(found))
    return [plan for _, plan in sorted(found, key=lambda pair: pair[0])]


def refuse_many(template: Template) -> None:
    """Refuse variables with more than 10,000 combinations of values, and more than 200 variables."""
    sizes = [len(variable.values) for variable in template.variables.values()]
    # Twenty variables of two values exceed the limit already, and the exact product may be too long to print.
    if (number := prod(size for size in islice((size for size in sizes if size > 1), 20))) > MAX_CONFIGURATIONS:
        _refuse_configurations(template, number)
    if len(sizes) > MAX_VARIABLES:
        raise InputError(f"{template.place}, [vary]", f"{len(sizes):,} variables", f"at most {MAX_VARIABLES}")


def _refuse_configurations(template: Template, number: int) -> None:
    raise InputError(
        f"{template.place}, [vary]", f"{number:,} configurations or more", f"at most {MAX_CONFIGURATIONS:,}",
        "Remove variables, rules or values.",
    )  # fmt: skip


@dataclass(slots=True)
class Planner:
    """The maker of the plans of a template's configurations."""

    template: Template
    effort: Effort
    selector: Selector = field(init=False)
    _order: dict[str, int] = field(init=False)
    _ranks: dict[str, dict[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.effort.place = self.template.place
        self.selector = Selector(self.template)
        names = dict.fromkeys([*self.template.variables, *self.template.rules])
        self._order = {name: number for number, name in enumerate(names)}

    def every(self, assigned: Mapping[str, str]) -> Iterator[Plan]:
        """Yield the plans of all configurations that begin with the given values."""
        try:
            yield self.plan(assigned)
        except Impossible:
            return
        except Needs as needs:
            for value, _ in needs.options:
                yield from self.every({**assigned, needs.name: value})

    def rank(self, plan: Plan) -> tuple[tuple[int, int], ...]:
        """Return a key that sorts plans in the order of variables and rules. A plan without one has its first value."""
        # There may be many rules, and a plan names few. So the key has only values other than the first; of two plans,
        # the one that has another value than the first in an earlier variable comes later.
        ranks = (
            (self._order[name], self._rank(name, value)) for name, value in plan.values.items() if name in self._order
        )
        return tuple((-place, rank) for place, rank in ranks if rank)

    def _rank(self, name: str, value: str) -> int:
        if name not in self._ranks:
            variable = self.template.variables.get(name)
            values = variable.values if variable else self.template.phrases[name].alternatives
            self._ranks[name] = {value: rank for rank, value in enumerate(values)}
        return self._ranks[name][value]

    def plan(self, assigned: Mapping[str, str], choose: Callable[[Needs], str] | None = None) -> Plan:
        template = self.template
        # A configuration costs something even if its patterns are empty.
        self.effort.plan(len(assigned))
        expansion = Expansion(template, dict(assigned), self.effort, choose)
        assigned = expansion.assigned
        own = (template.conditions, template.item_tags)
        # Suites that share their draws fill the same slots in the same order.
        family = [
            {name: expansion.pattern(pattern) for name, pattern in group.items()}
            for pair in template.together or (own,)
            for group in pair
        ]
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
        if template.fill == "table" and expansion.guards:
            place = next(iter(expansion.guards.values()))
            raise InputError(place, "a condition on words", "conditions on variables", "The rows of a table are fixed.")
        joint: list[Expression] = []
        slots = {} if template.fill == "table" else self.selector.conditions(expansion, used, joint)
        forms = _table_forms(template) or {name: self.selector.columns(name, expansion) for name in slots}
        # Equal regions become the same object, so that their text is built only once for each item.
        interned: dict[tuple[Piece, ...], tuple[Piece, ...]] = {}
        family = [_named(group, forms, interned) for group in family]
        needed = _needed(family[::2])
        filled = tuple(
            Slot(name, self.selector.candidates(name, arms, needed.get(name, set()), expansion))
            for name, arms in slots.items()
        )
        names = (name for name in assigned if name in expansion.needed)
        values = {
            name: assigned[name] for name in sorted(names, key=lambda name: self._order.get(name, len(self._order)))
        }
        conditions, tags = family[2 * at : 2 * at + 2]
        return Plan(values, conditions, tags, filled, tuple(joint), tuple(family[::2]) if template.together else ())


def _table_forms(template: Template) -> dict[str, tuple[str, ...]]:
    # Forms are in the order of the columns, but a column named like the slot comes first.
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


def _needed(groups: Sequence[Mapping[str, Pattern]]) -> dict[str, set[str]]:
    """Return the forms of each slot that sentences need. Forms in tags are not required, because a tag may be `-`."""
    needed: dict[str, set[str]] = {}
    for group in groups:
        for pattern in group.values():
            for piece in pattern.pieces():
                needed.setdefault(piece.slot, set()).add(piece.form)
    return needed
