"""The numbers of runs of predictions: what each run says overall, of each group of suites, and of each suite."""

from collections.abc import Sequence
from dataclasses import dataclass

from syntagm.report.numbers import Column
from syntagm.result import Estimate, Kind
from syntagm.runs.several import named
from syntagm.runs.store import Run
from syntagm.stats.chance.chance import Chance, unknown
from syntagm.views.scores import numbers as estimates

RULES = {"first": "first prediction of each suite", "all": "all predictions of each suite together"}
Suites = frozenset[tuple[str, str]]


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


def columns(runs: Sequence[Run]) -> list[Column[Run]]:
    """The runs with names that tell them apart, and their accuracies."""
    return [_column(run, name) for name, run in named(runs)]


def _column(run: Run, name: str) -> Column[Run]:
    together = estimates.accuracies(run, "all") if estimates.conjoins(run) else []
    found = [*estimates.accuracies(run), *together]
    accuracies = {(one.group.suite, one.group.measure): one for one in reversed(found)}
    judged = {}
    for suite in run.suites:
        one = accuracies.get((suite.name, next(iter(suite.predictions), "")))
        # Of a suite without predictions nothing is asked.
        judged[suite.name] = (one.n + one.undefined if one else 0) if suite.predictions else suite.items
    names = [name for suite in run.suites for name in suite.left_out]
    left_out = {name: names.count(name) for name in dict.fromkeys(names)}
    return Column(run, name, accuracies, judged, sum(suite.items for suite in run.suites), left_out)


def judged(columns: Sequence[Column[Run]]) -> bool:
    """Are all values verdicts? Those of measures in place of predictions may be numbers, which no item fails."""
    kinds = {column.run.kind(name) for column in columns for suite in column.run.suites for name in suite.predictions}
    return kinds <= {Kind.VERDICT}


def overall(columns: Sequence[Column[Run]]) -> list[Line]:
    """The scores over all suites: by first prediction, by all, and by each measure that several suites name."""
    records = {suite.name: suite for column in columns for suite in column.run.suites}.values()
    named = [name for record in records for name in record.predictions]
    shared = [name for name in dict.fromkeys(named) if named.count(name) > 1 and not name.isdigit()]
    conjoined = all(estimates.conjoins(column.run) for column in columns)
    rules = [
        "first",
        *(["all"] if conjoined and any(len(record.predictions_for("all")) > 1 for record in records) else []),
    ]
    rules += shared if len(set(named)) > 1 and len(shared) else []
    cells = {rule: [next(iter(estimates.scores(column.run, rule)), None) for column in columns] for rule in rules}
    return [_line(RULES.get(rule, rule), [_over(one, rule) for one in columns], columns, cells[rule]) for rule in rules]


def _line(label: str, over: Sequence[Suites], columns: Sequence[Column[Run]], cells: Sequence[Estimate | None]) -> Line:
    chances = {estimates.chance_of(one.run, cell) for one, cell in zip(columns, cells, strict=True) if cell}
    different = unknown("no chance level: the models ran on different suites")
    return Line(label, tuple(over), tuple(cells), chances.pop() if len(chances) == 1 else different)


def _over(column: Column[Run], rule: str, tag: str = "", label: str = "") -> Suites:
    """The suites that a score is over: those of which the rule takes a prediction, with a tag those with the label."""
    asked = [suite for suite in column.run.suites if suite.predictions_for(rule)]
    return frozenset((suite.name, suite.hash) for suite in asked if not tag or suite.tags.get(tag) == label)


def groups(columns: Sequence[Column[Run]]) -> dict[str, list[Line]]:
    """Tag -> the scores of the suites of each of its values, by first prediction, for the tags that suites have."""
    found = {}
    for tag in estimates.TAGS:
        cells: dict[str, dict[int, Estimate]] = {}
        for index, column in enumerate(columns):
            tagged = any(tag in suite.tags for suite in column.run.suites)
            for one in estimates.scores(column.run, "first", tag) if tagged else []:
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


def in_no_line(columns: Sequence[Column[Run]], tag: str) -> tuple[int, int]:
    """How many suites no line of a table by tag has: those without the tag, and those without a first prediction."""
    suites = [suite for column in columns for suite in column.run.suites]
    tagged = {suite.name for suite in suites if suite.tags.get(tag)}
    taken = {suite.name for suite in suites if suite.predictions_for("first")}
    return len({suite.name for suite in suites} - tagged), len(tagged - taken)
