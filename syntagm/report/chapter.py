"""What a report says of runs of one task: a chapter. The page around it is the same for all."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from syntagm.drawing.chart import Figure
from syntagm.report.numbers import Column, Subject

# What a template needs beyond what all versions of the page share -> the page.
Render = Callable[[Mapping[str, Any]], str]


class Chapter(ABC):
    """The numbers, figures, examples and downloads of runs of one task, and how they were made.

    Arguments:
        runs: of that task.

    Attributes:
        folder: where its templates lie: `intro.html`, `alerts.html`, `overview.html`, `suites.html`, `suite.html` and
            `how.html`.
        title: of the page.
        columns: the runs as they stand in the report.
        subjects: their suites.
    """

    folder: ClassVar[str]
    title: ClassVar[str]
    columns: Sequence[Column[Any]]
    subjects: Sequence[Subject[Any]]

    @abstractmethod
    def page(self, room: int) -> dict[str, Any]:
        """Return what the templates of the chapter need.

        `sections` holds what is said of each suite, `anchors` the sections of the overview as (anchor, heading).

        Arguments:
            room: figures together take no more bytes than this.
        """

    @abstractmethod
    def versions(self, page: Mapping[str, Any], render: Render, ceiling: int) -> Iterator[str]:
        """Yield the page with less and less on it; those that can't be small enough may be left out, but not the last.

        Arguments:
            page: as `page` returned it.
        """

    @abstractmethod
    def figures(self) -> Iterator[tuple[str, Figure]]:
        """Yield every figure, with its title in it, and the name of its files."""
