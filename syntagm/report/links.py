"""Where the links of a page lead: to places on the same page, other pages and files, or data in the page itself."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeAlias
from urllib.parse import quote

import polars as pl
from markupsafe import Markup, escape

from syntagm.core import csv
from syntagm.report.numbers import Subject

# Characters that a URL may hold without an escape, which keeps links short. None of them ends an HTML attribute.
_SAFE = "/:;,@!$*()?=+|[]"
_LONGEST = 60
# Byte -> how it is written in a URL.
_IN_A_URL = {byte: quote(bytes([byte]), safe=_SAFE) for byte in range(256)}


def csv_link(name: str, columns: Sequence[str], rows: Iterable[Sequence[object]], label: str = "CSV") -> Markup:
    """Return a link that saves the rows as the file `name`. Text that a spreadsheet would run gets an apostrophe.

    >>> csv_link("a.csv", ("x", "y"), [(1, "say <b>")])
    Markup('<a class="data" download="a.csv" href="data:text/csv;charset=utf-8,x,y%0A1,say%20%3Cb%3E%0A">CSV</a>')
    """
    header = [str(csv.harmless(column)) for column in columns]
    written = "".join(csv.lines(header, ([*map(csv.harmless, row)] for row in rows))).encode("utf-8", "replace")
    content = written.decode("latin-1").translate(_IN_A_URL)
    html = f'<a class="data" download="{escape(name)}" href="data:text/csv;charset=utf-8,{content}">{escape(label)}</a>'
    return Markup(html)


def figure_link(numbers: pl.DataFrame, stem: str) -> Markup:
    return csv_link(f"{stem}.csv", numbers.columns, numbers.iter_rows(), "its numbers as CSV")


def file_name(number: int, name: str) -> str:
    """Return a file name for a suite: its number, which makes it unique, and the safe characters of its name.

    >>> file_name(3, "../../etc/passwd"), file_name(12, "CON")
    ('03-etc-passwd', '12-CON')
    """
    harmless = re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")[:_LONGEST]
    return f"{number:02}-{harmless}" if harmless else f"{number:02}"


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


class Inside:
    """The links of a page that is one file: everything is on it."""

    def suite(self, subject: Subject) -> str:  # type: ignore[type-arg]
        return f"#suite-{subject.number}"

    def data(self, name: str, label: str, rows: Callable[[], Rows]) -> Markup:
        return csv_link(f"{name}.csv", *rows(), f"{label} as CSV")

    def figure(self, stem: str, numbers: pl.DataFrame) -> Markup:
        return figure_link(numbers, stem)


INSIDE = Inside()
