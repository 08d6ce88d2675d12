"""What comes out: a row per item and measure, and estimates over rows; what an estimate is about, what a measure's values are."""

import re
from dataclasses import dataclass
from enum import Enum
from html import escape
from typing import Self


@dataclass(frozen=True, slots=True)
class Result:
    """What one measure says of one item under one model.

    Arguments:
        value: 1.0 or 0.0 for a prediction that holds or not; nan where it is undefined.
        n: how many tokens the value rests on.
        margin: by how many bits the prediction holds (above 0) or fails; nan where it is undefined.
    """

    model: str
    suite: str
    item: str
    measure: str
    value: float
    n: int
    margin: float


class Kind(Enum):
    """What the values of a measure are."""

    VERDICT = "verdicts"
    SHARE = "shares between 0 and 1"
    BITS = "numbers in bits"


@dataclass(frozen=True, slots=True)
class MeasureName:
    """The name of a measure as it stands in results, taken apart: `equal_weight(top=0.9)` has the option top.

    Arguments:
        options: name and value of each, as spelled.

    >>> MeasureName.parse("equal_weight(top=0.9)")
    MeasureName(name='equal_weight', options=(('top', '0.9'),))
    >>> str(MeasureName.parse("full_sentence")), str(MeasureName.parse("equal_weight(top=0.9)"))
    ('full_sentence', 'equal_weight(top=0.9)')
    """

    name: str
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Take a name apart. What is not spelled as a measure with options, such as many a prediction, has none."""
        if not (found := _WITH_OPTIONS.fullmatch(text)):
            return cls(text)
        pairs = (option.split("=", 1) for option in found["options"].split(","))
        return cls(found["name"], tuple((name, value) for name, value in pairs))

    def __str__(self) -> str:
        shown = ",".join(f"{name}={value}" for name, value in self.options)
        return f"{self.name}({shown})" if self.options else self.name


_OPTION = r"[a-z_]+=[^,=()]+"
_WITH_OPTIONS = re.compile(rf"(?P<name>[a-z_]+)\((?P<options>{_OPTION}(?:,{_OPTION})*)\)")


@dataclass(frozen=True, slots=True)
class Group:
    """What an estimate is about. What it is not about, or is over all of, is empty.

    Arguments:
        model: the name of the model.
        suite: one suite; empty for an estimate over several.
        measure: the name of the measure whose values were averaged, or the rule that made one verdict an item.
        rule: of a score over suites: "first", "all", or the name of a measure.
        labels: tag and value, say `("circuit", "Agreement")`: over the suites, items or words with that value.
        counts: name and number of what is counted of the group beside the n of its estimate, say `("paradigms", 7)`.

    >>> group = Group("toy", rule="first", labels=(("circuit", "Agreement"),), counts=(("suites", 3),))
    >>> group["circuit"], group.count("suites"), str(group)
    ('Agreement', 3, 'model=toy, rule=first, circuit=Agreement, suites=3')
    """

    model: str = ""
    suite: str = ""
    measure: str = ""
    rule: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    counts: tuple[tuple[str, int], ...] = ()

    def __getitem__(self, tag: str) -> str:
        """The value of a tag; KeyError without it."""
        return dict(self.labels)[tag]

    def count(self, name: str) -> int:
        """How many there are of what has that name; KeyError if it was not counted."""
        return dict(self.counts)[name]

    def __str__(self) -> str:
        named = [(name, getattr(self, name)) for name in ("model", "suite", "measure", "rule")]
        return ", ".join(f"{name}={value}" for name, value in (*named, *self.labels, *self.counts) if value != "")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval.

    Arguments:
        group: what it is about.
        value, low, high: the estimate and the two ends of its interval, in the unit of the method.
        n: how many items it rests on.
        ties: how many of them were ties (counted as not holding).
        undefined: how many further items had no value and are left out of n.
        method: how the interval was made, with seed, e.g. "bootstrap(items, 10000, seed 1)".
    """

    group: Group
    value: float
    low: float
    high: float
    n: int
    method: str
    ties: int = 0
    undefined: int = 0

    def _repr_html_(self) -> str:
        number = f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}], n={self.n}"
        return f"<p>{escape(repr(self.group))}: <b>{number}</b> <small>{escape(self.method)}</small></p>"
