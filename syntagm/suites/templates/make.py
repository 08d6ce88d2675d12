"""Suites from templates: filling slots, spelling sentences, and tagging items with their configuration.

Entries that no suite of a file uses are refused: nearly always, they are typing errors.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from syntagm.core import InputError, UsageError
from syntagm.suites.languages.spelling import Spelling
from syntagm.suites.suite import Item, Region, Sentence, Suite
from syntagm.suites.templates import draw, expression, pattern, sample, spelling
from syntagm.suites.templates.draw import Filled, Spelled
from syntagm.suites.templates.expand import Effort
from syntagm.suites.templates.expression import VARIABLE, Expression
from syntagm.suites.templates.lexicon import Choice, Word
from syntagm.suites.templates.pattern import Pattern, Phrase
from syntagm.suites.templates.plan import Plan, Planner, plans, refuse_many
from syntagm.suites.templates.spelling import Style
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
                cure = f"Correct the spelling of {name}, or remove it."
                raise InputError(place, f"{kind} that {users} uses", f"{kind} that is used", cure)
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
                if ref.slot == VARIABLE:
                    self.variables.add(ref.name)
            self.slots |= {*expression.slots(condition)} - {VARIABLE}

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
    for text in (*template.conditions.values(), *template.item_tags.values()):
        reached.pattern(text)
    reached.conditions(template.require)
    reached.follow()
    return reached


MAX_SENTENCE = 10_000
MAX_TEXT = 500_000_000

Words = Mapping[str, Mapping[str, str]]


def suites(
    templates: Sequence[Template], only: str = "", n: int | None = None, seed: int = 1, style: Style = "natural"
) -> Iterator[Suite]:
    """Generate the suites of all templates of one file. The same arguments give the same suites on every platform."""
    if n is not None and n < 1:
        raise UsageError("n", str(n), "a number from 1")
    if only and only not in [template.name for template in templates]:
        raise UsageError("suite", f"no suite {only!r}", "one of " + ", ".join(template.name for template in templates))
    # All suites of the file are checked before the first is generated. Of a sample, one configuration is planned, since a
    # misspelt name would otherwise be reported as one that is not used.
    for template in templates:
        refuse_many(template)
    effort = _effort(templates, n)
    prepared = [
        list(islice(Planner(template, effort).every({}), 1)) if template.fill == "sample" else plans(template, effort)
        for template in templates
    ]
    refuse_unused(templates)
    for template, planned in zip(templates, prepared, strict=True):
        if only in ("", template.name):
            yield _suite(template, planned, n, seed, style, effort)


def words(
    templates: Sequence[Template], n: int | None = None, seed: int = 1
) -> Iterator[tuple[str, list[Mapping[str, Word]]]]:
    """Yield the name of each suite of a template, with the word in each slot of each of its items."""
    # The items are those of `suites` with the same arguments, which also says what is refused.
    effort = _effort(templates, n)
    for template in templates:
        refuse_many(template)
        planned = [] if template.fill == "sample" else plans(template, effort)
        spell = _Speller(template.regions, "natural", template.place, template.spelling)
        yield template.name, [filled.words for filled in _filled(template, planned, n, seed, spell, effort)]


def _effort(templates: Sequence[Template], n: int | None) -> Effort:
    items = sum(template.n if n is None else n for template in templates if template.fill == "sample")
    return Effort(templates[0].place, items, len(templates))


def _suite(
    template: Template, planned: Sequence[Plan], n: int | None, seed: int, style: Style, effort: Effort
) -> Suite:
    spell = _Speller(template.regions, style, template.place, template.spelling)
    items = tuple(_item(words, spell) for words in _filled(template, planned, n, seed, spell, effort))
    made = len(items)
    if words := template.vocabulary.words if template.vocabulary else None:
        items = tuple(item for item in items if not any(words.unknown(one.text) for one in item.sentences.values()))
    if template.edit:
        for item in items:
            template.edit.refuse_other(item)
    if not items:
        found = "no items, because no words meet the conditions"
        cure = "Loosen the conditions of its slots, or add words."
        if words:
            found = f"none of {made:,} items has only words of the vocabulary" if made else found
            cure = "Use a larger vocabulary."
        raise InputError(template.place, found, "at least one item", cure)
    drawn = template.fill == "sample" or (template.fill == "cross" and n is not None)
    tags = (template.edit.tags(items, template.predictions) if template.edit else {}) | dict(template.tags)
    made_tags = ({"seed": str(seed)} if drawn else {}) | ({"style": style} if style != "natural" else {})
    if template.vocabulary:
        kept = f"{len(items):,} of {made:,} items" if template.fill != "sample" else ""
        met = len(template.vocabulary.met)
        left = f"{len(template.vocabulary.kept):,} of {met:,} words" if met else ""
        made_tags["vocabulary"] = "; ".join(filter(None, (template.vocabulary.words.about, left, kept)))
    return Suite(template.name, items, template.predictions, tags | made_tags, template.aggregate)


def _filled(
    template: Template, planned: Sequence[Plan], n: int | None, seed: int, spell: "_Speller", effort: Effort
) -> Iterable[Filled]:
    if template.fill == "table" and template.table:
        return draw.rows(planned, template.table, n)
    if template.fill == "cross":
        return draw.cross(planned, template.place, n, seed, effort)
    return sample.sample(template, template.n if n is None else n, seed, spell.together, effort)


def _item(filled: Filled, spell: "_Speller") -> Item:
    words = _forms(filled)
    spelled = filled.own or spell.spelled(filled, words, filled.plan.conditions, {})
    sentences = {
        name: spell.sentence(condition, *spelled[name], filled.id) for name, condition in filled.plan.conditions.items()
    }
    tags = {name: spell.tag(condition, words, filled.id) for name, condition in filled.plan.item_tags.items()}
    return Item(filled.id, sentences, {**filled.plan.values, **tags})


def _forms(filled: Filled) -> Words:
    return {slot: word.forms for slot, word in filled.words.items()}


@dataclass(slots=True)
class _Speller:
    """A speller of sentences. Sentences with the same borders share their region objects, to save memory."""

    names: tuple[str, ...]
    style: Style
    place: str
    own: Spelling
    length: int = 0
    drawn: int = 0
    _regions: dict[tuple[int, ...], tuple[Region, ...]] = field(default_factory=dict)

    def together(self, filled: Filled) -> list[Mapping[str, Spelled]]:
        """Return the sentences of an item by condition, for each suite that shares its draws."""
        words = _forms(filled)
        region_texts: dict[int, str] = {}
        spelled = [self.spelled(filled, words, group, region_texts) for group in filled.plan.together]
        # The texts of all suites are held in memory until the last draw.
        self.drawn += sum(len(text) for group in spelled for text, _ in group.values())
        if self.drawn > MAX_TEXT:
            found = f"more than {MAX_TEXT:,} characters in the sentences drawn for all suites"
            raise InputError(
                f"{self.place}, item {filled.id}", found, "fewer characters", "Ask for fewer items (-n N)."
            )
        return spelled

    def spelled(
        self, filled: Filled, words: Words, group: Mapping[str, Pattern], region_texts: dict[int, str]
    ) -> Mapping[str, Spelled]:
        """Return the text of each pattern of an item, with the bounds of its regions; `region_texts` is added to."""
        return {name: self._text(condition, words, filled.id, region_texts) for name, condition in group.items()}

    def tag(self, tag: Pattern, words: Words, item: str) -> str:
        text = self.own.attached(pattern.fill(tag.regions[0], words))
        self._count(text, tag, item)
        return text

    def _count(self, text: str, source: Pattern, item: str) -> None:
        self.length += len(text)
        if len(text) > MAX_SENTENCE:
            self._refuse_long(len(text), source, item)
        if self.length > MAX_TEXT:
            found = f"more than {MAX_TEXT:,} characters in all items"
            raise InputError(f"{source.place}, item {item}", found, "fewer", "Ask for fewer items (-n N).")

    def _refuse_long(self, length: int, source: Pattern, item: str) -> None:
        expected = f"at most {MAX_SENTENCE:,} in a sentence or tag"
        raise InputError(f"{source.place}, item {item}", f"{length:,} characters", expected, "Use fewer slots.")

    def _text(self, condition: Pattern, words: Words, item: str, region_texts: dict[int, str]) -> Spelled:
        # `region_texts` caches the texts of an item's regions, because its conditions share most of them.
        parts = []
        for region in condition.regions:
            if (text := region_texts.get(id(region))) is None:
                text = region_texts[id(region)] = self.own.attached(pattern.fill(region, words))
            parts.append(text)
        # A text that is much too long is not spelled, which would take long; spelling may shorten others.
        if (length := sum(map(len, parts))) > 5 * MAX_SENTENCE:
            self._refuse_long(length, condition, item)
        return spelling.sentence(parts, self.own, self.style)

    def sentence(self, condition: Pattern, text: str, bounds: tuple[int, ...], item: str) -> Sentence:
        self._count(text, condition, item)
        if not self.names:
            return Sentence(text)
        if bounds not in self._regions:
            spans = zip(self.names, bounds[::2], bounds[1::2], strict=True)
            self._regions[bounds] = tuple(Region(*span) for span in spans)
        return Sentence(text, self._regions[bounds])
