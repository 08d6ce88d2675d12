"""The chapter on runs of many models: their scores as rows, each model compared with the first, and the suites one by one."""

from collections.abc import Sequence
from typing import Any, ClassVar, final

from syntagm.report.predictions.evidence import Evidence
from syntagm.report.section import Section
from syntagm.report.sweep import sections

# With more models than this, a page has this chapter, and with fewer, if one with everything is too large: the page on 12
# models and 34 suites would be.
MANY = 12
# With more models than this, their scores alone do not fit on a page of 10 MB.
MOST = 1000


@final
class Sweep(Evidence):
    """A chapter on runs of predictions of many models."""

    many: ClassVar[bool] = True

    def list_sections(self) -> Sequence[Section[Any]]:
        """Return the records of all sections, in the order of the page."""
        return sections.list_sections(self.groups)
