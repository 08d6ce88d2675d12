"""What all pages about runs have in common: their place, their sections, and the loop that renders them."""

import io
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import polars as pl
from markupsafe import Markup

from syntagm.core import UsageError, csv
from syntagm.report import shell
from syntagm.report.chapter import Alert
from syntagm.report.html import isolate, join
from syntagm.report.links import Links, Rows
from syntagm.report.numbers import Subject
from syntagm.report.section import Drawing, Picture, Section
from syntagm.report.site.addresses import OVERVIEW, SEARCH, TABLES, Addresses, Place, Query, default_table
from syntagm.views import Figure

_FIGURES = ("svg", "png", "csv")
# The field of a query that asks for a figure in the colours of the page, to be put into it.
INLINE = ("on", "page")
# How links name the kinds of files.
_ENDINGS = {"parquet": "Parquet"}


@dataclass(frozen=True, slots=True)
class Among:
    """The links of one page among others."""

    addresses: Addresses  # where the pages are
    place: Place  # the place of the page
    query: Query  # the query of the page, which its tables share
    suites: dict[int, str]  # number of a suite -> its name in addresses

    def suite(self, subject: Subject) -> str:  # type: ignore[type-arg]
        key = self.suites.get(subject.number)
        return self.addresses.page(("suite", key)) if key is not None else ""

    def data(self, name: str, label: str, rows: object) -> Markup:
        return self._saved(label, name, TABLES)

    def figure(self, stem: str, numbers: pl.DataFrame) -> Markup:
        return self._saved("the figure", stem, _FIGURES, True)

    def _saved(self, label: str, name: str, endings: Sequence[str], figure: bool = False) -> Markup:
        short = "" if name == default_table(self.place) and not figure else name
        urls = {ending: self.addresses.file(self.place, ending, short, self.query, figure) for ending in endings}
        links = [
            Markup('<a class="data" href="%s" download>%s</a>') % (url, _ENDINGS.get(ending, ending.upper()))
            for ending, url in urls.items()
            if url
        ]
        if not links:
            return Markup("")
        return Markup('<span class="saved">%s: %s</span>') % (label[0].upper() + label[1:], join(links, " "))


class Page(Protocol):
    """A page: what the loop needs of it.

    Attributes:
        title: the title of the page.
        place: its place.
        links: its links; the loop sets them.
    """

    title: str
    place: Place
    links: Links

    def alerts(self) -> list[Alert]:
        """Return what the page warns of."""

    def sections(self) -> Sequence[Section[Any]]:
        """Return the sections of the page."""


@dataclass(frozen=True, slots=True)
class Step:
    """A link of the way from the overview to a page, or to a page beside it."""

    label: str
    url: str


@dataclass(frozen=True, slots=True)
class Switch:
    """The convention of a page, and the links to the same page under others."""

    convention: str  # that of the page
    steps: Sequence[Step]  # the others; none in a folder


class OnePage(ABC):
    """A page of which the sections are records, except for the overview, which is a chapter."""

    template: ClassVar[str] = "site/page.html"
    place: Place
    title: str
    links: Links
    addresses: Addresses

    @abstractmethod
    def list_sections(self) -> Sequence[Section[Any]]:
        """Return the records of all sections, in the order of the page."""

    def alerts(self) -> list[Alert]:
        return []

    def sections(self) -> list[Section[Any]]:
        return [section for section in self.list_sections() if section.when(self)]

    def svg(self, drawing: Drawing) -> Markup:
        return Markup(drawing.figure.svg())

    def steps(self) -> Sequence[Step]:
        """Return the steps from the overview to this page, without either."""
        return ()

    def actions(self) -> Sequence[Step]:
        """Return what can be done with what the page shows, on other pages."""
        return ()

    def beside(self) -> tuple[Step | None, Step | None]:
        """Return the pages before and after this one."""
        return None, None


