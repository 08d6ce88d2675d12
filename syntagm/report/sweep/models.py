"""The models of a sweep as rows of tables, and the figure of their scores."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from syntagm.evaluation import Estimate, Group
from syntagm.report.numbers import Column
from syntagm.report.predictions.evidence import Evidence
from syntagm.report.predictions.model_pairs import Headline, ModelPair
from syntagm.report.predictions.scores import ScoreRow
from syntagm.runs import Run, group_of
from syntagm.views import Figure
from syntagm.views.scores import chart


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model as a row of the tables."""

    column: Column[Run]
    place: int  # the place of its cells in each `ScoreRow`
    headline: Headline | None  # its comparison with chance; None if its values are not verdicts
    pair: ModelPair | None  # its comparison with the first model; None for the first, and if they share no suite


def draw_scores(line: ScoreRow, columns: Sequence[Column[Run]]) -> Figure:
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


def group_models(chapter: Evidence) -> list[tuple[str, list[ModelRow]]]:
    """Return the rows of each group of models, in the order of the first model of each group."""
    with_first = {id(pair.b): pair for pair in chapter.pairs}
    lines = chapter.chance_headlines if chapter.judged else [None] * len(chapter.columns)
    rows = [
        ModelRow(column, place, line, with_first.get(id(column)))
        for place, (column, line) in enumerate(zip(chapter.columns, lines, strict=True))
    ]
    order = list(dict.fromkeys(group_of(row.column.name) for row in rows))
    ranked = sorted(rows, key=lambda row: order.index(group_of(row.column.name)))
    return [(group, list(members)) for group, members in groupby(ranked, lambda row: group_of(row.column.name))]


def find_ends(
    line: ScoreRow, columns: Sequence[Column[Run]]
) -> tuple[tuple[str, Estimate], tuple[str, Estimate]] | None:
    """Return the models with the lowest and the highest score; None if no score is defined."""
    defined = [
        (column.name, cell)
        for column, cell in zip(columns, line.cells, strict=True)
        if cell and cell.value == cell.value
    ]
    ranked = sorted(defined, key=lambda pair: pair[1].value)
    return (ranked[0], ranked[-1]) if ranked else None
