"""The chapter on runs of predictions: accuracies, comparisons of models, regions, and items token by token."""

from collections.abc import Sequence
from typing import Any, final

from syntagm.report.predictions import sections
from syntagm.report.predictions.evidence import Evidence
from syntagm.report.section import Section


@final
class Predictions(Evidence):
    """A chapter on runs of predictions, or of measures used instead of them."""

    def list_sections(self) -> Sequence[Section[Any]]:
        """Return the records of all sections, in the order of the page."""
        return sections.list_sections(self.groups)
