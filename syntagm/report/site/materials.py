"""Suites without results, which are shown and searched beside those of runs."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, final

import polars as pl

from syntagm.core import counted
from syntagm.evaluation import SENTENCES, suite_hash, suite_record
from syntagm.report.html import HtmlTable, classes, heading, number_cell, row, row_heading, text_cell
from syntagm.report.links import Rows
from syntagm.report.numbers import Subject
from syntagm.report.predictions.tables import link_suite
from syntagm.report.section import Data, Section, Variables
from syntagm.report.site.addresses import OVERVIEW, Addresses, Place
from syntagm.report.site.pages import OnePage
from syntagm.runs import Run
from syntagm.suites import Suite


def subjects_of(suites: Sequence[Suite], known: Sequence[Subject[Run]]) -> Iterator[tuple[Subject[Run], Suite]]:
    """Yield the suites that no run has with the same content."""
    hashes = [suite_hash(suite) for suite in suites]
    seen = {(subject.name, subject.record.hash) for subject in known}
    new = []
    for suite, digest in zip(suites, hashes, strict=True):
        if (suite.name, digest) not in seen:
            seen.add((suite.name, digest))
            new.append((suite, digest))
    names = [name for name, _ in seen]
    for number, (suite, digest) in enumerate(new, len(known) + 1):
        formulas = {prediction.name: prediction.formula.text for prediction in suite.predictions}
        record = suite_record(suite, digest, formulas, ())
        yield Subject(number, record, (), names.count(suite.name) - 1, tuple(formulas)), suite


def sentences_of(suite: Suite) -> pl.DataFrame:
    """Return the sentences of a suite as a run has them, with the columns of `tasks.items.SENTENCES`, but no tokens."""
    rows = [
        (
            *(item.id, condition, sentence.text, json.dumps(dict(item.tags), ensure_ascii=False)),
            *([getattr(region, name) for region in sentence.regions] for name in ("name", "start", "end")),
            *([], [], []),
        )
        for item in suite.items
        for condition, sentence in item.sentences.items()
    ]
    return pl.DataFrame(rows, schema=SENTENCES, orient="row")


def _rows(subjects: Sequence[Subject[Run]]) -> Rows:
    columns = ("suite", "items", "conditions", "predictions", "language", "hash")
    return columns, [
        (
            *(record.name, record.items, len(record.conditions), len(record.predictions)),
            *(record.tags.get("language", ""), record.hash),
        )
        for subject in subjects
        for record in [subject.record]
    ]


def _tabulate(page: Any) -> Variables:
    headings = [heading("suite"), heading("items", True), heading("conditions", True), heading("predictions")]
    rows = [
        row(
            row_heading(link_suite(page.links, subject)),
            *(number_cell(f"{count:,}", count) for count in (record.items, len(record.conditions))),
            text_cell(", ".join(record.predictions)),
        )
        for subject in page.materials
        for record in [subject.record]
    ]
    return {"table": HtmlTable("Suites without results", headings, rows, classes(sortable=True, filterable=True))}


WITHOUT_RESULTS: Section[Any] = Section(
    "without-results",
    "Suites without results",
    "No run has these suites with the same content. Their sentences can be looked at, filtered and searched.",
    template="site/table.html",
    when=lambda page: page.materials,
    data=Data("materials", "the table", lambda page: _rows(page.materials)),
    show=lambda page: _tabulate(page),
)


@final
class MaterialsPage(OnePage):
    """The overview if there are suites and no runs."""

    def __init__(self, materials: Sequence[Subject[Run]], addresses: Addresses) -> None:
        self.materials, self.addresses = materials, addresses
        self.place: Place = OVERVIEW
        self.title = counted(len(materials), "suite")

    def list_sections(self) -> Sequence[Section[Any]]:
        """Return the records of all sections, in the order of the page."""
        return [WITHOUT_RESULTS]
