"""The numbers of a report: what each run says overall, of each group of suites, and of each suite."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from syntagm.result import Estimate
from syntagm.runs.several import named
from syntagm.runs.store import Run, SuiteRecord
from syntagm.stats.chance.chance import Chance, unknown
from syntagm.views.scores import numbers as estimates

RULES = {"first": "first prediction of each suite", "all": "all predictions of each suite together"}
Suites = frozenset[tuple[str, str]]
_SHOWN = frozenset({*estimates.TAGS, "contrast", "comment", "description"})


@dataclass(frozen=True, slots=True)
class Column:
    """A run as it stands in the report: what it is called, and what its suites hold under that name.

    Arguments:
        name: the model's name; with the folder where two runs have the same.
        accuracies: (suite, measure) -> estimate; the measure "all" is the conjunction.
        judged: suite -> how many of its items have a verdict, be it undefined.
    """

    run: Run
    name: str
    accuracies: dict[tuple[str, str], Estimate]
    judged: dict[str, int]

    @property
    def missing(self) -> int:
        """How many items are not judged yet."""
        # Of a finished run nothing is missing: what a model can't be asked, it isn't asked.
        return 0 if self.run.done else sum(suite.items - self.judged[suite.name] for suite in self.run.suites)

    @property
    def undefined(self) -> int:
        """How many verdicts are undefined."""
        return sum(self.run.undefined.values())

    @property
    def left_out(self) -> dict[str, int]:
        """The predictions that were not computed for this model -> of how many suites."""
        names = [name for suite in self.run.suites for name in suite.left_out]
        return {name: names.count(name) for name in dict.fromkeys(names)}

    @property
    def record(self) -> str:
        """The record of the run, to read, less the suites."""
        return json.dumps({**self.run.record, "suites": len(self.run.suites)}, indent=2, ensure_ascii=False)

    @property
    def ties(self) -> int:
        """How many verdicts are ties."""
        return sum(one.ties for (_, measure), one in self.accuracies.items() if measure != "all")


@dataclass(frozen=True, slots=True)
class Subject:
    """One suite with the columns that ran on it. Suites of one name with different contents are different subjects."""

    number: int
    record: SuiteRecord
    columns: tuple[Column, ...]
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
        return next(iter(self.record.taken("first")), "")

    def chance(self, measure: str) -> Chance:
        """What chance gives by one of the measures."""
        return estimates.chance_of_suite(self.record, measure)


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table of scores: what it is about, an estimate a column (None where it has none), chance.

    Arguments:
        over: the suites that each estimate is over, by name and content.
    """

    label: str
    over: tuple[Suites, ...]
    cells: tuple[Estimate | None, ...]
    chance: Chance

    @property
    def counts(self) -> list[int]:
        """Over how many suites the estimates are, from the fewest to the most."""
        return sorted({len(suites) for suites in self._shown or self.over})

    @property
    def alike(self) -> bool:
        """Are all estimates over the same suites?"""
        return len(set(self._shown)) <= 1

    @property
    def _shown(self) -> list[Suites]:
        return [suites for suites, cell in zip(self.over, self.cells, strict=True) if cell]


def columns(runs: Sequence[Run]) -> list[Column]:
    """The runs with names that tell them apart, and their accuracies."""
    return [_column(run, name) for name, run in named(runs)]


def _column(run: Run, name: str) -> Column:
    found = [*estimates.accuracies(run), *estimates.accuracies(run, "all")]
    accuracies = {(one.group["suite"], one.group["measure"]): one for one in reversed(found)}
    judged = {}
    for suite in run.suites:
        one = accuracies.get((suite.name, next(iter(suite.predictions), "")))
        # Of a suite without predictions nothing is asked.
        judged[suite.name] = (one.n + one.undefined if one else 0) if suite.predictions else suite.items
    return Column(run, name, accuracies, judged)


