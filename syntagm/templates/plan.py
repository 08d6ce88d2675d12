"""Configurations of a template: patterns without variables, and the slots in order with their candidate words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from math import prod

from syntagm.errors import InputError
from syntagm.templates import lexicon
from syntagm.templates.cells import MISSING
from syntagm.templates.lexicon import Choice, Condition, Word, shorten
from syntagm.templates.pattern import Pattern, Piece, Settings, resolve
from syntagm.templates.template import Template

MAX_CONFIGURATIONS = 10_000
MAX_PIECES = 1_000_000


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot of a plan: its candidate words, and the conditions that depend on earlier slots."""

    name: str
    lexical_class: str
    words: tuple[Word, ...]
    depends: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """One configuration of a template.

    Arguments:
        values: variable -> value, for the variables that the configuration needs.
        conditions, item_tags: the patterns, with every form named.
        slots: the slots, in the order in which they are filled.
        used: the names of the slots that patterns or other slots need.
        together: the conditions of all suites that are filled by the same draws; empty unless slots are sampled.
    """

    values: Mapping[str, str]
    conditions: Mapping[str, Pattern]
    item_tags: Mapping[str, Pattern]
    slots: tuple[Slot, ...]
    used: tuple[str, ...]
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
    sizes = [len(values) for values in template.variables.values()]
    # Twenty variables of two values exceed the limit already, and the exact product may be too long to print.
    if (number := prod(size for size in islice((size for size in sizes if size > 1), 20))) > MAX_CONFIGURATIONS:
        raise InputError(
            f"{template.place}, [vary]", f"{number:,} configurations or more", f"at most {MAX_CONFIGURATIONS:,}",
            "Remove variables, rules or values.",
        )  # fmt: skip
    lexicon.check(list(template.choices.values()), template.classes, list(template.variables))
    distinct: dict[tuple[tuple[str, str], ...], Plan] = {}
    pieces = 0
    for values in product(*template.variables.values()):
        plan = _plan(template, dict(zip(template.variables, values, strict=True)))
        distinct.setdefault(tuple(plan.values.items()), plan)
        pieces += sum(len(region) for pattern in plan.patterns() for region in pattern.regions)
        if pieces > MAX_PIECES:
            found = f"patterns of more than {MAX_PIECES:,} pieces in all configurations"
            raise InputError(template.place, found, "fewer pieces", "Remove variables, rules or conditions.")
    return list(distinct.values())


def _plan(template: Template, values: dict[str, str]) -> Plan:
    settings = Settings(values, template.variables, template.rules, set())
    own = (template.conditions, template.item_tags)
    # Suites that share their draws fill the same slots in the same order.
    family = [_resolved(group, settings) for pair in template.together or (own,) for group in pair]
    conditions, tags = (_resolved(group, settings) for group in own)
    used = _used(template, [pattern for group in family for pattern in group.values()])
    choices = [] if template.fill == "table" else _choices(template, used)
    forms = {choice.slot: template.classes[choice.lexical_class].columns for choice in choices}
    forms |= _table_forms(template)
    # Equal regions become the same object, so that their text is built only once for each item.
    interned: dict[tuple[Piece, ...], tuple[Piece, ...]] = {}
    conditions, tags, *family = [_named(group, forms, interned) for group in (conditions, tags, *family)]
    slots = tuple(_slot(template, choice, values, _needed(choice.slot, family[::2])) for choice in choices)
    needed = settings.needed | {condition.variable for choice in choices for condition in choice.conditions}
    chosen = {name: value for name, value in values.items() if name in needed}
    return Plan(chosen, conditions, tags, slots, tuple(used), tuple(family[::2]) if template.together else ())


def _resolved(group: Mapping[str, Pattern], settings: Settings) -> dict[str, Pattern]:
    return {name: resolve(pattern, settings) for name, pattern in group.items()}


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
        raise InputError(place, f"no slot {piece.slot!r}", f"one of: {shorten(forms)}")
    known = forms[piece.slot]
    if not piece.form:
        return replace(piece, form=known[0])
    if piece.form not in known:
        found = f"no form {piece.form!r} of {piece.slot}"
        if tuple(known) == ("",):
            raise InputError(place, found, f"{{{piece.slot}}}", f"{piece.slot} has only one form.")
        raise InputError(place, found, f"one of: {shorten(filter(None, known))}")
    return piece


def _used(template: Template, patterns: Sequence[Pattern]) -> dict[str, str]:
    """Return the place of first use of each slot in patterns, and of each slot that conditions on these slots name."""
    used: dict[str, str] = {}
    for pattern in patterns:
        for piece in pattern.pieces():
            if piece.slot:
                used.setdefault(piece.slot, pattern.place)
    for choice in reversed(list(template.choices.values())):
        if choice.slot in used:
            for condition in choice.conditions:
                if condition.slot:
                    used.setdefault(condition.slot, choice.place)
    return used


def _choices(template: Template, used: Mapping[str, str]) -> list[Choice]:
    """Return the slots to fill, in order: unlisted slots, which use the class of the same name, then the slots of `[slots]`.

    With `fill = "cross"`, unused slots are excluded. With `sample`, they are drawn nevertheless, so that all
    configurations use the same random numbers.
    """
    unlisted = [name for name in used if name not in template.choices]
    for name in unlisted:
        if name not in template.classes:
            known = shorten({**template.choices, **template.rules, **template.classes})
            raise InputError(used[name], f"no slot or class {name!r}", f"one of: {known}")
    own_class = [Choice(name, f"{template.place}, slot {name}", name) for name in unlisted]
    listed = [choice for choice in template.choices.values() if choice.slot in used or template.fill == "sample"]
    return own_class + listed


def _needed(slot: str, groups: Sequence[Mapping[str, Pattern]]) -> set[str]:
    """Return the forms of a slot that sentences need. Forms in tags are not required, because a tag may be `-`."""
    pieces = (piece for group in groups for pattern in group.values() for piece in pattern.pieces())
    return {piece.form for piece in pieces if piece.slot == slot}


def _slot(template: Template, choice: Choice, values: Mapping[str, str], forms: set[str]) -> Slot:
    fixed = [condition for condition in choice.conditions if not condition.slot]
    depends = tuple(condition for condition in choice.conditions if condition.slot)
    words = tuple(
        word
        for word in template.classes[choice.lexical_class].words
        if all(word.forms[form] != MISSING for form in forms)
        and all(lexicon.holds(condition, word, values, {}) for condition in fixed)
    )
    if not words:
        shown = ", ".join([*(condition.text for condition in fixed), *(f"a form {form}" for form in sorted(forms))])
        chosen = ", ".join(f"{name} = {value}" for name, value in values.items())
        found = f"no word in class {choice.lexical_class} with {shown}" + (f" where {chosen}" if chosen else "")
        raise InputError(choice.place, found, "at least one word", "Add words, or remove a condition.")
    return Slot(choice.slot, choice.lexical_class, words, depends)
