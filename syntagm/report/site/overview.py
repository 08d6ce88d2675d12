"""The overview: the sections of a report, except for those about single suites, which have pages of their own."""

from collections.abc import Sequence
from typing import Any, ClassVar, final

from syntagm.evaluation import People
from syntagm.report.chapter import RECORD, Chapter
from syntagm.report.gaps import chapter as gaps
from syntagm.report.gaps.evidence import Evidence as EvidenceOfGaps
from syntagm.report.people import chapter as people
from syntagm.report.predictions import chapter as predictions
from syntagm.report.predictions.evidence import Evidence
from syntagm.report.section import Section
from syntagm.report.site.materials import WITHOUT_RESULTS
from syntagm.report.site.model_groups import MODEL_GROUPS
from syntagm.report.sweep import chapter as sweep
from syntagm.runs import Run
from syntagm.views import kept


@final
class OverPredictions(Evidence):
    """The overview of runs of predictions, or of measures used instead of them."""

    def list_sections(self) -> Sequence[Section[Any]]:
        """Return the records of all sections, in the order of the page."""
        tags = map(predictions.by_tag, self.groups)
        return [
            *(predictions.OVERVIEW, predictions.SUITES, *tags),
            *(
                MODEL_GROUPS,
                predictions.TRAJECTORIES,
                predictions.COMPARED,
                predictions.CONVENTIONS,
                WITHOUT_RESULTS,
                predictions.METHODS,
                RECORD,
            ),
        ]


@final
class OverMany(Evidence):
    """The overview of many runs of predictions: models are rows."""

    many: ClassVar[bool] = True

    def list_sections(self) -> Sequence[Section[Any]]:
        """Return the records of all sections, in the order of the page."""
        tags = map(sweep.by_tag, self.groups)
        return [
            *(sweep.OVERVIEW, sweep.SCORES, MODEL_GROUPS, predictions.TRAJECTORIES, *tags, sweep.SUITES),
            *(WITHOUT_RESULTS, sweep.METHODS, RECORD),
        ]


@final
class OverGaps(EvidenceOfGaps):
    """The overview of fill runs. Their suites have no sentences of their own: the overview is the whole report."""

    def list_sections(self) -> Sequence[Section[Any]]:
        """Return the records of all sections, in the order of the page."""
        return [
            *(gaps.OVERVIEW, gaps.CUT_OFFS, gaps.BANDS, gaps.SUITE_BY_SUITE),
            *(WITHOUT_RESULTS, gaps.METHODS, RECORD),
        ]


@final
class OverPeople(Evidence):
    """The overview of runs of people, alone or beside models."""

    intro: ClassVar[str] = people.People.intro
    title: ClassVar[str] = people.People.title

    def list_sections(self) -> Sequence[Section[Any]]:
        """Return the records of all sections, in the order of the page."""
        return [
            *(predictions.OVERVIEW, predictions.SUITES, *map(predictions.by_tag, self.groups)),
            *(people.AGREEMENT, people.EFFECTS, people.CEILING, predictions.COMPARED),
            *(WITHOUT_RESULTS, predictions.METHODS, RECORD),
        ]


def overview_of(runs: Sequence[Run]) -> Chapter:
    """Return the overview of runs of one task."""
    if kept.over_gaps(runs[0]):
        return OverGaps(runs)
    if any(run.task is People for run in runs):
        return OverPeople(runs)
    return (OverMany if len(runs) > sweep.MANY else OverPredictions)(runs)
