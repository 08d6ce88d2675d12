"""A check for unused entries of a template, which are nearly always typing errors."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from syntagm.core import InputError
from syntagm.suites.templates import expression
from syntagm.suites.templates.expression import VARIABLE, Expression
from syntagm.suites.templates.lexicon import Choice
from syntagm.suites.templates.pattern import Pattern
from syntagm.suites.templates.phrases import Phrase
from syntagm.suites.templates.template import Template

_KINDS = {
    "slots": ("a slot", "no pattern and no other slot"),
    "vary": ("a variable", "no pattern and no slot"),
    "rules": ("a rule", "no pattern"),
    "phrases": ("a phrase", "no pattern"),
    "classes": ("a class", "no slot"),
}


def refuse_unused(templates: Sequence[Template]) -> None:
    """Refuse slots, variables, rules, phrases, classes and columns of a table that no suite of the file uses."""
    # An entry in the section of a suite must be used by that suite; an entry for the whole file must be used by at
    # least one suite.
    reached = [_reached(template) for template in templates]
    used = {place for one in reached for place in one.places()}
    columns = {column for one in reached for column in one.columns()}
    for template in templates:
        for (section, name), place in template.places.items():
            if place not in used:
                kind, users = _KINDS[section]
                raise InputError(
                    place,
                    f"{kind} that {users} uses",
                    f"{kind} that is used",
                    f"Correct the spelling of {name}, or remove it.",
                )
        _refuse_in_phrases(template)
        for column in template.table.columns if template.table else ():
            place = f"{template.table.place if template.table else ''}, column {column}"
            if place not in columns:
                cure = "Correct its spelling, use it in a pattern or in [item_tags], or remove it."
                raise InputError(place, "a column that no pattern uses", "a column that is used", cure)


def _refuse_in_phrases(template: Template) -> None:
    """Refuse slots and parameters of the template's own phrases that no alternative needs."""
    own = {place for (section, _), place in template.places.items() if section == "phrases"}
    for phrase in template.phrases.values():
        if phrase.place in own:
            names = _Reached(template)
            for alternative in phrase.alternatives.values():
                names.pattern(alternative.pattern)
                names.conditions(alternative.when)
            waiting, followed = list(names.slots), set[str]()
            while waiting:
                name = waiting.pop()
                if name in phrase.choices and name not in followed:
                    followed.add(name)
                    named = _Reached(template)
                    named.choice(phrase.choices[name])
                    names.slots |= named.slots
                    names.variables |= named.variables
                    waiting += named.slots
            for name in (*phrase.parameters, *phrase.choices):
                if name.removeprefix(VARIABLE) not in (names.variables if name[0] == VARIABLE else names.slots):
                    kind = "slot" if name in phrase.choices else "parameter"
                    cure = f"Correct the spelling of {name}, or remove it."
                    raise InputError(
                        phrase.place, f"a {kind} {name} that it doesn't use", f"a {kind} that is used", cure
                    )


@dataclass(slots=True)
class _Reached:
    """What patterns name, directly or through rules, phrases and conditions, whatever the configuration."""

    template: Template
    slots: set[str] = field(default_factory=set)
    variables: set[str] = field(default_factory=set)
    phrases: set[str] = field(default_factory=set)
    classes: set[str] = field(default_factory=set)
    forms: set[tuple[str, str, str]] = field(default_factory=set)

    def pattern(self, pattern: Pattern) -> None:
        for piece in pattern.pieces():
            if piece.variable or piece.how:
                self.variables.add(piece.variable or piece.form)
            if piece.slot in self.template.phrases:
                self.phrases.add(piece.slot)
            elif piece.slot:
                self.slots.add(piece.slot)
                self.forms.add((piece.slot, piece.how, piece.form))
            for argument in piece.arguments or ():
                (self.variables if argument[0] in "$!" else self.slots).add(argument.lstrip("$!"))

    def conditions(self, conditions: Iterable[Expression]) -> None:
        for condition in conditions:
            for ref in expression.columns(condition):
                (self.variables if ref.slot == VARIABLE else self.slots).add(
                    ref.name if ref.slot == VARIABLE else ref.slot
                )
            self.slots |= {
                name
                for atom in expression.atoms(condition)
                if isinstance(atom, expression.Differ)
                for name in (atom.slot, atom.other)
            }

    def choice(self, choice: Choice) -> None:
        for arm in choice.arms:
            self.classes.add(arm.name)
            self.conditions(arm.conditions)

    def phrase(self, phrase: Phrase) -> None:
        for alternative in phrase.alternatives.values():
            self.pattern(alternative.pattern)
            self.conditions(alternative.when)
        for choice in phrase.choices.values():
            self.choice(choice)

    def follow(self) -> None:
        """Follow names until there are no new ones."""
        # Each name is followed by itself: in a long chain of phrases, every name is the only new one.
        waiting = self._names()
        followed: set[tuple[str, bool]] = set()
        while waiting:
            name, is_slot = waiting.pop()
            if (name, is_slot) not in followed:
                followed.add((name, is_slot))
                reached = _Reached(self.template)
                reached.name(name, is_slot)
                self.slots |= reached.slots
                self.variables |= reached.variables
                self.phrases |= reached.phrases
                self.classes |= reached.classes
                self.forms |= reached.forms
                waiting += reached._names()

    def _names(self) -> list[tuple[str, bool]]:
        """Return the names, each with whether it is a slot."""
        others = self.variables | self.phrases | self.classes
        return [(name, True) for name in self.slots] + [(name, False) for name in others]

    def name(self, name: str, is_slot: bool) -> None:
        """Reach what a name stands for."""
        template = self.template
        if name in template.phrases:
            self.phrase(template.phrases[name])
        if name in template.variables:
            self.conditions(template.variables[name].when)
        if is_slot and template.fill != "table":
            if name in template.choices:
                self.choice(template.choices[name])
            else:
                self.classes.add(name)
        if name in template.lexicon.aliases:
            self.choice(template.lexicon.aliases[name])

    def places(self) -> Iterator[str]:
        """Yield the places of the entries that are used."""
        slots = set() if self.template.fill == "table" else self.slots
        by_section = {"slots": slots, "vary": self.variables, "classes": self.classes}
        for (section, name), place in self.template.places.items():
            if section in ("rules", "phrases"):
                if name.partition("(")[0].strip() in self.phrases | self.variables:
                    yield place
            elif name in by_section[section]:
                yield place

    def columns(self) -> Iterator[str]:
        """Yield the places of the columns of the table that are used."""
        table = self.template.table
        columns = table.columns if table else ()
        first: dict[str, str] = {}
        for column in columns:
            slot = column.partition(".")[0]
            first[slot] = column if column == slot else first.get(slot, column)
        for slot, how, form in self.forms:
            values = self.template.variables[form].values if how and form in self.template.variables else (form,)
            for value in values:
                column = f"{slot}.{value}" if value else first.get(slot, slot)
                yield f"{table.place if table else ''}, column {column}"


def _reached(template: Template) -> _Reached:
    reached = _Reached(template)
    for pattern in (*template.conditions.values(), *template.item_tags.values()):
        reached.pattern(pattern)
    reached.conditions(template.require)
    reached.follow()
    return reached
