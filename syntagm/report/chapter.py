"""The base class of chapters. A chapter is the part of a report about runs of one task; the page around it is always the same."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from syntagm.report.alerts import Alert
from syntagm.report.links import INSIDE, Links
from syntagm.report.numbers import Column, Subject
from syntagm.report.section import Section
from syntagm.views import Figure


class Chapter(ABC):
    """The numbers of runs of one task, each computed when a section first shows it, and the sections that show them.

    Arguments:
        runs: the runs of one task.

    Attributes:
        header: the template of what the page is about, below its title.
        intro: the template of what stands above all sections.
        title: the title of the page.
        links: where the links of its page lead.
        place: the place of its page among others.
        many: whether there are many columns: then the page folds what it says of each.
        columns: the runs, each of which is a column of the tables.
        subjects: the suites of the runs.
        materials: further suites, of which there are no results.
    """

    header: ClassVar[str] = "header.html"
    intro: ClassVar[str]
    title: ClassVar[str]
    many: ClassVar[bool] = False
    links: Links = INSIDE
    place: tuple[str, ...] = ()
    columns: Sequence[Column[Any]]
    subjects: Sequence[Subject[Any]]
    materials: Sequence[Subject[Any]] = ()

    @abstractmethod
    def alerts(self) -> list[Alert]:
        """Return what the page warns of."""

    @abstractmethod
    def list_sections(self) -> Sequence[Section[Any]]:
        """Return the records of all sections, in the order of the page."""

    def sections(self) -> list[Section[Any]]:
        """Return the sections that a page about these runs has."""
        return [section for section in self.list_sections() if section.when(self)]

    def figures(self) -> Iterator[tuple[str, Figure]]:
        """Yield the file name (without extension) of each figure, and the figure with its title."""
        for section in self.sections():
            for drawing in section.figures(self, True):
                yield drawing.stem, drawing.figure
