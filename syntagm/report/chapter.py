"""The base class of chapters. A chapter is the part of a report about runs of one task; the page around it is always the same."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from syntagm.drawing.chart import Figure
from syntagm.report.numbers import Column, Subject

# A function from the template variables that differ between versions of the page to the page.
Render = Callable[[Mapping[str, Any]], str]


class Chapter(ABC):
    """The numbers, figures, examples and downloads of runs of one task.

    Arguments:
        runs: the runs of one task.

    Attributes:
        folder: the folder of its templates: `intro.html`, `alerts.html`, `overview.html`, `suites.html`, `suite.html` and
            `how.html`.
        title: the title of the page.
        many: whether there are many columns: then the page folds what it says of each.
        columns: the runs, each of which is a column of the tables.
        subjects: the suites of the runs.
    """

    folder: ClassVar[str]
    title: ClassVar[str]
    many: ClassVar[bool] = False
    columns: Sequence[Column[Any]]
    subjects: Sequence[Subject[Any]]

    @abstractmethod
    def page(self, room: int) -> dict[str, Any]:
        """Return the variables of the templates.

        Among them are `sections`, one for each suite, and `anchors`, the sections of the overview as (anchor, heading).

        Arguments:
            room: the maximum total size of all figures, in bytes.
        """

    @abstractmethod
    def versions(self, page: Mapping[str, Any], render: Render, ceiling: int) -> Iterator[str]:
        """Yield versions of the page, each with less content than the previous one.

        A version that can't be small enough may be skipped, unless it is the last.

        Arguments:
            page: what `page` returned.
            render: renders a page from the template variables of a version.
            ceiling: the maximum size of the page in bytes.
        """

    @abstractmethod
    def figures(self) -> Iterator[tuple[str, Figure]]:
        """Yield the file name (without extension) of each figure, and the figure with its title."""
