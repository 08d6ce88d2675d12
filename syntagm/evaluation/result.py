"""Types of results: one row per item and measure, and estimates over groups of rows."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from html import escape
from typing import Self

from syntagm.core import public, shown


@dataclass(frozen=True, slots=True)
@public
class Result:
    """The result of one measure for one item and one model.

    Arguments:
        model: name of the model.
        suite: name of the suite.
        item: id of the item.
        measure: name of the measure.
        value: for predictions, 1.0 if the prediction holds, else 0.0; nan if undefined. A convention may give a tie 0.5 or 1.
        n: number of tokens that the value depends on.
        margin: the number of bits by which the prediction holds (above 0) or fails (below 0); nan if undefined.
    """

    model: str
    suite: str
    item: str
    measure: str
    value: float
    n: int
    margin: float


class Kind(Enum):
    """The kind of a measure's values. It decides intervals, tests and axes; the values of the enum are those in run.json.

    >>> Kind.SHARE.described, Kind.SHARE.allows(1.1), Kind.BITS.allows(1.1)
    ('shares between 0 and 1', False, True)
    """

    VERDICT = "verdict"
    SHARE = "share"
    BITS = "bits"
    MS = "ms"
    COUNT = "count"
    RANK = "rank"
    NUMBER = "number"

    @property
    def described(self) -> str:
        """What the values are, as a plural."""
        return _DESCRIBED[self]

    @property
    def bounded(self) -> bool:
        """Whether values lie between 0 and 1, so that their means do."""
        return self in (Kind.VERDICT, Kind.SHARE)

    def allows(self, value: float) -> bool:
        """Return whether a number can be a value of this kind; nan, which is undefined, always can."""
        if math.isnan(value):
            return True
        match self:
            case Kind.VERDICT:
                return value in (0, 1)
            case Kind.SHARE:
                return 0 <= value <= 1
            case Kind.COUNT:
                return value >= 0 and value == math.floor(value) if math.isfinite(value) else False
            case Kind.MS:
                return value >= 0
            case Kind.RANK:
                return value >= 1
        return True


_DESCRIBED = {
    Kind.VERDICT: "verdicts",
    Kind.SHARE: "shares between 0 and 1",
    Kind.BITS: "numbers in bits",
    Kind.MS: "times in milliseconds",
    Kind.COUNT: "counts",
    Kind.RANK: "ranks from 1",
    Kind.NUMBER: "numbers",
}


@dataclass(frozen=True, slots=True)
class MeasureName:
    """The parsed name of a measure in results: `equal_weight(top=0.9)` is the measure `equal_weight` with one option.

    Arguments:
        name: name of the measure without options.
        options: name and value of each option, as spelled.

    >>> MeasureName.parse("equal_weight(top=0.9)")
    MeasureName(name='equal_weight', options=(('top', '0.9'),))
    >>> str(MeasureName.parse("full_sentence")), str(MeasureName.parse("equal_weight(top=0.9)"))
    ('full_sentence', 'equal_weight(top=0.9)')
    """

    name: str
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a name. Text that does not have the form of a measure with options is a name without options."""
        if not (match := _WITH_OPTIONS.fullmatch(text)):
            return cls(text)
        pairs = (option.split("=", 1) for option in match["options"].split(","))
        return cls(match["name"], tuple((name, value) for name, value in pairs))

    def __str__(self) -> str:
        shown = ",".join(f"{name}={value}" for name, value in self.options)
        return f"{self.name}({shown})" if self.options else self.name


_OPTION = r"[a-z_]+=[^,=()]+"
_WITH_OPTIONS = re.compile(rf"(?P<name>[a-z_]+)\((?P<options>{_OPTION}(?:,{_OPTION})*)\)")


