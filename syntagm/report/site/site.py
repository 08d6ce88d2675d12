"""All pages about runs of one task, and about suites: which there are, and each with its content, tables and figures."""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from syntagm.core import UsageError, counted
from syntagm.evaluation import DEFAULT, LINKINGS, TREATMENTS, Convention
from syntagm.report import methods, page, shell
from syntagm.report.chapter import Chapter
from syntagm.report.numbers import Column, Subject
from syntagm.report.page import refuse_runs
from syntagm.report.predictions.evidence import Evidence
from syntagm.report.site import pages
from syntagm.report.site.addresses import CHECKPOINTS, OVERVIEW, READING, Addresses, Place, Query, keys
from syntagm.report.site.checkpoints import CheckpointPage, Checkpoints
from syntagm.report.site.item import ItemPage, pair_of
from syntagm.report.site.items import Items
from syntagm.report.site.overview import MaterialsPage, overview_of, sentences_of, subjects_of
from syntagm.report.site.run import RunPage
from syntagm.report.site.search import SearchPage
from syntagm.report.site.suite import Drawn, SuitePage
from syntagm.runs import Run, convention_of, numbers_of_suites, rejudged_where_possible, whole
from syntagm.suites import Suite
from syntagm.views import gaps

if TYPE_CHECKING:
    from syntagm.reading_times import Analysis

# The conventions under which pages are kept.
_CONVENTIONS = 4
# The suites whose figures are kept.
_DRAWN = 128


class NoPage(UsageError):
    """A page that does not exist."""


