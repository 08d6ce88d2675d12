"""The pages about runs, as routes: rendered on request, and kept until the runs change or there are too many."""

import contextlib
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from starlette.responses import Response

from syntagm.core import SyntagmError
from syntagm.reading_times import record
from syntagm.report import shell
from syntagm.report.links import file_name
from syntagm.report.page import open_reading, refuse_runs
from syntagm.report.serve.page_cache import PageCache, key_of, key_within
from syntagm.report.serve.routes import Asked, Missing, Route, content, download, html_page
from syntagm.report.site import pages
from syntagm.report.site.addresses import (
    CHECKPOINTS,
    FIGURES,
    OVERVIEW,
    READING,
    SEARCH,
    TABLES,
    UNDER,
    Place,
    Query,
    Served,
)
from syntagm.report.site.site import NoPage, Site
from syntagm.report.site.suite import SuitePage, suite_file
from syntagm.runs import LEDGER, Run, reopened
from syntagm.suites import Suite

# The most bytes of pages, tables and figures that are kept.
MOST_BYTES = 128_000_000
# The runs are looked at at most once in this many seconds.
_LOOK = 1.0
_KINDS: Final = {
    "csv": "text/csv", "json": "application/json", "parquet": "application/vnd.apache.parquet", "svg": "image/svg+xml",
    "png": "image/png",
}  # fmt: skip
# A figure is a page of its own if it is opened: nothing in it is run.
_OF_FIGURES = "default-src 'none'; script-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"


