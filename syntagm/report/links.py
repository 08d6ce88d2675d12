"""Where the links of a page lead: to places on the same page, or to other pages and files."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeAlias, final

import polars as pl
from markupsafe import Markup

from syntagm.report import downloads
from syntagm.report.numbers import Subject

# The columns and the rows of a table that can be saved.
Rows: TypeAlias = tuple[Sequence[str], Iterable[Sequence[object]]]


class Links(Protocol):
    """The links of a page."""

    def suite(self, subject: Subject) -> str:  # type: ignore[type-arg]
        """Return the URL of a suite."""

    def data(self, name: str, label: str, rows: Callable[[], Rows]) -> Markup:
        """Return links that save a table.

        Arguments:
            name: the name of the table, unique on the page.
            label: what is saved.
            rows: the table, for links that contain it.
        """

    def figure(self, stem: str, numbers: pl.DataFrame) -> Markup:
        """Return links that save a figure and its numbers, or only these.

        Arguments:
            stem: the name of the figure, unique on the page.
        """


@final
class Inside:
    """The links of a page that is one file: everything is on it."""

    def suite(self, subject: Subject) -> str:  # type: ignore[type-arg]
        """Return the URL of a suite."""
        return f"#suite-{subject.number}"

    def data(self, name: str, label: str, rows: Callable[[], Rows]) -> Markup:
        """Return a link that saves a table as CSV."""
        return downloads.link(f"{name}.csv", *rows(), f"{label} as CSV")

    def figure(self, stem: str, numbers: pl.DataFrame) -> Markup:
        """Return a link that saves the numbers of a figure as CSV."""
        return downloads.link_figure(numbers, stem)


INSIDE = Inside()