class Site:
    """The pages about runs of one task, about suites without results, and about analyses of reading times."""

    def __init__(self, runs: Sequence[Run], suites: Sequence[Suite] = (), analyses: Sequence["Analysis"] = ()) -> None:
        if runs or not (suites or analyses):
            refuse_runs(runs)
        self.runs = runs
        self.reading = page.reading_chapter(analyses)
        self.chapter = overview_of(runs) if runs else None
        columns, of_runs = (self.chapter.columns, self.chapter.subjects) if self.chapter else ((), ())
        self.columns: dict[str, Column[Any]] = {column.name: column for column in columns}
        materials = dict(subjects_of(suites, of_runs))
        self.materials = list(materials)
        if self.chapter:
            self.chapter.materials = self.materials
        # Suites of fill runs have no pages of their own.
        subjects = [*([] if runs and gaps.over_gaps(runs[0]) else of_runs), *materials]
        self.suites: dict[str, Subject[Run]] = dict(
            zip(keys(subject.title for subject in subjects), subjects, strict=True)
        )
        self._drawn = lru_cache(maxsize=_DRAWN)(lambda key: Drawn(self.suites[key]))

        def items_of(key: str) -> Items:
            suite = materials.get(subject := self.suites[key])
            return Items(subject, sentences_of(suite) if suite else None)

        self._items = lru_cache(maxsize=None)(items_of)
        self._under = lru_cache(maxsize=_CONVENTIONS)(
            lambda name: Site([rejudged_where_possible(run, name) for run in runs], suites, analyses)
        )

    def under(self, convention: str) -> "Site":
        """Return the same pages with verdicts by another convention, where predictions compare two whole sentences."""
        try:
            parsed = Convention.parse(convention)
        except UsageError as error:
            raise NoPage(error.place, error.found, error.expected, error.cure) from error
        if not self.conventions or parsed.unigrams:
            raise NoPage(f"convention {parsed}", "no such page", "one of " + (", ".join(self.conventions) or "none"))
        site: Site = self._under(str(parsed))
        return site

    @cached_property
    def conventions(self) -> list[str]:
        """The conventions by which the verdicts of these runs can be judged; empty if none compares two whole sentences."""
        judged = [run for run in self.runs if run.task.surprisals and "parquet" in run.tables]
        if not any(whole(run, suite.name) for run in judged for suite in run.suites):
            return []
        names = [linking.name for linking in LINKINGS if not linking.unigrams]
        ended = any(run.record["model"]["policies"].get("eos") == "yes" for run in judged)
        treated = [treatment.name for treatment in TREATMENTS if ended or treatment.name != "without_end"]
        return [*names, *(f"{DEFAULT}+{name}" for name in treated)]

    @property
    def done(self) -> bool:
        return all(run.done for run in self.runs)

    @cached_property
    def names(self) -> dict[int, str]:
        """Number of a suite -> its name in addresses."""
        return {subject.number: key for key, subject in self.suites.items()}

    @cached_property
    def checkpoints(self) -> Checkpoints | None:
        return Checkpoints.of(self.chapter) if isinstance(self.chapter, Evidence) else None

    def items(self, suite: str) -> Items:
        if suite not in self.suites:
            raise NoPage("suite", repr(suite[:200]), "a suite of these runs")
        found: Items = self._items(suite)
        return found

    def page(self, place: Place, addresses: Addresses, query: Query = ()) -> Any:
        match place:
            # These pages have no query: others than their own are ignored, as those of mails and the like.
            case ():
                alone = self.reading if not self.materials else None
                page: Any = self.chapter or alone or MaterialsPage(self.materials, addresses)
                query = ()
            case ("reading",) if self.reading:
                page, query = self.reading, ()
            case ("run", name) if self.chapter and name in self.columns:
                query = ()
                page = RunPage(self.columns[name], self.chapter.subjects, addresses)
            case ("suite", suite):
                items = self.items(suite)
                selection = items.choices.read(query)
                page = SuitePage(self._drawn(suite), suite, items, selection, addresses, _beside([*self.suites], suite))
            case ("suite", suite, item):
                page = self._item(suite, item, addresses, query)
            case ("checkpoints", *numbers) if self.checkpoints and len(numbers) < 2:
                page = self._checkpoint(self.checkpoints, numbers, addresses, query)
                # All these pages have the same tables and figures.
                page.links = pages.Among(addresses, CHECKPOINTS, (), self.names)
                return page
            case ("search",):
                page = self._search(addresses, query)
            case _:
                raise NoPage("/" + "/".join(place)[:200], "no such page", "a page of these runs")
        page.links = pages.Among(addresses, place, query, self.names)
        page.place = place
        return page

    def _item(self, suite: str, item: str, addresses: Addresses, query: Query) -> ItemPage:
        items = self.items(suite)
        if item not in items.numbers:
            raise NoPage(f"item {item[:200]!r} of {suite}", "no such item", "an item of the suite")
        query, pair = pair_of(query, items.models)
        selection = items.choices.read(query)
        selected = items.select(selection)["key"].to_list() if query else [*items.numbers]
        others = _beside([key for key in selected if key == item or addresses.page(("suite", suite, key))], item)
        return ItemPage(self.suites[suite], suite, item, items, selection, addresses, others, pair)

    def _checkpoint(
        self, checkpoints: Checkpoints, numbers: Sequence[str], addresses: Addresses, query: Query
    ) -> CheckpointPage:
        last = str(len(checkpoints.at))
        number = next(iter(numbers), dict(query).get("at", last))
        if number not in map(str, range(1, len(checkpoints.at) + 1)):
            raise NoPage("checkpoint", repr(number[:100]), f"a number from 1 to {last}")
        return CheckpointPage(checkpoints, int(number), addresses)

    def _search(self, addresses: Addresses, query: Query) -> SearchPage:
        given = dict(query)
        if unknown := sorted(given.keys() - {"words", "page"}):
            raise UsageError("search", repr(unknown[0][:100]), "words, page")
        number = given.get("page", "1")
        if not (number.isascii() and number.isdecimal() and len(number) < 7 and int(number) > 0):
            raise UsageError("page", repr(number[:100]), "a whole number from 1")
        items = {key: self.items(key) for key in self.suites}
        return SearchPage(given.get("words", "")[:1000], int(number), items, addresses)

    def html(self, place: Place, addresses: Addresses, frame: shell.Frame, query: Query = ()) -> str:
        """Return a page as HTML; the errors are those of `page`."""
        return self.render(self.page(place, addresses, query), addresses, frame)

    def render(self, page: Any, addresses: Addresses, frame: shell.Frame) -> str:
        lead, switch = self._lead(page.place, addresses), self._switch(page, addresses)
        return pages.render(page, addresses, frame, not self.done, lead, switch)

    def _switch(self, page: Any, addresses: Addresses) -> pages.Switch | None:
        """Return a page's convention, with links to others on a server; None if there are none, or it has no verdicts."""
        judged = page.place == OVERVIEW or page.place[0] == "suite"
        if not (judged and self.conventions):
            return None
        own = " or ".join(dict.fromkeys(map(convention_of, self.runs)))
        if not addresses.live:
            return pages.Switch(own, [])
        query = getattr(page.links, "query", ())
        steps = [pages.Step(name, addresses.under(name, page.place, query)) for name in self.conventions if name != own]
        back = addresses.under("", page.place, query)
        away = back != addresses.page(page.place, query)
        return pages.Switch(own, [*([pages.Step("as the runs were judged", back)] if away else []), *steps])

    def _lead(self, place: Place, addresses: Addresses) -> Markup:
        """Return what stands below the title: the models, with links to their runs, and how much they were asked."""
        if place != OVERVIEW or not self.chapter:
            if place == OVERVIEW and self.reading and self.materials:
                return self._to_reading(self.reading, addresses)
            return Markup("")
        records = [subject.record for subject in self.chapter.subjects]
        names = [
            Markup('<a href="%s">%s</a>') % (addresses.page(("run", name)), pages.name_models([name]))
            for name in self.columns
        ]
        listed = Markup(", ").join(names) if len(names) <= 12 else Markup("%s") % counted(len(names), "model")
        items = counted(sum(record.items for record in records), "item")
        sampled = methods.describe_sample(records)
        counts = numbers_of_suites([column.run for column in self.chapter.columns])
        only = f"; not all on all of them: {counts}" if counts else ""
        only += f"; only a sample of the items: {sampled}" if sampled else ""
        lead = Markup("%s on %s, %s%s") % (listed, counted(len(records), "suite"), items, only)
        if self.checkpoints:
            count = counted(len(self.checkpoints.at), "checkpoint")
            lead += Markup(' &middot; <a href="%s">%s, one by one</a>') % (addresses.page(CHECKPOINTS), count)
        return lead + (Markup(" &middot; ") + self._to_reading(self.reading, addresses) if self.reading else Markup(""))

    @staticmethod
    def _to_reading(chapter: Chapter, addresses: Addresses) -> Markup:
        return Markup('<a href="%s">%s</a>') % (addresses.page(READING), chapter.title)


def _beside(order: Sequence[str], key: str) -> tuple[str, str]:
    if key not in order:
        return "", ""
    place = order.index(key)
    return (order[place - 1] if place else ""), (order[place + 1] if place + 1 < len(order) else "")
