"""What a template comes to in one configuration: patterns without variables, slots in order, and the words for each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from syntagm.errors import InputError
from syntagm.grammar import lexicon, pattern
from syntagm.grammar.cells import MISSING
from syntagm.grammar.lexicon import Choice, Condition, Word
from syntagm.grammar.pattern import Pattern
from syntagm.grammar.template import Template

MAX_CONFIGURATIONS = 10_000


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot of a plan: the words that can stand there, and the conditions that depend on the slots before."""

    name: str
    words: tuple[Word, ...]
    depends: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """One configuration: the value of each variable, patterns with every form named, and the slots in order."""

    values: Mapping[str, str]
    conditions: Mapping[str, Pattern]
    item_tags: Mapping[str, Pattern]
    slots: tuple[Slot, ...]

    @property
    def size(self) -> int:
        """How many combinations of words there are, before the conditions between slots: an upper bound of the items."""
        return prod(len(slot.words) for slot in self.slots)


def plans(template: Template) -> Iterator[Plan]:
    """A plan for each configuration of a template, in the order of its variables, the last one fastest.

    Raises:
        InputError: more than 10,000 configurations; a slot, form or variable that there isn't; no word for a slot.
    """
    number = prod(len(values) for values in template.variables.values())
    if number > MAX_CONFIGURATIONS:
        cure = "Take out variables or values."
        raise InputError(
            f"{template.place}, [vary]", f"{number:,} configurations", f"at most {MAX_CONFIGURATIONS:,}", cure
        )
    lexicon.check(list(template.choices.values()), template.classes, list(template.variables))
    for values in product(*template.variables.values()):
        yield _plan(template, dict(zip(template.variables, values, strict=True)))


def _plan(template: Template, values: dict[str, str]) -> Plan:
    firsts = _table_forms(template) if template.fill == "table" else {}
    patterns = {name: _resolved(template, one, values) for name, one in template.conditions.items()}
    tags = {name: _resolved(template, one, values) for name, one in template.item_tags.items()}
    if template.fill == "table":
        named = [{name: _named(one, firsts) for name, one in group.items()} for group in (patterns, tags)]
        return Plan(values, named[0], named[1], ())
    choices = _choices(template, [*patterns.values(), *tags.values()])
    firsts = {one.slot: template.classes[one.lexical_class].columns for one in choices}
    patterns, tags = ({name: _named(one, firsts) for name, one in group.items()} for group in (patterns, tags))
    needs = [(piece.slot, piece.form) for one in patterns.values() for piece in one.pieces() if piece.slot]
    slots = tuple(_slot(template, one, values, {form for slot, form in needs if slot == one.slot}) for one in choices)
    return Plan(values, patterns, tags, slots)


def _resolved(template: Template, one: Pattern, values: Mapping[str, str]) -> Pattern:
    return pattern.resolve(pattern.expand(one, template.rules, values), values, template.variables)


def _table_forms(template: Template) -> dict[str, tuple[str, ...]]:
    """The forms of each slot that the columns of the table name, in order."""
    forms: dict[str, tuple[str, ...]] = {}
    for column in template.table.columns if template.table else ():
        slot, _, form = column.partition(".")
        forms[slot] = (*forms.get(slot, ()), form)
    return forms


def _named(one: Pattern, forms: Mapping[str, Sequence[str]]) -> Pattern:
    """The pattern with the form of each slot named; the first one where the pattern names none."""
    regions = []
    for region in one.regions:
        pieces = []
        for piece in region:
            if piece.slot and piece.slot not in forms:
                raise InputError(one.place, f"no slot {piece.slot!r}", "one of " + ", ".join(forms))
            if piece.slot and not piece.form:
                piece = replace(piece, form=forms[piece.slot][0])
            elif piece.slot and piece.form not in forms[piece.slot]:
                known = ", ".join(filter(None, forms[piece.slot])) or "none"
                raise InputError(one.place, f"no form {piece.form!r} of {piece.slot}", f"one of: {known}")
            pieces.append(piece)
        regions.append(tuple(pieces))
    return replace(one, regions=tuple(regions))


def _choices(template: Template, patterns: Sequence[Pattern]) -> list[Choice]:
    """The slots in the order in which they are filled: first those that aren't listed, then `[slots]`.

    A cross leaves out what no pattern uses. A sample draws it all the same, so that the suites of a file share their draws.
    """
    used = dict.fromkeys(piece.slot for one in patterns for piece in one.pieces() if piece.slot)
    unlisted = [name for name in used if name not in template.choices]
    for name in unlisted:
        if name not in template.classes:
            where = next(one.place for one in patterns for piece in one.pieces() if piece.slot == name)
            known = ", ".join([*template.choices, *template.rules, *template.classes]) or "none"
            raise InputError(where, f"no slot or class {name!r}", f"one of: {known}")
    listed = [one for one in template.choices.values() if one.slot in used or template.fill == "sample"]
    needed = {condition.slot for one in listed for condition in one.conditions if condition.slot}
    listed = [one for one in template.choices.values() if one in listed or one.slot in needed]
    return [Choice(name, f"{template.place}, slot {name}", name) for name in unlisted] + listed


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
    return Slot(one.slot, words, depends)
