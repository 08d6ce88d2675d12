"""Suites from templates: filling slots, spelling sentences, and tagging items with their configuration."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from syntagm.core import InputError, UsageError
from syntagm.suites.languages.spelling import Spelling
from syntagm.suites.suite import Item, Region, Sentence, Suite
from syntagm.suites.templates import draw, pattern, sample, spelling
from syntagm.suites.templates.draw import Filled, Spelled
from syntagm.suites.templates.effort import Effort
from syntagm.suites.templates.lexicon import Word
from syntagm.suites.templates.pattern import Pattern
from syntagm.suites.templates.plan import Plan, Planner, plans, refuse_many
from syntagm.suites.templates.spelling import Style
from syntagm.suites.templates.template import Template
from syntagm.suites.templates.unused import refuse_unused

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


def most_items(template: Template) -> int:
    """Return the maximum number of items that a template generates, without generating them."""
    if template.fill == "sample":
        return template.n
    planned = plans(template)
    return len(template.table.rows) * len(planned) if template.table else draw.bound(planned)


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
        found, cure = (
            "no items, because no words meet the conditions",
            "Loosen the conditions of its slots, or add words.",
        )
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
        """Return the tag that a pattern produces from words."""
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
        """Return the sentence with a text that a pattern produced."""
        self._count(text, condition, item)
        if not self.names:
            return Sentence(text)
        if bounds not in self._regions:
            spans = zip(self.names, bounds[::2], bounds[1::2], strict=True)
            self._regions[bounds] = tuple(Region(*span) for span in spans)
        return Sentence(text, self._regions[bounds])
