"""Make a suite of a template: fill the slots, spell the sentences, note the configuration of each item."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from syntagm.grammar import draw, pattern, spelling
from syntagm.grammar.draw import Filled
from syntagm.grammar.plan import plans
from syntagm.grammar.spelling import Style
from syntagm.grammar.template import Template
from syntagm.suite import Item, Region, Sentence, Suite


def suite(template: Template, n: int | None = None, seed: int = 1, style: Style = "natural") -> Suite:
    """The suite that a template makes; the same arguments give the same suite everywhere.

    Arguments:
        template: from `template.read`.
        n: how many items: the first of a table, draws from a cross, draws of a sample; None for what the template says.
        seed: of the draws.
        style: `natural`, or `published`: lower case, no punctuation.

    Raises:
        InputError: the template can't be filled; the message names slot and row.
    """
    prepared = list(plans(template))
    spell = _Speller(template.regions, style)
    if template.fill == "table" and template.table:
        filled = draw.rows(prepared, template.table, n)
    elif template.fill == "cross":
        filled = draw.cross(prepared, template.place, n, seed)
    else:
        filled = draw.sample(prepared, template.place, n or template.n, seed, spell.texts)
    items = tuple(_item(one, spell) for one in filled)
    drawn = template.fill == "sample" or (template.fill == "cross" and n is not None)
    made = ({"seed": str(seed)} if drawn else {}) | ({"style": style} if style != "natural" else {})
    return Suite(template.name, items, template.predictions, dict(template.tags) | made, template.aggregate)


def bound(template: Template) -> int:
    """How many items a template makes at most, computed without making them."""
    prepared = list(plans(template))
    if template.table:
        return len(template.table.rows) * len(prepared)
    return draw.bound(prepared) if template.fill == "cross" else template.n


def _item(filled: Filled, spell: "_Speller") -> Item:
    forms = _forms(filled)
    sentences = {name: spell.sentence(one, forms) for name, one in filled.plan.conditions.items()}
    tags = {name: pattern.fill(one.regions[0], forms) for name, one in filled.plan.item_tags.items()}
    return Item(filled.id, sentences, {**filled.plan.values, **tags})


def _forms(filled: Filled) -> dict[str, Mapping[str, str]]:
    return {slot: word.forms for slot, word in filled.words.items()}


@dataclass(slots=True)
class _Speller:
    """Sentences of patterns. Sentences with borders at the same places share their regions, for there are few such."""

    names: tuple[str, ...]
    style: Style
    _regions: dict[tuple[int, ...], tuple[Region, ...]] = field(default_factory=dict)

    def texts(self, filled: Filled) -> tuple[str, ...]:
        """The sentences of an item, by condition."""
        forms = _forms(filled)
        return tuple(self.sentence(one, forms).text for one in filled.plan.conditions.values())

    def sentence(self, one: pattern.Pattern, forms: Mapping[str, Mapping[str, str]]) -> Sentence:
        """The sentence that a pattern makes of words."""
        text, bounds = spelling.sentence([pattern.fill(region, forms) for region in one.regions], self.style)
        if not self.names:
            return Sentence(text)
        if bounds not in self._regions:
            spans = zip(self.names, bounds[::2], bounds[1::2], strict=True)
            self._regions[bounds] = tuple(Region(*span) for span in spans)
        return Sentence(text, self._regions[bounds])