class Shelf:
    """The pages of runs that were rendered, those used last at the end."""

    # Runs that are not finished grow, and a run may be made again: then all pages are made anew.

    def __init__(
        self,
        runs: Sequence[Run],
        clock: Callable[[], float] = time.monotonic,
        suites: Sequence[Suite] = (),
        cache: PageCache | None = None,
        reading: Sequence[str] = (),
    ) -> None:
        if runs or not (suites or reading):
            refuse_runs(runs)
        self._runs, self._suites, self._clock, self._looked = list(runs), suites, clock, clock()
        self._reading, self._cache = reading, cache
        self._analyses = open_reading(reading)
        self._state = self._look()
        self._key = key_of(self._runs, suites, self._files()) if cache else ""
        self._site: Site | None = None
        self._kept: OrderedDict[tuple[object, ...], bytes] = OrderedDict()
        self._bytes = 0
        # One page is made at a time: that is work for the processor, and needs memory.
        self._making, self._lock = threading.RLock(), threading.Lock()

    @property
    def state(self) -> str:
        """What changes when a run changes."""
        self._renew()
        return str(abs(hash(self._state)))

    @property
    def site(self) -> Site:
        """The pages of the runs. Their numbers take seconds if there are many: they are computed when a page needs them."""
        with self._making:
            if self._site is None:
                self._site = Site(self._runs, self._suites, self._analyses)
            return self._site

    def get(self, key: tuple[object, ...], make: Callable[[Site], bytes], lasting: bool = False) -> bytes:
        self._renew()
        with self._lock:
            state = self._state
            if (found := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return found
            runs, lasts = self._runs, self._key if lasting else ""
        if lasts:
            lasts = key_within(lasts, runs, key)
        # Without waiting for a page that is being made.
        if self._cache and lasts and (found := self._cache.get(lasts)) is not None:
            self._keep(key, found, state)
            return found
        with self._making:
            with self._lock:
                if (found := self._kept.get(key)) is not None:
                    return found
            made = make(self.site)
            self._keep(key, made, state)
            unchanged = self._look() == state
        # A page of runs that have changed since it was asked for doesn't belong under the key of those before.
        if self._cache and lasts and unchanged:
            self._cache.put(lasts, made)
        return made

    def _keep(self, key: tuple[object, ...], made: bytes, state: object) -> None:
        """Keep a page in memory, unless a run has changed since it was asked for."""
        with self._lock:
            if state != self._state or key in self._kept:
                return
            self._kept[key] = made
            self._bytes += len(made)
            while self._bytes > MOST_BYTES and len(self._kept) > 1:
                self._bytes -= len(self._kept.popitem(last=False)[1])

    def _renew(self) -> None:
        now = self._clock()
        if now - self._looked < _LOOK:
            return
        self._looked = now
        if (state := self._look()) == self._state:
            return
        with self._making:
            opened = []
            for run in self._runs:
                renewed = reopened(run)
                # A label of the command line stays; the name of a record is that of the model, which may be another now.
                if run.name != run.recorded_name:
                    renewed.name = run.name
                opened.append(renewed)
            analyses = open_reading(self._reading)
            site = Site(opened, self._suites, analyses)
            key = key_of(opened, self._suites, self._files()) if self._cache else ""
            with self._lock:
                self._runs, self._analyses, self._state = opened, analyses, state
                self._site, self._key, self._bytes = site, key, 0
                self._kept.clear()

    def _files(self) -> list[Path]:
        """List the tables of the analyses and the records beside them."""
        tables = [Path(name.removesuffix(record.ENDING)) for name in self._reading]
        return [*tables, *map(record.place, tables)]

    def _look(self) -> tuple[tuple[int, int], ...]:
        of_runs = [run.root / name for run in self._runs if run.root for name in ("run.json", LEDGER)]
        found = []
        for path in (*of_runs, *self._files()):
            try:
                status = path.stat()
                found.append((status.st_mtime_ns, status.st_size))
            except OSError:  # while it is replaced, or gone
                found.append((0, 0))
        return tuple(found)


Opening: TypeAlias = Callable[[Asked], tuple[Shelf, Served]]


def routes(
    runs: Sequence[Run],
    more: tuple[tuple[str, str], ...] = (),
    warmed: bool = False,
    suites: Sequence[Suite] = (),
    trial: str = "",
    cache: PageCache | None = None,
    reading: Sequence[str] = (),
) -> Iterator[Route]:
    shelf = Shelf(runs, suites=suites, cache=cache, reading=reading)
    addresses = Served(more=more, trial=trial)
    if warmed:
        warm(shelf, addresses)
    yield Route("/state", lambda asked: content(json.dumps(shelf.state).encode(), "application/json"))
    yield from routes_under("", lambda asked: (shelf, addresses))


def warm(shelf: Shelf, addresses: Served) -> None:
    """Make the overview and its figures in a thread, before somebody asks: they take longer than any other page."""

    def opening(asked: Asked) -> tuple[Shelf, Served]:
        return shelf, addresses

    def name_figures(site: Site) -> bytes:
        page = site.page(OVERVIEW, addresses)
        return " ".join(
            drawing.stem for section in page.sections() for drawing in section.figures(page, False)
        ).encode()

    def make() -> None:
        # What can't be made is said on the page, when somebody asks for it.
        with contextlib.suppress(SyntagmError):
            _page(opening, lambda asked: OVERVIEW, Asked("/", {}))
            for stem in shelf.get(("figures", OVERVIEW), name_figures, lasting=True).decode().split():
                _figure(opening, lambda asked: OVERVIEW, "svg", Asked("/", {}, [("figure", stem), pages.INLINE]))
            # If all this came from the cache, the numbers of other pages are still to be computed.
            _ = shelf.site

    threading.Thread(target=make, name="syntagm-warm", daemon=True).start()


def routes_under(prefix: str, open_shelf: Opening) -> Iterator[Route]:
    places: list[tuple[str, Callable[[Asked], Place]]] = [
        ("/suite/{suite}", lambda asked: ("suite", asked.names["suite"])),
        ("/suite/{suite}/{item}", lambda asked: ("suite", asked.names["suite"], asked.names["item"])),
        ("/run/{run}", lambda asked: ("run", asked.names["run"])),
        ("/search", lambda asked: SEARCH),
        ("/reading", lambda asked: READING),
        ("/checkpoints", lambda asked: CHECKPOINTS),
        ("/checkpoints/{number}", lambda asked: (*CHECKPOINTS, asked.names["number"])),
    ]
    # The same pages with verdicts by another convention.
    for before in (prefix, f"{prefix}/{UNDER}/{{convention}}"):
        for path, place in [("/", lambda asked: OVERVIEW), *places]:
            yield Route(before + path, partial(_page, open_shelf, place))
        for path, place in [("/overview", lambda asked: OVERVIEW), *places]:
            for ending in TABLES:
                yield Route(f"{before}{path}.{ending}", partial(_table, open_shelf, place, ending))
            for ending in FIGURES:
                yield Route(f"{before}{path}.{ending}", partial(_figure, open_shelf, place, ending), policy=_OF_FIGURES)


def _opened(open_shelf: Opening, asked: Asked) -> tuple[Shelf, Served, str]:
    """Return the runs of a request, the addresses of its pages, and the convention in its path; "" for that of the runs."""
    shelf, addresses = open_shelf(asked)
    convention = asked.names.get("convention", "")
    return shelf, replace(addresses, convention=convention), convention


def _judged(site: Site, convention: str) -> Site:
    return site.under(convention) if convention else site


def _page(open_shelf: Opening, place_of: Callable[[Asked], Place], asked: Asked) -> Response:
    place, query = place_of(asked), tuple(asked.query)
    shelf, addresses, convention = _opened(open_shelf, asked)

    def make(site: Site) -> bytes:
        return _judged(site, convention).html(place, addresses, shell.LINKED, query).encode()

    return html_page(_found(shelf, ("page", place, query, addresses), make, _lasts(place, query)).decode())


def _table(open_shelf: Opening, place_of: Callable[[Asked], Place], ending: str, asked: Asked) -> Response:
    place, name, query = place_of(asked), asked.field("table"), _without(asked, "table", "figure")
    figure = asked.field("figure")
    shelf, addresses, convention = _opened(open_shelf, asked)

    def make(site: Site) -> bytes:
        made = _judged(site, convention).page(place, addresses, query)
        if name == "suite" and isinstance(made, SuitePage) and ending == "json":
            return suite_file(made)
        table = pages.figure_of(made, figure).table if figure else pages.table_of(made, name)
        # An exclude list is read again, character by character.
        return pages.encode(table, ending, harmless=name != "exclude")

    parts = [*place, *filter(None, (name or figure, convention))]
    stem = "-".join(["syntagm", *map(_harmless, parts)])
    key = (ending, place, name, figure, query, convention)
    return download(_found(shelf, key, make), _KINDS[ending], f"{stem}.{ending}")


def _figure(open_shelf: Opening, place_of: Callable[[Asked], Place], ending: str, asked: Asked) -> Response:
    place, name, query = place_of(asked), asked.field("figure"), _without(asked, "figure", pages.INLINE[0])
    inline = ending == "svg" and pages.INLINE in asked.query
    shelf, addresses, convention = _opened(open_shelf, asked)

    def make(site: Site) -> bytes:
        figure = pages.figure_of(_judged(site, convention).page(place, addresses, query), name)
        return figure.svg().encode() if inline else figure.content(ending)

    key = (ending, inline, place, name, query, convention)
    return content(_found(shelf, key, make, _lasts(place, query)), _KINDS[ending])


def _lasts(place: Place, query: Query) -> bool:
    """Return whether something of a page is kept for the next start of a server."""
    # Items and selections are many and quick, and the page of a run says how its files are now.
    return not query and (place == OVERVIEW or (place[0] == "suite" and len(place) == 2))


def _found(shelf: Shelf, key: tuple[object, ...], make: Callable[[Site], bytes], lasting: bool = False) -> bytes:
    try:
        return shelf.get(key, make, lasting)
    except NoPage as error:
        raise Missing(error.place, error.found, error.expected, error.cure) from error


def _without(asked: Asked, *names: str) -> tuple[tuple[str, str], ...]:
    return tuple(pair for pair in asked.query if pair[0] not in names)


def _harmless(name: str) -> str:
    return file_name(0, name).partition("-")[2] or "page"