def render(
    page: Any, addresses: Addresses, frame: shell.Frame, unfinished: bool, lead: Markup, switch: Switch | None = None
) -> str:
    # `unfinished` says whether a run of the page is not finished, so that it will change.
    parts = []
    for section in page.sections():
        pictures = {}
        for drawing in section.figures(page, False):
            pictures[drawing.stem] = _picture(page, addresses, drawing)
        variables = {"pictures": pictures, **section.describe(page, page.links), **section.versions[0]}
        parts.append((section, Markup(shell.render_part(section.template, variables))))
    steps = page.steps() if isinstance(page, OnePage) else ()
    actions = page.actions() if isinstance(page, OnePage) else ()
    before, after = page.beside() if isinstance(page, OnePage) else (None, None)
    return shell.render(
        "site/page.html",
        {
            "page": page,
            "lead": lead,
            "sections": parts,
            "alerts": page.alerts(),
            "folded": False,
            "steps": [Step("Overview", addresses.page(OVERVIEW)), *steps] if page.place else [],
            "actions": actions,
            "before": before,
            "after": after,
            "beside": before or after,
            "search": addresses.page(SEARCH) if addresses.live else "",
            "more": addresses.more,
            "switch": switch,
            "watched": addresses.live and unfinished,
        },
        frame,
    )


def _picture(page: Any, addresses: Addresses, drawing: Drawing) -> Picture:
    """Return a figure on a page. A server sends the page first: drawing takes longer than all numbers together."""
    if not addresses.live:
        svg = page.svg(drawing) if isinstance(page, OnePage) else Markup(drawing.figure.svg())
        return Picture(drawing, svg, page.links, saved=True)
    # No figure depends on the query.
    place = page.links.place
    later = (
        addresses.file(place, "svg", drawing.stem, [INLINE], True),
        addresses.file(place, "svg", drawing.stem, (), True),
    )
    return Picture(drawing, Markup(""), page.links, saved=True, later=later)


def table_of(page: Any, name: str) -> pl.DataFrame:
    """Return a table of a page; its main table if the name is ""."""
    name = name or default_table(page.place)
    parts = [data for section in page.sections() for data in (section.saved, *section.more)]
    tables = {data.name: data for data in parts if data}
    if name not in tables:
        raise UsageError("table", repr(name[:100]), "one of " + ", ".join(tables) if tables else "a page with tables")
    return frame_of(tables[name].rows(page))


def figure_of(page: Any, stem: str) -> Figure:
    known = []
    for section in page.sections():
        for drawing in section.figures(page, False):
            if drawing.stem == stem:
                figure: Figure = drawing.figure
                return figure
            known.append(drawing.stem)
    raise UsageError("figure", repr(stem[:100]), "one of " + ", ".join(known) if known else "a page with figures")


def frame_of(rows: Rows) -> pl.DataFrame:
    """Return the columns and rows of a table as a frame. A column of numbers with gaps ("") has null there."""
    columns, cells = rows
    lists = [[cell if cell != "" else None for cell in column] for column in zip(*cells, strict=True)]
    return pl.DataFrame(
        [
            pl.Series(name, values if lists else [], strict=False)
            for name, values in zip(columns, lists or [[]] * len(columns), strict=True)
        ]
    )


def encode(table: pl.DataFrame, ending: str, harmless: bool = True) -> bytes:
    """Return a table as CSV, JSON (a list of objects) or Parquet. In JSON, nan is null, and infinite numbers are text.

    Arguments:
        harmless: whether CSV has an apostrophe before text that a spreadsheet would run.

    >>> encode(pl.DataFrame({"a": [1.5, float("nan")], "b": ["x", "=1"]}), "csv").decode()
    "a,b\\n1.5,x\\nnan,'=1\\n"
    >>> encode(pl.DataFrame({"a": [1.5, float("nan")]}), "json").decode()
    '[{"a":1.5},\\n{"a":null}]\\n'
    """
    match ending:
        case "csv":
            spared = csv.harmless if harmless else lambda cell: cell
            rows = ([spared("" if cell is None else cell) for cell in row] for row in table.iter_rows())
            return "".join(csv.lines([str(spared(name)) for name in table.columns], rows)).encode("utf-8", "replace")
        case "json":
            objects = (
                json.dumps(
                    {name: _plain(cell) for name, cell in zip(table.columns, row, strict=True)},
                    ensure_ascii=False, separators=(",", ":"), allow_nan=False,
                )
                for row in table.iter_rows()
            )  # fmt: skip
            return ("[" + ",\n".join(objects) + "]\n").encode("utf-8", "replace")
        case _:
            buffer = io.BytesIO()
            table.write_parquet(buffer)
            return buffer.getvalue()


def _plain(cell: object) -> object:
    if isinstance(cell, float) and cell in (float("inf"), float("-inf")):
        return "inf" if cell > 0 else "-inf"
    return None if isinstance(cell, float) and cell != cell else cell


def name_models(names: Sequence[str]) -> Markup:
    return join(Markup("<code>%s</code>") % isolate(name) for name in names)
