"""The runs and suites of a report, shared by all chapters, and the formatting of numbers."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from markupsafe import Markup, escape

from syntagm.evaluation import Chance, Estimate, SuiteRecord, result
from syntagm.runs import Run
from syntagm.views import estimates

R = TypeVar("R", bound=Run)
_PUNCTUATION = re.compile(r"(?<=[_:@?&=,/.)-])(?=\w)")
_SHOWN = frozenset({*estimates.TAGS, "contrast", "comment", "description"})


@dataclass(frozen=True, slots=True, eq=False)
class Column(Generic[R]):
    """A run as a column of the report: its name and its numbers."""

    run: R
    name: str  # the name of the model, with the folder if two runs have the same model
    # (suite, measure) -> estimate; the measure "all" is the conjunction of all predictions.
    accuracies: Mapping[tuple[str, str], Estimate]
    judged: Mapping[str, int]  # suite -> number of items with a value, including undefined values
    items: int  # the number of items to judge, in all suites
    skipped: Mapping[str, int]  # prediction that was not computed, or reason why an item has no context -> count
    # (group of suites, measure) -> estimate; only for tasks that pool suites.
    pooled: Mapping[tuple[str, str], Estimate] = field(default_factory=dict)

    @property
    def missing(self) -> int:
        """The number of items not yet judged."""
        # In a finished run nothing is missing: predictions that the model can't compute were never planned.
        return 0 if self.run.done else self.items - sum(self.judged.values())

    @property
    def undefined(self) -> int:
        return sum(self.run.undefined.values())

    @property
    def ties(self) -> int:
        return sum(estimate.ties for (_, measure), estimate in self.accuracies.items() if measure != "all")

    @property
    def record(self) -> str:
        """The record of the run as JSON, with the number of suites instead of the suites."""
        return json.dumps({**self.run.record, "suites": len(self.run.suites)}, indent=2, ensure_ascii=False)


@dataclass(frozen=True, slots=True, eq=False)
class Subject(Generic[R]):
    """A suite, and the columns that contain it. Suites with the same name but different content are different subjects."""

    number: int  # the place of the suite in the report, from 1
    record: SuiteRecord
    columns: tuple[Column[R], ...]
    namesakes: int = 0  # the number of other subjects with the same name
    measures: tuple[str, ...] = field(default=())  # the predictions, and "all" if their conjunction is a measure

    @property
    def name(self) -> str:
        return self.record.name

    @property
    def title(self) -> str:
        """The suite's name, with its hash if another suite has the same name."""
        return f"{self.name} @{self.record.hash[:8]}" if self.namesakes else self.name

    @property
    def other_tags(self) -> dict[str, str]:
        """The tags not shown elsewhere on the page."""
        return {key: value for key, value in self.record.tags.items() if key not in _SHOWN}

    @property
    def comments(self) -> list[str]:
        tags = self.record.tags
        return [tags[name] for name in ("contrast", "comment", "description") if tags.get(name)]

    @property
    def first(self) -> str:
        """The name of the first prediction; "" if there is none."""
        return next(iter(self.record.predictions_for("first")), "")

    def chance(self, measure: str) -> Chance:
        return estimates.chance_of_suite(self.record, measure)


def subjects(columns: Sequence[Column[R]]) -> list[Subject[R]]:
    """Return the suites of all columns, in the order of their first appearance."""
    by_content: dict[tuple[str, str], list[Column[R]]] = {}
    for column in columns:
        for suite in column.run.suites:
            by_content.setdefault((suite.name, suite.hash), []).append(column)
    names = [name for name, _ in by_content]
    result = []
    for number, ((name, _), members) in enumerate(by_content.items(), 1):
        # The record with the most predictions: some predictions may be computed only for some of the models.
        record = max((column.run.suite(name) for column in members), key=lambda suite: len(suite.predictions))
        conjoined = all(column.run.task.conjoins for column in members) and len(record.predictions_for("all")) > 1
        measures = (*record.predictions, *(("all",) if conjoined else ()))
        result.append(Subject(number, record, tuple(members), names.count(name) - 1, measures))
    return result


def breakable(text: str) -> Markup:
    """Let a name break into lines after punctuation, and nowhere else.

    >>> breakable("fgd_object"), breakable("a<b")
    (Markup('fgd_<wbr>object'), Markup('a&lt;b'))
    """
    return Markup("<wbr>").join(map(escape, _PUNCTUATION.split(text)))


def number(value: float, digits: int = 3) -> str:
    """Format a number.

    >>> number(0.8125), number(float("nan"))
    ('0.812', 'undefined')
    """
    return "undefined" if math.isnan(value) else f"{value:.{digits}f}"


def interval(estimate: Estimate, digits: int = 3) -> str:
    """Format an interval, such as "[0.800, 0.824]"; "no interval" if there is none."""
    return result.interval(estimate.low, estimate.high, f".{digits}f")


def citation(column: Column[R], suite: str, measure: str) -> str:
    """Return a line that cites a number: signature = value [low, high] n=items, ties, undefined, method."""
    estimate = column.accuracies[suite, measure]
    line = f"{column.run.signature(suite, measure)} = {number(estimate.value)} {interval(estimate)} n={estimate.n}"
    extra = [
        f" ties={estimate.ties}" if estimate.ties else "",
        f" undefined={estimate.undefined}" if estimate.undefined else "",
    ]
    return line + "".join(extra) + f" {estimate.method}"
