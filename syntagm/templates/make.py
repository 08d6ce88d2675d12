"""Make suites of templates: fill the slots, spell the sentences, note the configuration of each item."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from syntagm.errors import InputError, UsageError
from syntagm.suite import Item, Region, Sentence, Suite
from syntagm.templates import draw, pattern, sample, spelling
from syntagm.templates.draw import Filled
from syntagm.templates.pattern import Pattern
from syntagm.templates.plan import Plan, plans
from syntagm.templates.spelling import Style
from syntagm.templates.template import Template
from syntagm.templates.unused import refuse_unused

MAX_SENTENCE = 10_000
MAX_TEXT = 500_000_000

Words = Mapping[str, Mapping[str, str]]


def suites(
    templates: Sequence[Template], only: str = "", n: int | None = None, seed: int = 1, style: Style = "natural"
) -> Iterator[Suite]:
    """The suites of all templates of one file; the same arguments give the same suites everywhere.

    Arguments:
        templates: from `template.read`.
        only: the name of the one suite that is wanted.
        n: how many items at most: the first of a table, draws from a cross, draws of a sample; None for what the
            template says.
        seed: of the draws.
        style: `natural`, or `published`: lower case, no punctuation.

    Raises:
        InputError: a template can't be filled, or says something that nothing uses; with the slot or row.
        UsageError: `n` below 1, or no suite of the name.
    """
    if n is not None and n < 1:
        raise UsageError("n", str(n), "a number from 1")
    if only and only not in [one.name for one in templates]:
        raise UsageError("suite", f"no suite {only!r}", "one of " + ", ".join(one.name for one in templates))
    prepared = [plans(template) for template in templates]
    refuse_unused(templates, prepared)
    for template, planned in zip(templates, prepared, strict=True):
        if only in ("", template.name):
            yield _suite(template, planned, n, seed, style)


def bound(template: Template) -> int:
    """How many items a template makes at most, computed without making them.

    Raises:
        InputError: as for `plans`.
    """
    planned = plans(template)
    if template.table:
        return len(template.table.rows) * len(planned)
    return draw.bound(planned) if template.fill == "cross" else template.n


def _suite(template: Template, planned: Sequence[Plan], n: int | None, seed: int, style: Style) -> Suite:
    spell = _Speller(template.regions, style, template.place)
    if template.fill == "table" and template.table:
        filled = draw.rows(planned, template.table, n)
    elif template.fill == "cross":
        filled = draw.cross(planned, template.place, n, seed)
    else:
        filled = sample.sample(planned, template.place, template.n if n is None else n, seed, spell.texts)
    items = tuple(_item(one, spell) for one in filled)
    if not items:
        cure = "Loosen the conditions of its slots, or add words."
        raise InputError(template.place, "no items: no words meet the conditions", "at least one", cure)
    drawn = template.fill == "sample" or (template.fill == "cross" and n is not None)
    made = ({"seed": str(seed)} if drawn else {}) | ({"style": style} if style != "natural" else {})
    return Suite(template.name, items, template.predictions, dict(template.tags) | made, template.aggregate)


def _item(filled: Filled, spell: "_Speller") -> Item:
    words = _forms(filled)
    said: dict[int, str] = {}
    sentences = {name: spell.sentence(one, words, filled.id, said) for name, one in filled.plan.conditions.items()}
    tags = {name: spell.tag(one, words, filled.id) for name, one in filled.plan.item_tags.items()}
    return Item(filled.id, sentences, {**filled.plan.values, **tags})


def _forms(filled: Filled) -> Words:
    return {slot: word.forms for slot, word in filled.words.items()}


@dataclass(slots=True)
class _Speller:
    """Sentences of patterns. Sentences with borders at the same places share their regions, for there are few such."""

    names: tuple[str, ...]
    style: Style
    place: str
    length: int = 0
    drawn: int = 0
    _regions: dict[tuple[int, ...], tuple[Region, ...]] = field(default_factory=dict)

    def texts(self, filled: Filled) -> list[tuple[str, ...]]:
        """What an item says in each suite that shares its draws, the sentences by condition."""
        words = _forms(filled)
        said: dict[int, str] = {}
        made = [tuple(self._text(one, words, said)[0] for one in group.values()) for group in filled.plan.together]
        # They are kept until the last draw, those of all suites.
        self.drawn += sum(len(text) for group in made for text in group)
        if self.drawn > MAX_TEXT:
            found = f"more than {MAX_TEXT:,} characters in what is drawn for all suites"
            raise InputError(f"{self.place}, item {filled.id}", found, "fewer", "Ask for fewer items (-n N).")
        return made

    def tag(self, one: Pattern, words: Words, item: str) -> str:
        """The tag that a pattern makes of words; InputError if it's too long, or all texts are."""
        text = pattern.fill(one.regions[0], words)
        self._count(text, one, item)
        return text

    def _count(self, text: str, one: Pattern, item: str) -> None:
        self.length += len(text)
        if len(text) > MAX_SENTENCE or self.length > MAX_TEXT:
            found = f"{len(text):,} characters" if len(text) > MAX_SENTENCE else f"more than {MAX_TEXT:,} in all items"
            raise InputError(f"{one.place}, item {item}", found, f"at most {MAX_SENTENCE:,} in a sentence or tag")

    def _text(self, one: Pattern, words: Words, said: dict[int, str]) -> tuple[str, tuple[int, ...]]:
        # What a region says is kept in `said` while an item is made: conditions share most of their regions.
        parts = []
        for region in one.regions:
            if (text := said.get(id(region))) is None:
                text = said[id(region)] = pattern.fill(region, words)
            parts.append(text)
        return spelling.sentence(parts, self.style)

    def sentence(self, one: Pattern, words: Words, item: str, said: dict[int, str]) -> Sentence:
        """The sentence that a pattern makes of words; InputError if it's too long, or all are."""
        text, bounds = self._text(one, words, said)
        self._count(text, one, item)
        if not self.names:
            return Sentence(text)
        if bounds not in self._regions:
            spans = zip(self.names, bounds[::2], bounds[1::2], strict=True)
            self._regions[bounds] = tuple(Region(*span) for span in spans)
        return Sentence(text, self._regions[bounds])
