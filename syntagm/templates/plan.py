"""What a template comes to in one configuration: patterns without variables, slots in order, and the words for each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from math import prod

from syntagm.errors import InputError
from syntagm.templates import lexicon, pattern
from syntagm.templates.cells import MISSING
from syntagm.templates.lexicon import Choice, Condition, Word, some
from syntagm.templates.pattern import Pattern, Piece, Settings
from syntagm.templates.template import Template

MAX_CONFIGURATIONS = 10_000
MAX_PIECES = 1_000_000


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot of a plan: the words of a class that can stand there, and the conditions that depend on slots before."""

    name: str
    lexical_class: str
    words: tuple[Word, ...]
    depends: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """One configuration: the value of each variable that it needs, patterns with every form named, the slots in order.

    `used` names the slots that patterns or other slots need. `together` are the conditions of all suites that the same
    draws fill; none if it isn't a sample.
    """

    values: Mapping[str, str]
    conditions: Mapping[str, Pattern]
    item_tags: Mapping[str, Pattern]
    slots: tuple[Slot, ...]
    used: tuple[str, ...]
    together: tuple[Mapping[str, Pattern], ...]

    @property
    def size(self) -> int:
        """How many combinations of words there are, before the conditions between slots: an upper bound of the items."""
        return prod(len(slot.words) for slot in self.slots)

    def patterns(self) -> Iterable[Pattern]:
        """All patterns of the suite itself."""
        yield from self.conditions.values()
        yield from self.item_tags.values()


def plans(template: Template) -> list[Plan]:
    """A plan for each configuration of a template, in the order of its variables, the last one fastest.

    A variable that a configuration doesn't need, as in the other alternative of a rule, makes no two of it.

    Raises:
        InputError: more than 10,000 configurations; a slot, form or variable that there isn't; no word for a slot.
    """
    sizes = [len(values) for values in template.variables.values()]
    # A few dozen variables of two values are more than any limit; the exact product may be too long to print.
    if (number := prod(size for size in islice((size for size in sizes if size > 1), 20))) > MAX_CONFIGURATIONS:
        raise InputError(
            f"{template.place}, [vary]", f"{number:,} configurations or more", f"at most {MAX_CONFIGURATIONS:,}",
            "Take out variables, rules or values.",
        )  # fmt: skip
    lexicon.check(list(template.choices.values()), template.classes, list(template.variables))
    made: dict[tuple[tuple[str, str], ...], Plan] = {}
    pieces = 0
    for values in product(*template.variables.values()):
        plan = _plan(template, dict(zip(template.variables, values, strict=True)))
        made.setdefault(tuple(plan.values.items()), plan)
        pieces += sum(len(region) for one in plan.patterns() for region in one.regions)
        if pieces > MAX_PIECES:
            found = f"patterns of more than {MAX_PIECES:,} pieces in all configurations"
            raise InputError(template.place, found, "fewer", "Take out variables, rules or conditions.")
    return list(made.values())


def _plan(template: Template, values: dict[str, str]) -> Plan:
    settings = Settings(values, template.variables, template.rules, set())
    own = (template.conditions, template.item_tags)
    # Suites that share their draws fill the same slots in the same order.
    family = [_resolved(group, settings) for pair in template.together or (own,) for group in pair]
    conditions, tags = (_resolved(group, settings) for group in own)
    used = _used(template, [one for group in family for one in group.values()])
    choices = [] if template.fill == "table" else _choices(template, used)
    forms = {one.slot: template.classes[one.lexical_class].columns for one in choices}
    forms |= _table_forms(template)
    # Equal regions become one object, so that their text is made once an item.
    one_of: dict[tuple[Piece, ...], tuple[Piece, ...]] = {}
    conditions, tags, *family = [_named(group, forms, one_of) for group in (conditions, tags, *family)]
    slots = tuple(_slot(template, one, values, _needed(one.slot, family[::2])) for one in choices)
    needed = settings.needed | {part.variable for one in choices for part in one.conditions}
    chosen = {name: value for name, value in values.items() if name in needed}
    return Plan(chosen, conditions, tags, slots, tuple(used), tuple(family[::2]) if template.together else ())


