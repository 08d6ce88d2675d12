"""Rules for well-formed suites.

A rule is a function. The first sentence of its docstring is the message, and the rest is the cure. Codes that begin with E
are errors: a run would refuse the suite, or its numbers would be wrong. Codes that begin with W are warnings: the suite
runs, but its author should check it. The command `check` itself reports E001, a file that can't be read. To add a rule,
decorate a function with `@rule(CODE)` in the file for its topic, or in a new file in this folder; other packages do so
in a module that is an entry point of the group `syntagm.check`.
"""

import importlib
import math
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from syntagm.core import registry, shown_lines
from syntagm.suites.check import _spot, alike
from syntagm.suites.check._items import is_left_out as is_left_out
from syntagm.suites.check._spot import Rule, Spot, rule as rule
from syntagm.suites.suite import Suite

for _theme in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_theme}")
for _theme in registry.added("check"):
    registry.find("check", _theme)
RULES: dict[str, Rule] = dict(sorted(_spot.RULES.items()))
# Warnings that a run shows, too: the numbers may be of something else.
SHOWN_BY_RUNS = ("W208", "W209", "W302", "W309", "W310")
# A model must be right about this share of pairs, of at least so many, to be a witness of swapped ones.
RELIABLE, LEAST = 0.8, 10


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation of a rule: its place, what was found, and the cure."""

    code: str
    file: str
    suite: str
    item: str
    condition: str
    region: str
    message: str
    cure: str

    @property
    def error(self) -> bool:
        return self.code.startswith("E")

    def to_json(self) -> dict[str, str]:
        """Return the finding as an object; `path` is the file."""
        return {
            "code": self.code, "path": self.file, "suite": self.suite, "item": self.item, "condition": self.condition,
            "region": self.region, "message": self.message, "cure": self.cure,
        }  # fmt: skip

    def __str__(self) -> str:
        parts = [self.file or self.suite]
        places = ("item", self.item), ("condition", self.condition), ("region", self.region)
        parts += [f"{kind} {name}" for kind, name in places if name]
        return shown_lines(f"{', '.join(parts)}: {self.code} {self.message}. {self.cure}".rstrip())


def violations(suites: Sequence[Suite], file: str = "") -> Iterator[Finding]:
    """Check the suites of one file against all rules, suite by suite.

    >>> from syntagm.suites.suite import Item, Sentence, Suite
    >>> pair = Item("1", {"good": Sentence("The dog barks."), "bad": Sentence(" The dog bark.")})
    >>> for finding in violations([Suite("agreement", (pair,), ())]):
    ...     print(finding)
    agreement: W101 no predictions. Add one, or nothing is tested.
    agreement, item 1, condition bad: W302 white space at the ends of the sentence. Remove it.
    """
    for suite in suites:
        for code, each in RULES.items():
            for spot in each(suite):
                yield _finding(code, each, file, suite.name, spot)


def repeated(files: Mapping[str, Sequence[Suite]]) -> Iterator[Finding]:
    """Find suites with the same name, because a run would mix up their results."""
    # Names that several files have should be told apart before; see `materials.suite_files.told_apart`.
    seen: dict[str, str] = {}
    for file, suites in files.items():
        for suite in suites:
            if suite.name in seen:
                message = f"a second suite called {suite.name!r}, the first is in {seen[suite.name]}"
                yield Finding("E103", file, suite.name, "", "", "", message, "Rename one of them.")
            seen.setdefault(suite.name, file)


def near_duplicates(files: Mapping[str, Sequence[Suite]]) -> Iterator[Finding]:
    """Find items of test files whose sentences stand, but for one word, in a training file; see `alike.shared`."""
    for file, suite, item, condition, place in alike.shared(files):
        message = f"nearly the same sentence in training data: {place}"
        yield Finding("W106", file, suite, item, condition, "", message, "Leave it out of one of the two.")


def _finding(code: str, broken: Rule, file: str, suite: str, spot: Spot) -> Finding:
    message, _, cure = " ".join((broken.__doc__ or "").split()).partition(". ")
    message = message + (f": {spot.found}" if spot.found else "")
    return Finding(code, file, suite, spot.item, spot.condition, spot.region, message, cure)


def swapped(suite: Suite, margins: Sequence[float], model: str, file: str = "") -> list[Finding]:
    """Return a finding for each pair whose sentences may be swapped, as a model's margins in bits show, or one for the suite."""
    # If a model is right about nearly all pairs of a suite, a pair that it gets as clearly wrong as it gets half of the
    # others right may have its labels swapped. If it is wrong about nearly all, those of the whole suite may be.
    from statistics import median

    defined = [margin for margin in margins if not math.isnan(margin)]
    if len(defined) < LEAST:
        return []
    right = sum(margin > 0 for margin in defined) / len(defined)
    if right <= 1 - RELIABLE:
        message = (
            f"{model} prefers the bad sentence in {1 - right:.2f} of {len(defined):,} pairs: the columns may be swapped"
        )
        return [Finding("W405", file, suite.name, "", "", "", message, "Look at some pairs.")]
    if right < RELIABLE:
        return []
    typical = median(margin for margin in defined if margin > 0)
    return [
        Finding(
            "W405", file, suite.name, item.id, "", "",
            f"good and bad may be swapped: {model} prefers the bad sentence by {-margin:.1f} bits, and the good one in "
            f"{right:.2f} of the pairs, by {typical:.1f} bits in the median",
            "Read the pair.",
        )
        for item, margin in zip(suite.items, margins, strict=True)
        if margin <= -typical
    ]  # fmt: skip
