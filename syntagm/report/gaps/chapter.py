"""The chapter on fill runs: the measures by suite, by nucleus cut-off and by lemma, with example contexts."""

from collections.abc import Sequence
from typing import Any, final

from syntagm.report.gaps import sections
from syntagm.report.gaps.evidence import Evidence
from syntagm.report.section import Section


@final
class Gaps(Evidence):
    """A chapter on fill runs."""

    def list_sections(self) -> Sequence[Section[Any]]:
        """Return the records of all sections, in the order of the page."""
        return sections.list_sections()