def _resolved(group: Mapping[str, Pattern], settings: Settings) -> dict[str, Pattern]:
    return {name: pattern.resolve(one, settings) for name, one in group.items()}


def _table_forms(template: Template) -> dict[str, tuple[str, ...]]:
    """The forms of each slot that the columns of the table name, in order, but a column of the slot itself first."""
    forms: dict[str, tuple[str, ...]] = {}
    for column in template.table.columns if template.table else ():
        slot, _, form = column.partition(".")
        forms[slot] = (*forms.get(slot, ()), form) if form else ("", *forms.get(slot, ()))
    return forms


def _named(
    group: Mapping[str, Pattern],
    forms: Mapping[str, Sequence[str]],
    one_of: dict[tuple[Piece, ...], tuple[Piece, ...]],
) -> dict[str, Pattern]:
    """Patterns with the form of each slot named; the first one where a pattern names none."""
    named = {}
    for name, one in group.items():
        regions = (tuple(_formed(piece, forms, one.place) for piece in region) for region in one.regions)
        named[name] = replace(one, regions=tuple(one_of.setdefault(region, region) for region in regions))
    return named


def _formed(piece: Piece, forms: Mapping[str, Sequence[str]], place: str) -> Piece:
    if not piece.slot:
        return piece
    if piece.slot not in forms:
        raise InputError(place, f"no slot {piece.slot!r}", f"one of: {some(forms)}")
    known = forms[piece.slot]
    if not piece.form:
        return replace(piece, form=known[0])
    if piece.form not in known:
        cure = f"It has one form only: write {{{piece.slot}}}." if tuple(known) == ("",) else ""
        raise InputError(place, f"no form {piece.form!r} of {piece.slot}", f"one of: {some(filter(None, known))}", cure)
    return piece


def _used(template: Template, patterns: Sequence[Pattern]) -> dict[str, str]:
    """The slots that patterns use, with the place of the first that does, and those that conditions on these refer to."""
    used: dict[str, str] = {}
    for one in patterns:
        for piece in one.pieces():
            if piece.slot:
                used.setdefault(piece.slot, one.place)
    for choice in reversed(list(template.choices.values())):
        if choice.slot in used:
            for condition in choice.conditions:
                if condition.slot:
                    used.setdefault(condition.slot, choice.place)
    return used


def _choices(template: Template, used: Mapping[str, str]) -> list[Choice]:
    """The slots that are filled, in order: those that aren't listed and take the class of their name, then `[slots]`.

    A cross leaves out what isn't used. A sample draws it all the same, so that its configurations draw alike.
    """
    unlisted = [name for name in used if name not in template.choices]
    for name in unlisted:
        if name not in template.classes:
            known = some({**template.choices, **template.rules, **template.classes})
            raise InputError(used[name], f"no slot or class {name!r}", f"one of: {known}")
    made = [Choice(name, f"{template.place}, slot {name}", name) for name in unlisted]
    return made + [one for one in template.choices.values() if one.slot in used or template.fill == "sample"]


def _needed(slot: str, groups: Sequence[Mapping[str, Pattern]]) -> set[str]:
    """The forms of a slot that sentences need. A tag may say that there is none."""
    return {piece.form for group in groups for one in group.values() for piece in one.pieces() if piece.slot == slot}


def _slot(template: Template, one: Choice, values: Mapping[str, str], forms: set[str]) -> Slot:
    fixed = [condition for condition in one.conditions if not condition.slot]
    depends = tuple(condition for condition in one.conditions if condition.slot)
    words = tuple(
        word
        for word in template.classes[one.lexical_class].words
        if all(word.forms[form] != MISSING for form in forms)
        and all(lexicon.holds(condition, word, values, {}) for condition in fixed)
    )
    if not words:
        shown = ", ".join([*(condition.text for condition in fixed), *(f"a form {form}" for form in sorted(forms))])
        chosen = ", ".join(f"{name} = {value}" for name, value in values.items())
        found = f"no word in class {one.lexical_class} with {shown}" + (f" where {chosen}" if chosen else "")
        raise InputError(one.place, found, "at least one", "Add words, or take a condition out.")
    return Slot(one.slot, one.lexical_class, words, depends)