def subjects(columns: Sequence[Column]) -> list[Subject]:
    """The suites of all columns, in the order of first appearance."""
    found: dict[tuple[str, str], list[Column]] = {}
    for column in columns:
        for suite in column.run.suites:
            found.setdefault((suite.name, suite.hash), []).append(column)
    names = [name for name, _ in found]
    result = []
    for number, ((name, _), having) in enumerate(found.items(), 1):
        # Of the model for which the most was computed: others may have no number for some of its predictions.
        record = max((column.run.suite(name) for column in having), key=lambda suite: len(suite.predictions))
        measures = (*record.predictions, *(("all",) if len(record.taken("all")) > 1 else ()))
        result.append(Subject(number, record, tuple(having), names.count(name) - 1, measures))
    return result


def overall(columns: Sequence[Column]) -> list[Line]:
    """The scores over all suites: by first prediction, by all, and by each measure that several suites name."""
    records = {suite.name: suite for column in columns for suite in column.run.suites}.values()
    named = [name for record in records for name in record.predictions]
    shared = [name for name in dict.fromkeys(named) if named.count(name) > 1 and not name.isdigit()]
    rules = ["first", *(["all"] if any(len(record.taken("all")) > 1 for record in records) else [])]
    rules += shared if len(set(named)) > 1 and len(shared) else []
    cells = {rule: [next(iter(estimates.scores(column.run, rule)), None) for column in columns] for rule in rules}
    return [_line(RULES.get(rule, rule), [_over(one, rule) for one in columns], columns, cells[rule]) for rule in rules]


def _line(label: str, over: Sequence[Suites], columns: Sequence[Column], cells: Sequence[Estimate | None]) -> Line:
    chances = {estimates.chance_of(one.run, cell) for one, cell in zip(columns, cells, strict=True) if cell}
    different = unknown("no chance level: the models ran on different suites")
    return Line(label, tuple(over), tuple(cells), chances.pop() if len(chances) == 1 else different)


def _over(column: Column, rule: str, tag: str = "", label: str = "") -> Suites:
    """The suites that a score is over: those of which the rule takes a prediction, with a tag those with the label."""
    asked = [suite for suite in column.run.suites if suite.taken(rule)]
    return frozenset((suite.name, suite.hash) for suite in asked if not tag or suite.tags.get(tag) == label)


def groups(columns: Sequence[Column]) -> dict[str, list[Line]]:
    """Tag -> the scores of the suites of each of its values, by first prediction, for the tags that suites have."""
    found = {}
    for tag in estimates.TAGS:
        cells: dict[str, dict[int, Estimate]] = {}
        for index, column in enumerate(columns):
            for one in estimates.scores(column.run, "first", tag):
                cells.setdefault(one.group[tag], {})[index] = one
        if cells:
            found[tag] = [
                _line(
                    label,
                    [_over(column, "first", tag, label) for column in columns],
                    columns,
                    [row.get(index) for index in range(len(columns))],
                )
                for label, row in cells.items()
            ]
    return found


def in_no_line(columns: Sequence[Column], tag: str) -> tuple[int, int]:
    """How many suites no line of a table by tag has: those without the tag, and those without a first prediction."""
    suites = [suite for column in columns for suite in column.run.suites]
    tagged = {suite.name for suite in suites if suite.tags.get(tag)}
    taken = {suite.name for suite in suites if suite.taken("first")}
    return len({suite.name for suite in suites} - tagged), len(tagged - taken)


def number(value: float, digits: int = 3) -> str:
    """A number to read.

    >>> number(0.8125), number(float("nan"))
    ('0.812', 'undefined')
    """
    return "undefined" if math.isnan(value) else f"{value:.{digits}f}"


def between(one: Estimate) -> str:
    """The interval to read: "[0.800, 0.824]", or why there is none."""
    return "no interval" if math.isnan(one.low) else f"[{one.low:.3f}, {one.high:.3f}]"


def citation(column: Column, suite: str, measure: str) -> str:
    """A number with all it rests on, in a line: signature = value [low, high] n=items."""
    one = column.accuracies[suite, measure]
    line = f"{column.run.signature(suite, measure)} = {number(one.value)} {between(one)} n={one.n}"
    extra = [f" ties={one.ties}" if one.ties else "", f" undefined={one.undefined}" if one.undefined else ""]
    return line + "".join(extra) + f" {one.method}"
