"""A suite in SyntaxGym's terms: regions called 1, 2, 3 ..., predictions called 0, 1, 2 ..., the names kept as labels."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from syntagm.errors import InputError
from syntagm.formula import parse
from syntagm.suite import Item, Prediction, Region, Sentence, Suite

_REFERENCE = re.compile(r"\(\s*([\w-]+)(?=\s*;%)")


def numbered(suite: Suite) -> Suite:
    """The suite with numbers for names; itself if it has them already.

    The names of regions become the tags `region.N`, those of predictions `prediction.N`. A sentence without regions becomes
    one region.

    Raises:
        InputError: sentences with different regions.
    """
    found = _names(suite)
    named = not all(_is_numbered(names) for names in found)
    if not named and all(one.name == str(index) for index, one in enumerate(suite.predictions)):
        return suite
    if named and len(found) > 1:
        shown = "; ".join(f"{', '.join(names) or 'none'} in {place}" for names, place in list(found.items())[:2])
        raise InputError(f"suite {suite.name}", f"different regions: {shown}", "the same regions in all sentences")
    names = next(iter(found), ())
    numbers = {name: str(number) for number, name in enumerate(names, 1)}
    labels = {f"region.{number}": name for name, number in numbers.items()} if named else {}
    labels |= {f"prediction.{index}": one.name for index, one in enumerate(suite.predictions)}
    return replace(
        suite,
        items=tuple(_item(item, numbers) for item in suite.items) if named else suite.items,
        predictions=tuple(_predictions(suite, numbers)),
        tags={**suite.tags, **labels},
    )


def _is_numbered(names: tuple[str, ...]) -> bool:
    return names == tuple(str(number) for number in range(1, len(names) + 1)) and bool(names)


def _names(suite: Suite) -> dict[tuple[str, ...], str]:
    """The names of regions that sentences have, each with the place of the first such sentence."""
    found: dict[tuple[str, ...], str] = {}
    for item in suite.items:
        for condition, sentence in item.sentences.items():
            names = tuple(region.name for region in sentence.regions)
            found.setdefault(names, f"item {item.id}, condition {condition}")
    return found


def _item(item: Item, numbers: Mapping[str, str]) -> Item:
    return replace(item, sentences={name: _sentence(one, numbers) for name, one in item.sentences.items()})


def _sentence(sentence: Sentence, numbers: Mapping[str, str]) -> Sentence:
    if not sentence.regions:
        return Sentence(sentence.text, (Region("1", 0, len(sentence.text)),))
    regions = (Region(numbers[region.name], region.start, region.end) for region in sentence.regions)
    return Sentence(sentence.text, tuple(regions))


def _predictions(suite: Suite, numbers: Mapping[str, str]) -> Iterator[Prediction]:
    for index, one in enumerate(suite.predictions):
        text = _REFERENCE.sub(lambda found: "(" + numbers.get(found[1], found[1]), one.formula.text)
        # SyntaxGym's own parser groups with round brackets only.
        yield Prediction(str(index), parse(text.replace("[", "(").replace("]", ")")))
