"""The base class of chapters, their alerts and their last section. A chapter is the part of a report about runs of one task."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from markupsafe import Markup

from syntagm.core import counted
from syntagm.report import methods
from syntagm.report.html import isolate, join
from syntagm.report.links import INSIDE, Links
from syntagm.report.numbers import Column, Subject
from syntagm.report.section import Section
from syntagm.runs import judging
from syntagm.views import Figure, coverage


@dataclass(frozen=True, slots=True)
class Alert:
    """A warning; a mild one is no fault of the numbers."""

    content: Markup
    mild: bool = True


def warn_unfinished(column: Column[Any], of_items: str) -> Iterator[Alert]:
    if not column.run.done or column.missing:
        content = Markup(
            "<b>Unfinished.</b> The run of %s has the status &ldquo;%s&rdquo;; %s %s are not judged. The numbers below are "
            "computed from the others, and will change."
        )
        values = isolate(column.name), column.run.record["status"], f"{column.missing:,}", of_items
        yield Alert(content % values, mild=False)


def warn_undefined(column: Column[Any], noun: str) -> Iterator[Alert]:
    if column.run.undefined:
        name = f" {noun}{'' if column.undefined == 1 else 's'}" if noun else ""
        lead = Markup("<b>%s undefined%s</b> for %s, not counted in any n:")
        values = f"{column.undefined:,}", name, isolate(column.name)
        yield Alert(lead % values + list_reasons(column.run.undefined), mild=False)


def list_reasons(counts: Mapping[str, int]) -> Markup:
    return Markup("<ul>%s</ul>") % join(
        (Markup("<li>%s &times; %s</li>") % (f"{count:,}", reason) for reason, count in counts.items()), ""
    )


def note_conventions(columns: Sequence[Column[Any]]) -> Iterator[Alert]:
    """Say by which convention verdicts are judged, if not by the sum of bits; warn if models were treated differently."""
    runs = [column.run for column in columns]
    for warning in filter(None, (judging.treatment(runs), different := judging.different(runs))):
        yield Alert(Markup("%s") % warning, mild=False)
    if not different and (note := judging.describe(runs)):
        yield Alert(Markup("%s Effects and surprisals are in bits nevertheless.") % note)


def note_unknown(column: Column[Any], suite: str = "") -> Iterator[Alert]:
    """Say how many tokens of one suite, or of all, are unknown to a model, and whether predictions compare them."""
    for found in coverage.unknown([column.run], [suite] if suite else ()):
        yield Alert(Markup("<b>Unknown tokens.</b> %s") % isolate(found.in_full), mild=not found.compared)


def note_ties(columns: Sequence[Column[Any]], of: str, meaning: str) -> Iterator[Alert]:
    tied = [
        Markup("<b>%s</b>%s for %s (within %s bits)")
        % (counted(column.ties, "tie"), of, isolate(column.name), f"{column.run.tolerance_in_bits:g}")
        for column in columns
        if column.ties
    ]
    if tied:
        yield Alert(Markup("%s. %s") % (join(tied), meaning))


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


def _methods(chapter: Chapter) -> dict[str, Any]:
    return {"methods_text": methods.methods_text([column.run for column in chapter.columns])}


RECORD: Section[Chapter] = Section("record", "Record", template="record.html", show=_methods)
