"""The table of rules, the places where rules are broken, and the functions that rules share."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from syntagm.suites.formula import Reference
from syntagm.suites.suite import Item, Sentence, Suite


@dataclass(frozen=True, slots=True)
class Spot:
    """The place where a rule is broken, and what was found there."""

    item: str = ""
    condition: str = ""
    region: str = ""
    found: str = ""


# The end of a sentence, at the end of a text.
STOP = re.compile(r"[.?!…。？！।؟][\"'”’»)\]]*\s*\Z")
Rule = Callable[[Suite], Iterator[Spot]]
# Code -> rule, as the files of rules are imported.
RULES: dict[str, Rule] = {}


def rule(code: str) -> Callable[[Rule], Rule]:
    """Register a rule under its code.

    Raises:
        ValueError: another rule has this code.
    """

    def add(function: Rule) -> Rule:
        if code in RULES:
            raise ValueError(f"the code {code} is used twice: {RULES[code].__name__} and {function.__name__}")
        RULES[code] = function
        return function

    return add


def sentences(suite: Suite) -> Iterator[tuple[Item, str, Sentence]]:
    """Yield each sentence with its item and the name of its condition."""
    for item in suite.items:
        for condition, sentence in item.sentences.items():
            yield item, condition, sentence


def references(suite: Suite) -> Iterator[tuple[Item, Reference]]:
    distinct = dict.fromkeys(
        reference for prediction in suite.predictions for reference in prediction.formula.references()
    )
    for item in suite.items:
        for reference in distinct:
            yield item, reference


def extent(sentence: Sentence, region: str) -> tuple[int, int] | None:
    return next(((span.start, span.end) for span in sentence.regions if span.name == region), None)
