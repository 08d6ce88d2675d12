"""The chapter on runs of people, alone or beside models."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from syntagm.evaluation import People as Task
from syntagm.report.chapter import RECORD
from syntagm.report.predictions.chapter import COMPARED, METHODS, OVERVIEW, SUITES, by_tag
from syntagm.report.predictions.evidence import Evidence
from syntagm.report.section import Drawing, Section
from syntagm.runs import Run
from syntagm.views import asks, ceiling, people, people_effects


def _runs(chapter: Evidence) -> list[Run]:
    return [column.run for column in chapter.columns]


def _has_effects(chapter: Evidence) -> bool:
    return any(run.task is Task and asks(run) != "pairs" for run in _runs(chapter))


def _draw_effects(chapter: Evidence, saved: bool) -> Iterator[Drawing]:
    figure = people_effects.draw_figure(_runs(chapter))
    yield Drawing(
        "people_effects", figure, "Figure: effects on people", "Dots right of the line support the prediction."
    )


AGREEMENT: Section[Evidence] = Section(
    "agreement",
    "Agreement of people",
    "How far people answer as the first prediction of each suite says, one by one and by their majority, and how far they "
    "agree with each other.",
    table=lambda chapter: people.make_table(_runs(chapter)),
)
EFFECTS: Section[Evidence] = Section(
    "people-effects",
    "Effects on people",
    when=_has_effects,
    figures=_draw_effects,
    table=lambda chapter: people_effects.make_table(_runs(chapter)),
)
CEILING: Section[Evidence] = Section(
    "ceiling",
    "The ceiling",
    "People disagree, so that no model can predict them perfectly. The ceiling is the correlation of a perfect one.",
    table=lambda chapter: ceiling.make_table(_runs(chapter)),
)


class People(Evidence):
    """A chapter on runs of people, alone or beside runs of predictions."""

    intro: ClassVar[str] = "people/intro.html"
    title: ClassVar[str] = "What people do with targeted sentences"

    def list_sections(self) -> Sequence[Section[Any]]:
        return [
            *(OVERVIEW, SUITES),
            *map(by_tag, self.groups),
            *(AGREEMENT, EFFECTS, CEILING, COMPARED, METHODS, RECORD),
        ]
