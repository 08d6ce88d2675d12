"""The table of rules, where a rule is broken, and what rules ask of a suite."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from syntagm.formula import Reference
from syntagm.suite import Item, Sentence, Suite


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a rule is broken, and what stands there."""

    item: str = ""
    condition: str = ""
    region: str = ""
    found: str = ""


Rule = Callable[[Suite], Iterator[Spot]]
# Code -> rule, as the files of rules are imported.
RULES: dict[str, Rule] = {}


def rule(code: str) -> Callable[[Rule], Rule]:
    """Give a rule its code, which no other rule may have."""

    def add(function: Rule) -> Rule:
        if code in RULES:
            raise ValueError(f"the code {code} twice: {RULES[code].__name__} and {function.__name__}")
        RULES[code] = function
        return function

    return add


def sentences(suite: Suite) -> Iterator[tuple[Item, str, Sentence]]:
    """Each sentence with its item and the name of its condition."""
    for item in suite.items:
        for condition, sentence in item.sentences.items():
            yield item, condition, sentence


def references(suite: Suite) -> Iterator[tuple[Item, Reference]]:
    """Each item with each region that some prediction names, once."""
    named = dict.fromkeys(
        reference for prediction in suite.predictions for reference in prediction.formula.references()
    )
    for item in suite.items:
        for reference in named:
            yield item, reference


def extent(sentence: Sentence, region: str) -> tuple[int, int] | None:
    """Where a region starts and ends; None if the sentence has none of that name."""
    return next(((found.start, found.end) for found in sentence.regions if found.name == region), None)
