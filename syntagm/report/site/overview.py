"""The overview: the sections of a report, except for those about single suites, which have pages of their own."""

from collections.abc import Sequence
from typing import Any, ClassVar, final

from syntagm.report.chapter import Chapter
from syntagm.report.gaps.chapter import Gaps
from syntagm.report.predictions import chapter as predictions
from syntagm.report.predictions.evidence import Evidence
from syntagm.report.record import RECORD
from syntagm.report.section import Section
from syntagm.report.sweep import chapter as sweep
from syntagm.runs.store import Run
from syntagm.views.gaps import kept


@final
class OverPredictions(Evidence):
    """The overview of runs of predictions, or of measures used instead of them."""

    def list_sections(self) -> Sequence[Section[Any]]:
        """Return the records of all sections, in the order of the page."""
        tags = map(predictions.by_tag, self.groups)
        return [
            *(predictions.OVERVIEW, predictions.SUITES, *tags),
            *(predictions.TRAJECTORIES, predictions.COMPARED, predictions.METHODS, RECORD),
        ]


@final
class OverMany(Evidence):
    """The overview of many runs of predictions: models are rows."""

    many: ClassVar[bool] = True

    def list_sections(self) -> Sequence[Section[Any]]:
        """Return the records of all sections, in the order of the page."""
        tags = map(sweep.by_tag, self.groups)
        return [*(sweep.OVERVIEW, sweep.SCORES, predictions.TRAJECTORIES, *tags, sweep.SUITES, sweep.METHODS), RECORD]


def overview_of(runs: Sequence[Run]) -> Chapter:
    """Return the overview of runs of one task. Fill runs have no sentences: their overview is the whole report."""
    if kept.over_gaps(runs[0]):
        return Gaps(runs)
    return (OverMany if len(runs) > sweep.MANY else OverPredictions)(runs)
