"""What all chapters say of a run and of a suite, and how a number is written."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from syntagm.result import Estimate
from syntagm.runs.store import Run
from syntagm.stats.chance.chance import Chance
from syntagm.tasks.task import SuiteRecord
from syntagm.views.scores import numbers as estimates

R = TypeVar("R", bound=Run)
_SHOWN = frozenset({*estimates.TAGS, "contrast", "comment", "description"})


@dataclass(frozen=True, slots=True, eq=False)
class Column(Generic[R]):
    """A run as it stands in the report: what it is called, and what its suites hold under that name.

    Arguments:
        name: the model's name; with the folder where two runs have the same.
        accuracies: (suite, measure) -> estimate; of predictions, the measure "all" is the conjunction.
        judged: suite -> how many of the items that are asked about have a value, be it undefined.
        items: how many items are asked about, in all suites.
        left_out: what was not computed (predictions), or why items make no context (gaps), and how often.
        pooled: (group of suites, measure) -> estimate, where a task takes suites together.
    """

    run: R
    name: str
    accuracies: Mapping[tuple[str, str], Estimate]
    judged: Mapping[str, int]
    items: int
    left_out: Mapping[str, int]
    pooled: Mapping[tuple[str, str], Estimate] = field(default_factory=dict)

    @property
    def missing(self) -> int:
        """How many items are not judged yet."""
        # Of a finished run nothing is missing: what a model can't be asked, it isn't asked.
        return 0 if self.run.done else self.items - sum(self.judged.values())

    @property
    def undefined(self) -> int:
        """How many values are undefined."""
        return sum(self.run.undefined.values())

    @property
    def ties(self) -> int:
        """How many verdicts are ties."""
        return sum(one.ties for (_, measure), one in self.accuracies.items() if measure != "all")

    @property
    def record(self) -> str:
        """The record of the run, to read, less the suites."""
        return json.dumps({**self.run.record, "suites": len(self.run.suites)}, indent=2, ensure_ascii=False)


@dataclass(frozen=True, slots=True, eq=False)
class Subject(Generic[R]):
    """One suite with the columns that ran on it. Suites of one name with different contents are different subjects."""

    number: int
    record: SuiteRecord
    columns: tuple[Column[R], ...]
    namesakes: int = 0
    measures: tuple[str, ...] = field(default=())

    @property
    def name(self) -> str:
        """The suite's name."""
        return self.record.name

    @property
    def title(self) -> str:
        """The suite's name; with its hash, where another suite has the name, too."""
        return f"{self.name} @{self.record.hash[:8]}" if self.namesakes else self.name

    @property
    def other_tags(self) -> dict[str, str]:
        """The tags that the page shows nowhere else."""
        return {key: value for key, value in self.record.tags.items() if key not in _SHOWN}

    @property
    def first(self) -> str:
        """The first prediction, "" without any."""
        return next(iter(self.record.predictions_for("first")), "")

    def chance(self, measure: str) -> Chance:
        """What chance gives by one of the measures."""
        return estimates.chance_of_suite(self.record, measure)


def subjects(columns: Sequence[Column[R]]) -> list[Subject[R]]:
    """The suites of all columns, in the order of first appearance."""
    found: dict[tuple[str, str], list[Column[R]]] = {}
    for column in columns:
        for suite in column.run.suites:
            found.setdefault((suite.name, suite.hash), []).append(column)
    names = [name for name, _ in found]
    result = []
    for number, ((name, _), having) in enumerate(found.items(), 1):
        # Of the model for which the most was computed: others may have no number for some of its predictions.
        record = max((column.run.suite(name) for column in having), key=lambda suite: len(suite.predictions))
        conjoined = all(estimates.conjoins(column.run) for column in having) and len(record.predictions_for("all")) > 1
        measures = (*record.predictions, *(("all",) if conjoined else ()))
        result.append(Subject(number, record, tuple(having), names.count(name) - 1, measures))
    return result


def number(value: float, digits: int = 3) -> str:
    """A number to read.

    >>> number(0.8125), number(float("nan"))
    ('0.812', 'undefined')
    """
    return "undefined" if math.isnan(value) else f"{value:.{digits}f}"


def between(one: Estimate) -> str:
    """The interval to read: "[0.800, 0.824]", or why there is none."""
    return "no interval" if math.isnan(one.low) else f"[{one.low:.3f}, {one.high:.3f}]"


def citation(column: Column[R], suite: str, measure: str) -> str:
    """A number with all it rests on, in a line: signature = value [low, high] n=items."""
    one = column.accuracies[suite, measure]
    line = f"{column.run.signature(suite, measure)} = {number(one.value)} {between(one)} n={one.n}"
    extra = [f" ties={one.ties}" if one.ties else "", f" undefined={one.undefined}" if one.undefined else ""]
    return line + "".join(extra) + f" {one.method}"
