"""Suites with SyntaxGym's numbers as names: regions 1, 2, 3 ... and predictions 0, 1, 2 ..."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from syntagm.core import InputError
from syntagm.suites.formula import parse
from syntagm.suites.suite import Prediction, Region, Sentence, Suite

_REFERENCE = re.compile(r"\(\s*([\w-]+)(?=\s*;%)")


def numbered(suite: Suite) -> Suite:
    """Replace the names of regions and predictions with numbers. A suite with numbers is returned unchanged."""
    # The names of regions become the tags `region.N`, and those of predictions the tags `prediction.N`. A sentence
    # without regions becomes one region.
    sequences = _names(suite)
    has_names = not all(names and names == tuple(map(str, range(1, len(names) + 1))) for names in sequences)
    if not has_names and all(prediction.name == str(index) for index, prediction in enumerate(suite.predictions)):
        return suite
    if has_names and len(sequences) > 1:
        shown = "; ".join(f"{', '.join(names) or 'none'} in {place}" for names, place in list(sequences.items())[:2])
        raise InputError(f"suite {suite.name}", f"different regions: {shown}", "the same regions in all sentences")
    names = next(iter(sequences), ())
    numbers = {name: str(number) for number, name in enumerate(names, 1)}
    labels = {f"region.{number}": name for name, number in numbers.items()} if has_names else {}
    labels |= {f"prediction.{index}": prediction.name for index, prediction in enumerate(suite.predictions)}
    return replace(
        suite,
        items=tuple(
            replace(item, sentences={name: _sentence(own, numbers) for name, own in item.sentences.items()})
            for item in suite.items
        )
        if has_names
        else suite.items,
        predictions=tuple(_predictions(suite, numbers)),
        tags={**suite.tags, **labels},
    )


def _names(suite: Suite) -> dict[tuple[str, ...], str]:
    """Return the sequences of region names that occur, each with the place of its first sentence."""
    places: dict[tuple[str, ...], str] = {}
    for item in suite.items:
        for condition, sentence in item.sentences.items():
            names = tuple(region.name for region in sentence.regions)
            places.setdefault(names, f"item {item.id}, condition {condition}")
    return places


def _sentence(sentence: Sentence, numbers: Mapping[str, str]) -> Sentence:
    if not sentence.regions:
        return Sentence(sentence.text, (Region("1", 0, len(sentence.text)),))
    regions = (Region(numbers[region.name], region.start, region.end) for region in sentence.regions)
    return Sentence(sentence.text, tuple(regions))


def _predictions(suite: Suite, numbers: Mapping[str, str]) -> Iterator[Prediction]:
    for index, prediction in enumerate(suite.predictions):
        text = _REFERENCE.sub(lambda match: "(" + numbers.get(match[1], match[1]), prediction.formula.text)
        # SyntaxGym's own parser groups with round brackets only.
        yield Prediction(str(index), parse(text.replace("[", "(").replace("]", ")")))
