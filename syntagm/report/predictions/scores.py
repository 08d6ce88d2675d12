"""The scores of runs of predictions: overall, by group of suites, and by suite."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from syntagm.evaluation import Chance, Estimate, Kind, unknown
from syntagm.report.numbers import Column, Subject
from syntagm.runs import Run, named
from syntagm.views import estimates, limits

# What the names of predictions of the bundled collections mean, and those of BLiMP.
MEANINGS = {
    "paper": "the criterion as the paper describes it",
    "released": "the formula of the released suites, where it differs from the paper",
    "released_2": "a second formula of the released suites",
    "full_sentence": "the good sentence is more probable than the bad one",
    "one_prefix": "the good word is more probable than the bad one after the same beginning",
    "two_prefix": "the same word is more probable after the good beginning than after the bad one",
}
# A prefix of methods that the page does not repeat, as it shows the number of suites beside each score.
REMARK = re.compile(r"^mean of [\d,]+ suites?; ")
RULES = {"first": "first prediction of each suite", "all": "all predictions of each suite together"}
Suites = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ScoreRow:
    label: str  # the thing that the scores are about
    over: tuple[Suites, ...]  # the suites, by name and content, over which the estimate of each column is computed
    cells: tuple[Estimate | None, ...]  # the estimate of each column; None if a column has none
    chance: Chance  # the chance level

    @property
    def counts(self) -> list[int]:
        """The distinct numbers of suites over which the estimates are computed, in ascending order."""
        return sorted({len(suites) for suites in self._shown or self.over})

    @property
    def alike(self) -> bool:
        """Whether all estimates are computed over the same suites."""
        return len(set(self._shown)) <= 1

    @property
    def _shown(self) -> list[Suites]:
        return [suites for suites, cell in zip(self.over, self.cells, strict=True) if cell]


def columns(runs: Sequence[Run]) -> list[Column[Run]]:
    """Return the runs, with distinct names, and their accuracies."""
    return [_column(run, name) for name, run in named(runs)]


def _column(run: Run, name: str) -> Column[Run]:
    together = estimates.accuracies(run, "all") if run.task.conjoins else []
    of_suites = [*estimates.accuracies(run), *together]
    accuracies = {(estimate.group.suite, estimate.group.measure): estimate for estimate in reversed(of_suites)}
    judged = {}
    for suite in run.suites:
        first = accuracies.get((suite.name, next(iter(suite.predictions), "")))
        # A suite without predictions has nothing to judge, so its items are not missing.
        judged[suite.name] = (first.n + first.undefined if first else 0) if suite.predictions else suite.items
    names = [name for suite in run.suites for name in suite.left_out]
    skipped = {name: names.count(name) for name in dict.fromkeys(names)}
    return Column(run, name, accuracies, judged, sum(suite.items for suite in run.suites), skipped)


def are_verdicts(columns: Sequence[Column[Run]]) -> bool:
    """Return whether all values are verdicts. The values of measures may be numbers, which neither hold nor fail."""
    kinds = {column.run.kind(name) for column in columns for suite in column.run.suites for name in suite.predictions}
    return kinds <= {Kind.VERDICT}


def group_subjects(
    columns: Sequence[Column[Run]], subjects: Sequence[Subject[Run]]
) -> tuple[str, dict[str, list[Subject[Run]]]]:
    """Return the tag that groups the suites of the page ("" if none), and the suites of each group."""
    # Groups and suites are sorted by the mean over models of the accuracy by the first prediction, the highest first.
    tag = estimates.panel_tag([column.run for column in columns])
    by_title = {subject.title: subject for subject in subjects}
    groups = {title: (subject.record.group(tag) or f"no {tag}") if tag else "" for title, subject in by_title.items()}
    firsts = {
        title: [
            estimate.value
            for column in subject.columns
            if (estimate := column.accuracies.get((subject.name, subject.first)))
        ]
        for title, subject in by_title.items()
    }
    ordered = estimates.by_group(firsts, groups)
    return tag, {group: [by_title[title] for title in titles] for group, titles in ordered.items()}


def overall(columns: Sequence[Column[Run]]) -> list[ScoreRow]:
    """Return the scores over all suites: by first prediction, by all predictions, and by each measure of several suites."""
    records = {suite.name: suite for column in columns for suite in column.run.suites}.values()
    named = [name for record in records for name in record.predictions]
    shared = [name for name in dict.fromkeys(named) if named.count(name) > 1 and not name.isdigit()]
    conjoined = all(column.run.task.conjoins for column in columns)
    rules = [
        "first",
        *(["all"] if conjoined and any(len(record.predictions_for("all")) > 1 for record in records) else []),
    ]
    rules += shared if len(set(named)) > 1 and len(shared) else []
    # Model by model, because the results of many models don't fit in memory together.
    cells = [[next(iter(estimates.scores(column.run, rule)), None) for rule in rules] for column in columns]
    return [
        _line(RULES.get(rule, rule), [_over(column, rule) for column in columns], columns, row)
        for rule, row in zip(rules, zip(*cells, strict=True), strict=True)
    ]


def _line(
    label: str, over: Sequence[Suites], columns: Sequence[Column[Run]], cells: Sequence[Estimate | None]
) -> ScoreRow:
    chances = {estimates.chance_of(column.run, cell) for column, cell in zip(columns, cells, strict=True) if cell}
    different = unknown("no chance level: the models ran on different suites")
    return ScoreRow(label, tuple(over), tuple(cells), chances.pop() if len(chances) == 1 else different)


def _over(column: Column[Run], rule: str, tag: str = "", label: str = "") -> Suites:
    """Return the suites of a score: the rule must select a prediction of each and, with a tag, the label must match."""
    taken = [suite for suite in column.run.suites if suite.predictions_for(rule)]
    return frozenset((suite.name, suite.hash) for suite in taken if not tag or suite.group(tag) == label)


def groups(columns: Sequence[Column[Run]]) -> dict[str, list[ScoreRow]]:
    """Return, for each tag that suites have, the scores by first prediction over the suites of each of its values."""
    # The value with the highest mean over models comes first.
    by_tag = {}
    for tag in estimates.grouping_tags([column.run for column in columns]):
        cells: dict[str, dict[int, Estimate]] = {}
        for index, column in enumerate(columns):
            tagged = any(tag in suite.tags for suite in column.run.suites)
            for estimate in estimates.scores(column.run, "first", tag) if tagged else []:
                cells.setdefault(estimate.group[tag], {})[index] = estimate
        if cells:
            values = {label: [estimate.value for estimate in row.values()] for label, row in cells.items()}
            ordered = estimates.by_group(values, dict.fromkeys(values, ""))[""]
            by_tag[tag] = [
                _line(
                    label,
                    [_over(column, "first", tag, label) for column in columns],
                    columns,
                    [row.get(index) for index in range(len(columns))],
                )
                for label, row in ((label, cells[label]) for label in ordered)
            ]
    return by_tag


def methods(lines: Iterable[ScoreRow]) -> list[str]:
    """Return the methods of the scores of a table, in alphabetical order."""
    return sorted({REMARK.sub("", estimate.design) for line in lines for estimate in line.cells if estimate})


def limits_of_rows(lines: Sequence[ScoreRow]) -> tuple[str, ...]:
    return limits((f"{line.label} ({cell.group.model})", cell) for line in lines for cell in line.cells if cell)


def in_no_line(columns: Sequence[Column[Run]], tag: str) -> tuple[int, int]:
    """Return the number of suites in no row of a table by tag, because they lack the tag or a first prediction."""
    suites = [suite for column in columns for suite in column.run.suites]
    tagged = {suite.name for suite in suites if suite.tags.get(tag)}
    taken = {suite.name for suite in suites if suite.predictions_for("first")}
    return len({suite.name for suite in suites} - tagged), len(tagged - taken)