@dataclass(frozen=True, slots=True)
@public
class Group:
    """The group of results that an estimate is about. A field is empty if the estimate is not restricted by it.

    Arguments:
        model: name of the model.
        suite: name of the suite; empty for an estimate over several suites.
        measure: name of the measure whose values were averaged, or of the rule that gave one verdict per item.
        rule: for a score over suites, how the verdicts of an item are combined: "first", "all", or the name of a measure.
        labels: tags and values, e.g. `("circuit", "Agreement")`: the suites, items or words with these values.
        counts: names and values of further counts besides the estimate's n, e.g. `("paradigms", 7)`.

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
        """Return the value of a tag; KeyError if there is none."""
        return dict(self.labels)[tag]

    def count(self, name: str) -> int:
        """Return the count with a given name, e.g. "suites"; KeyError if there is none."""
        return dict(self.counts)[name]

    def __str__(self) -> str:
        fields = [(name, getattr(self, name)) for name in ("model", "suite", "measure", "rule")]
        return ", ".join(f"{name}={value}" for name, value in (*fields, *self.labels, *self.counts) if value != "")


@dataclass(frozen=True, slots=True)
@public
class Estimate:
    """An estimate with its confidence interval.

    Arguments:
        group: what the estimate is about.
        value, low, high: the estimate and the limits of its interval, all in the same unit.
        n: number of items.
        method: how the interval was computed, for example "Wilson; random: items".
        ties: number of items that were ties; a tie counts as a failure, unless the convention says otherwise.
        undefined: number of further items without a value; they are excluded from n.
        remarks: what limits the interval, such as "only 3 suites"; they are part of the method, too.
    """

    group: Group
    value: float
    low: float
    high: float
    n: int
    method: str
    ties: int = 0
    undefined: int = 0
    remarks: tuple[str, ...] = ()

    @property
    def design(self) -> str:
        """The method without the remarks."""
        method = self.method
        for remark in self.remarks:
            method = method.replace(f"; {remark}", "", 1)
        return method

    @property
    def numbers(self) -> tuple[float, float, float, int, int, int]:
        """Value, low, high, n, ties and undefined, in the order used by tables."""
        return self.value, self.low, self.high, self.n, self.ties, self.undefined

    def _repr_html_(self) -> str:
        number = f"{self.value:.3f} {interval(self.low, self.high)}, n={self.n}"
        return f"<p>{escape(shown(str(self.group)))}: <b>{number}</b> <small>{escape(shown(self.method))}</small></p>"


def interval(low: float, high: float, form: str = ".3f") -> str:
    """Format an interval.

    >>> interval(0.25, 0.5), interval(-1, 1, "+.1f"), interval(math.nan, math.nan)
    ('[0.250, 0.500]', '[-1.0, +1.0]', 'no interval')
    """
    return "no interval" if math.isnan(low) else f"[{signless(low, form)}, {signless(high, form)}]"


def p_value(p: float) -> str:
    """Format a p-value.

    >>> p_value(0.0009999), p_value(0.001), p_value(0.05)
    ('<0.001', '0.001', '0.050')
    """
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def unseen(units: str) -> str:
    """Say what no interval of a mean knows: units of kinds that are absent from the data.

    >>> unseen("suites").partition(":")[0]
    "Intervals don't know kinds of suites that are absent"
    """
    # (1 - .26)**10 = .05, and (1 - .095)**30 = .05.
    absent = f"a kind that makes up a quarter of all {units} may be missing from 10, a tenth from 30"
    return f"Intervals don't know kinds of {units} that are absent: {absent}."


# A method of a mean without bounds, such as bits, over items, and the degrees of freedom for the items of one suite.
_NUMBERS_OF_ITEMS = re.compile(r"(^t\((?P<freedom>\d+)\)|(^|; )(t\(|normal))[^;]*; random: items")
_MANY = 100
# Of intervals from 20 items, of which 3% or 5% are 15 or 10 standard deviations away, 25% or 20% are wrong; from 60, 13%.
FEW_NUMBERS = (
    f"Intervals of bits from fewer than {_MANY} items are wrong in up to a quarter of samples if a few percent of all items are "
    "far from the others."
)
# The same as figures say it.
IN_BRIEF = {
    unseen("suites"): "Intervals don't know kinds of suites that are absent.",
    unseen("items"): "Intervals don't know kinds of items that are absent.",
    FEW_NUMBERS: f"Intervals of bits from fewer than {_MANY} items may miss rare items far from the others.",
}


def unseen_of(methods: Iterable[str]) -> tuple[str, ...]:
    """Return what intervals with these methods don't know: kinds of suites that are absent; of bits, also kinds of items.

    >>> [note[:38] for note in unseen_of(["t(9) and Hall; random: items", "Wilson; random: items"])]
    ["Intervals don't know kinds of items th", 'Intervals of bits from fewer than 100 ']
    """
    listed = list(methods)
    suites = any("random: suites" in method for method in listed)
    numbers = [found for method in listed if (found := _NUMBERS_OF_ITEMS.search(method))]
    few = any(found["freedom"] and int(found["freedom"]) < _MANY - 1 for found in numbers)
    return tuple(
        note for note, holds in ((unseen("suites"), suites), (unseen("items"), numbers), (FEW_NUMBERS, few)) if holds
    )


def signless(number: float, form: str) -> str:
    """Format a number, without a sign if all its digits are 0.

    >>> signless(-1e-9, "+.3f"), signless(0.25, "+.3f")
    ('0.000', '+0.250')
    """
    text = format(number, form)
    return text.lstrip("+-") if not any(digit in text for digit in "123456789") else text
