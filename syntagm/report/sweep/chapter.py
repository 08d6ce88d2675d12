"""The chapter on runs of many models: their scores as rows, each model compared with the first, and the suites one by one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, ClassVar, final

from markupsafe import Markup

from syntagm.drawing.chart import Figure
from syntagm.report import numbers
from syntagm.report.chapter import Chapter, Render
from syntagm.report.numbers import Column, Subject
from syntagm.report.predictions import example, figures, headline, model_pairs, scores
from syntagm.report.predictions.example import ExampleSentence
from syntagm.report.predictions.headline import Headline
from syntagm.report.predictions.model_pairs import ModelPair
from syntagm.report.predictions.scores import ScoreRow
from syntagm.result import Estimate, Group
from syntagm.runs.several import group_of
from syntagm.runs.store import Run
from syntagm.views.scores import chart

# With more models than this, a page has this chapter, and with fewer, if one with everything is too large: the page on 12
# models and 34 suites would be.
MANY = 12
# With more models than this, their scores alone do not fit on a page of 10 MB.
MOST = 1000


@dataclass(frozen=True, slots=True)
class Section:
    """A suite on the page, with its first item as an example."""

    subject: Subject[Run]
    item: str
    example: tuple[ExampleSentence, ...]


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model as a row of the tables.

    Arguments:
        place: the place of its cells in each `ScoreRow`.
        headline: its comparison with chance; None if its values are not verdicts.
        pair: its comparison with the first model; None for the first, and if they share no suite.
    """

    column: Column[Run]
    place: int
    headline: Headline | None
    pair: ModelPair | None


@final
class Sweep(Chapter):
    """A chapter on runs of predictions of many models."""

    folder: ClassVar[str] = "sweep"
    title: ClassVar[str] = "Targeted syntactic evaluation"
    many: ClassVar[bool] = True

    def __init__(self, runs: Sequence[Run]) -> None:
        self.columns = scores.columns(runs)
        self.subjects = numbers.subjects(self.columns)
        self._overall = scores.overall(self.columns)

    def page(self, room: int) -> dict[str, Any]:
        """Return the variables of the templates; see `Chapter.page`."""
        columns, subjects = self.columns, self.subjects
        overall, groups = self._overall, scores.groups(columns)
        pairs = model_pairs.compare(columns, subjects)
        tag, by_group = scores.grouped(columns, subjects)
        drawn = {name: Markup(figure.svg()) for name, figure in self.figures()}
        lines = [*overall, *(line for group in groups.values() for line in group)]
        judged = scores.judged(columns)
        sections = [
            Section(subject, *example.example(subject.record, subject.columns[0].run.sentences(subject.name)))
            for subject in subjects
        ]
        anchors = [("scores", "Models")] if "scores" in drawn else []
        anchors += [("trajectories", "Trajectories")] if "trajectories" in drawn else []
        anchors += [(f"by-{tag}", f"By {tag.replace('_', ' ')}") for tag in groups]
        return {
            "sections": sections,
            "anchors": [*anchors, ("suites", "Suites")],
            "above": ("suites", "table of suites"),
            "judged": judged,
            "drawn": drawn,
            "models": _grouped(_rows(columns, subjects, pairs, judged)),
            "overall": overall,
            "ends": _ends(overall[0], columns) if overall else None,
            "groups": groups,
            "in_no_line": {tag: scores.in_no_line(columns, tag) for tag in groups},
            "names": len({subject.name for subject in subjects}),
            "group_tag": tag,
            "by_group": by_group,
            "pairs": pairs,
            "meanings": scores.MEANINGS,
            "in_words": example.prediction_in_words,
            "methods": sorted(
                {scores.REMARK.sub("", estimate.design) for line in lines for estimate in line.cells if estimate}
            ),
            "limits": scores.limits,
        }

    def versions(self, page: Mapping[str, Any], render: Render, ceiling: int) -> Iterator[str]:
        """Yield the page, then the page without the numbers of each suite; see `Chapter.versions`."""
        for of_suites in (True, False):
            yield render({"of_suites": of_suites})

    def figures(self) -> Iterator[tuple[str, Figure]]:
        """Yield the figure of the scores of all models, and that of their trajectories if they are checkpoints."""
        line = next(iter(self._overall), None)
        if line and scores.judged(self.columns):
            yield "scores", _scores(line, self.columns)
        if curves := figures.trajectories(self.columns, scores.grouped(self.columns, self.subjects)[0]):
            yield "trajectories", curves


def _scores(line: ScoreRow, columns: Sequence[Column[Run]]) -> Figure:
    """Return the figure of the scores over all suites, with a row for each model and a panel for each group of models."""
    shown = [
        replace(cell, group=Group("score", column.name))
        for column, cell in zip(columns, line.cells, strict=True)
        if cell
    ]
    levels = {estimate.group.suite: line.chance.value for estimate in shown}
    groups = {estimate.group.suite: group_of(estimate.group.suite) for estimate in shown}
    drawn = chart.draw(shown, levels, groups=groups)
    # The rows are models here, not suites.
    return replace(drawn, table=drawn.table.drop("model", "measure").rename({"suite": "model"}))


def _rows(
    columns: Sequence[Column[Run]], subjects: Sequence[Subject[Run]], pairs: Sequence[ModelPair], judged: bool
) -> list[ModelRow]:
    of_column = {id(pair.b): pair for pair in pairs}
    lines = headline.headlines(columns, subjects, ()) if judged else [None] * len(columns)
    return [
        ModelRow(column, place, line, of_column.get(id(column)))
        for place, (column, line) in enumerate(zip(columns, lines, strict=True))
    ]


def _grouped(rows: Sequence[ModelRow]) -> list[tuple[str, list[ModelRow]]]:
    """Return the rows of each group of models, in the order of the first model of each group."""
    order = list(dict.fromkeys(group_of(row.column.name) for row in rows))
    ranked = sorted(rows, key=lambda row: order.index(group_of(row.column.name)))
    return [(group, list(members)) for group, members in groupby(ranked, lambda row: group_of(row.column.name))]


def _ends(line: ScoreRow, columns: Sequence[Column[Run]]) -> tuple[tuple[str, Estimate], tuple[str, Estimate]] | None:
    """Return the models with the lowest and the highest score; None if no score is defined."""
    defined = [
        (column.name, cell)
        for column, cell in zip(columns, line.cells, strict=True)
        if cell and cell.value == cell.value
    ]
    ranked = sorted(defined, key=lambda pair: pair[1].value)
    return (ranked[0], ranked[-1]) if ranked else None
