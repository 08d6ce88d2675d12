"""Addresses of pages and of the tables and figures on them, on a server or in a folder.

A page has a place: () is the overview, ("suite", NAME) a suite, ("suite", NAME, ITEM) an item, ("run", NAME) a run,
("checkpoints", NUMBER) the scores at a position of checkpoints, which begin with ("checkpoints",), the last one, and
("reading",) analyses of reading times. On a
server, the place is the path, and a table of a page is the path with an ending: `/suite/NAME.csv`.
"""

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias
from urllib.parse import quote, urlencode

Place: TypeAlias = tuple[str, ...]
Query: TypeAlias = Sequence[tuple[str, str]]
OVERVIEW: Place = ()
SEARCH: Place = ("search",)
CHECKPOINTS: Place = ("checkpoints",)
READING: Place = ("reading",)
# What stands before a convention in a path, and this before the place of the page.
UNDER = "under"
# The endings of tables and of figures.
TABLES = ("csv", "json", "parquet")
FIGURES = ("svg", "png")
_ENDINGS = tuple(f".{ending}" for ending in (*TABLES, *FIGURES))


class Addresses(Protocol):
    """Where the pages and files are, as seen from one page."""

    @property
    def live(self) -> bool:
        """Whether a server answers: then there are free filters, a search, and a page for every item."""

    @property
    def more(self) -> tuple[tuple[str, str], ...]:
        """Further pages, as (label, URL), to which every page leads."""

    def page(self, place: Place, query: Query = ()) -> str:
        """Return the URL of a page; "" if there is no such page."""

    def file(self, place: Place, ending: str, name: str = "", query: Query = (), figure: bool = False) -> str:
        """Return the URL of a table or a figure of a page; "" if there is no such file.

        Arguments:
            ending: one of `TABLES` or `FIGURES`.
            name: the name of the table or figure; "" for the main table of the page.
            figure: whether it is the name of a figure.
        """

    def under(self, convention: str, place: Place, query: Query = ()) -> str:
        """Return the URL of a page whose verdicts are judged by a convention; "" if there is none.

        Arguments:
            convention: its name; "" for that of the runs.
        """

    def tried(self, suite: str, digest: str, item: str) -> str:
        """Return the URL on which an item is tried; "" if there is none.

        Arguments:
            suite: the name of the suite.
            digest: its hash.
        """


@dataclass(frozen=True, slots=True)
class Served:
    """The addresses on a server, which are the same on all pages."""

    live: bool = True
    prefix: str = ""  # the path before that of each page; "" for the pages at the root of the server
    more: tuple[tuple[str, str], ...] = ()  # further pages of the server, as (label, URL), to which every page leads
    # What stands before the hash and the name of a suite where its items are tried; "" if they can't be.
    trial: str = ""
    # The convention by which verdicts on the pages are judged; "" for that of the runs. It is a part of the path, so
    # that all links and forms of a page keep it.
    convention: str = ""

    @property
    def _before(self) -> str:
        return self.prefix + (path_of((UNDER, self.convention)) if self.convention else "")

    def page(self, place: Place, query: Query = ()) -> str:
        return self._before + path_of(place) + _query(query)

    def under(self, convention: str, place: Place, query: Query = ()) -> str:
        return replace(self, convention=convention).page(place, query)

    def file(self, place: Place, ending: str, name: str = "", query: Query = (), figure: bool = False) -> str:
        kind = "figure" if figure else "table"
        path = path_of(place) if place else "/overview"
        return f"{self._before}{path}.{ending}{_query([*([(kind, name)] if name else []), *query])}"

    def tried(self, suite: str, digest: str, item: str) -> str:
        """Return the URL on which an item is tried; "" if there is none."""
        return f"/try{_query([('suite', f'{self.trial}{digest[:12]}:{suite}'), ('item', item)])}" if self.trial else ""


@dataclass(frozen=True, slots=True)
class Filed:
    """The addresses in a folder, as seen from one of its pages."""

    # Place -> the path of the page in the folder, without its ending; only the pages that exist.
    files: Mapping[Place, str]
    here: str  # the path of the page itself
    live: bool = False
    more: tuple[tuple[str, str], ...] = ()

    def page(self, place: Place, query: Query = ()) -> str:
        """Return the relative URL of a page; "" if it is not in the folder."""
        return self._relative(f"{self.files[place]}.html") if place in self.files else ""

    def file(self, place: Place, ending: str, name: str = "", query: Query = (), figure: bool = False) -> str:
        """Return the relative URL of a table or a figure of a page; "" if the folder does not have it in this form."""
        if place not in self.files or ending not in endings_of(place):
            return ""
        return self._relative(file_of(self.files[place], ending, name))

    def under(self, convention: str, place: Place, query: Query = ()) -> str:
        """Return "": a folder has the pages by the convention of its runs."""
        return ""

    def tried(self, suite: str, digest: str, item: str) -> str:
        """Return "": no model answers in a folder."""
        return ""

    def _relative(self, path: str) -> str:
        return quote(posixpath.relpath(path, posixpath.dirname(self.here) or "."))


def endings_of(place: Place) -> tuple[str, ...]:
    """Return the endings of the files beside a page of a folder: of those of items, of which there are most, only some."""
    return ("csv", "json") if len(place) == 3 else (*TABLES, *FIGURES)


def default_table(place: Place) -> str:
    """Return the name of the table that a page's address with an ending means.

    >>> default_table(()), default_table(("suite", "mvrr")), default_table(("suite", "mvrr", "1"))
    ('scores', 'items', 'tokens')
    """
    if len(place) == 3:
        return "tokens"
    names = {
        "suite": "items",
        "run": "settings",
        "search": "sentences",
        "checkpoints": "trajectory",
        "reading": "reading-gain",
    }
    return names.get(place[0], "") if place else "scores"


def file_of(page: str, ending: str, name: str) -> str:
    """Return the path of a table or a figure of a page in a folder.

    >>> file_of("suite/01-mvrr", "csv", ""), file_of("index", "svg", "scores")
    ('suite/01-mvrr.csv', 'index.scores.svg')
    """
    return f"{page}.{name}.{ending}" if name else f"{page}.{ending}"


def path_of(place: Place) -> str:
    """Return the path of a page on a server.

    >>> path_of(()), path_of(("suite", "a/b?", "1.csv"))
    ('/', '/suite/a%2Fb%3F/1%2Ecsv')
    """
    return "/" + "/".join(map(_encoded, place))


def _encoded(name: str) -> str:
    encoded = quote(name, safe="")
    # A name that ends like a file is no file.
    return (
        encoded[: encoded.rindex(".")] + "%2E" + encoded.rpartition(".")[2] if encoded.endswith(_ENDINGS) else encoded
    )


def _query(query: Query) -> str:
    return f"?{urlencode(query)}" if query else ""


def keys(names: Iterable[str]) -> list[str]:
    """Return a name for each of several things by which an address can tell them apart.

    A repeated name is numbered, and so are names that mean something else in addresses.

    >>> keys(["a", "b", "a", "..", ""])
    ['a', 'b', 'a (2)', '.. (1)', ' (1)']
    """
    names = list(names)
    taken, found = set(names), []
    used: set[str] = set()
    for name in names:
        key, number = name, 1
        if name in ("", ".", ".."):
            key = f"{name} ({number})"
        while key in used or (key != name and key in taken):
            number += 1
            key = f"{name} ({number})"
        used.add(key)
        found.append(key)
    return found
