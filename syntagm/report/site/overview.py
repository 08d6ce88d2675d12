"""The overview: the sections of a report, except for those about single suites, which have pages of their own."""

import json
from collections.abc import Iterator, Sequence
from math import fsum
from typing import Any, ClassVar

import polars as pl
from markupsafe import Markup

from syntagm.core import RunError, UsageError, counted
from syntagm.evaluation import SENTENCES, People, suite_hash, suite_record
from syntagm.report import html, people, sweep
from syntagm.report.chapter import RECORD, Chapter
from syntagm.report.gaps import chapter as gaps
from syntagm.report.gaps.evidence import Evidence as EvidenceOfGaps
from syntagm.report.html import HtmlTable, classes, heading, isolate, number_cell, row, row_heading, tabulate, text_cell
from syntagm.report.links import Rows
from syntagm.report.numbers import Subject, number
from syntagm.report.predictions import chapter as predictions
from syntagm.report.predictions.evidence import Evidence
from syntagm.report.predictions.scores import ScoreRow
from syntagm.report.predictions.tables import count_suites, link_suite
from syntagm.report.section import Data, Section, Variables
from syntagm.report.site.addresses import OVERVIEW, Addresses, Place
from syntagm.report.site.pages import OnePage
from syntagm.runs import Run, group_of
from syntagm.suites import Suite
from syntagm.views import Table, classes as of_classes, over_gaps


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
    for place, (suite, digest) in enumerate(new, len(known) + 1):
        formulas = {prediction.name: prediction.formula.text for prediction in suite.predictions}
        record = suite_record(suite, digest, formulas, ())
        yield Subject(place, record, (), names.count(suite.name) - 1, tuple(formulas)), suite


def sentences_of(suite: Suite) -> pl.DataFrame:
    """Return the sentences of a suite as a run has them, with the columns of `evaluation.SENTENCES`, but no tokens."""
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


def _list_materials(subjects: Sequence[Subject[Run]]) -> Rows:
    columns = ("suite", "items", "conditions", "predictions", "language", "hash")
    return columns, [
        (
            *(record.name, record.items, len(record.conditions), len(record.predictions)),
            *(record.tags.get("language", ""), record.hash),
        )
        for subject in subjects
        for record in [subject.record]
    ]


def _tabulate_materials(page: Any) -> Variables:
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
    data=Data("materials", "the table", lambda page: _list_materials(page.materials)),
    show=lambda page: _tabulate_materials(page),
)


class MaterialsPage(OnePage):
    """The overview if there are suites and no runs."""

    def __init__(self, materials: Sequence[Subject[Run]], addresses: Addresses) -> None:
        self.materials, self.addresses = materials, addresses
        self.place: Place = OVERVIEW
        self.title = counted(len(materials), "suite")

    def list_sections(self) -> Sequence[Section[Any]]:
        return [WITHOUT_RESULTS]


_NO_GROUP = "no group"


def _groups(chapter: Evidence) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for place, column in enumerate(chapter.columns):
        groups.setdefault(group_of(column.name) or _NO_GROUP, []).append(place)
    return groups


def _compare(chapter: Evidence) -> Table | None:
    """Return the scores of the groups with intervals; None if the models have no suite in common."""
    names = tuple(group_of(column.name) or _NO_GROUP for column in chapter.columns)
    try:
        return of_classes.make_table([column.run for column in chapter.columns], names)
    except (UsageError, RunError):
        return None


def _lines(chapter: Evidence) -> list[tuple[str, ScoreRow]]:
    """Return the scores over all suites, and over those of each value of each tag."""
    return [
        ("", chapter.overall[0]),
        *((tag.replace("_", " "), line) for tag, lines in chapter.groups.items() for line in lines),
    ]


def _mean(line: ScoreRow, places: Sequence[int]) -> tuple[float, int]:
    """Return the mean of the defined scores of models, and how many they are."""
    values = [cell.value for place in places if (cell := line.cells[place]) and cell.value == cell.value]
    return (fsum(values) / len(values) if values else float("nan")), len(values)


def _suites(line: ScoreRow, places: Sequence[int]) -> str:
    """Return the number of suites of the scores of models, fewest to most."""
    counts = sorted({len(line.over[place]) for place in places if line.cells[place]})
    return "\u2013".join(map(str, dict.fromkeys((counts[0], counts[-1])))) if counts else "0"


def _cell(line: ScoreRow, places: Sequence[int], shaded: bool) -> Markup:
    value, count = _mean(line, places)
    if not count:
        return html.number_cell("not run")
    few = [f"{count} of {len(places)} models"] if count < len(places) else []
    few += [f"of {_suites(line, places)} suites"] if not line.alike else []
    noted = Markup('<br><span class="notes"><em>%s</em></span>') % ", ".join(few) if few else ""
    content = Markup("<b>%s</b>%s") % (number(value), noted)
    return html.number_cell(content, value, html.shade(value) if shaded else "")


def _tabulate_groups(chapter: Evidence) -> HtmlTable:
    groups = _groups(chapter)
    names = [Markup('%s <small class="group">(%s)</small>') % (isolate(name), len(of)) for name, of in groups.items()]
    rows = [
        row(
            row_heading(isolate(line.label) if tag else Markup("all suites")),
            html.text_cell(tag),
            count_suites(line),
            *(_cell(line, places, chapter.judged) for places in groups.values()),
            headline=not tag,
        )
        for tag, line in _lines(chapter)
    ]
    headings = [heading("suites"), heading("by"), heading("how many", True), *(heading(name, True) for name in names)]
    label = "Mean scores of groups of models"
    return HtmlTable(label, headings, rows, classes(sortable=True, filterable=len(rows) > html.LONG))


def _list_groups(chapter: Evidence) -> Rows:
    columns = ("models", "by", "suites", "number_of_suites", "number_of_models", "mean")
    return columns, [
        (group, tag, line.label if tag else "all suites", _suites(line, places), count, mean)
        for tag, line in _lines(chapter)
        for group, places in _groups(chapter).items()
        for mean, count in [_mean(line, places)]
    ]


def _show_groups(chapter: Evidence) -> Variables:
    compared = _compare(chapter)
    return {
        "table": _tabulate_groups(chapter),
        "compared": tabulate(compared, "Scores of groups of models, and their differences") if compared else "",
        "remarks": compared.notes if compared else (),
    }


MODEL_GROUPS: Section[Any] = Section(
    "model-groups",
    "Groups of models",
    "The group of a model is what stands before the colon of its name, as in <code>--name 'Pythia: 70m'</code>. The first table "
    "has the means over the models of a group of their scores over the suites; the number of models is in brackets.",
    template="site/model_groups.html",
    when=lambda chapter: len(_groups(chapter)) > 1,
    data=Data("model-groups", "the means", _list_groups),
    show=_show_groups,
)


class OverPredictions(Evidence):
    """The overview of runs of predictions, or of measures used instead of them."""

    def list_sections(self) -> Sequence[Section[Any]]:
        tags = map(predictions.by_tag, self.groups)
        return [
            *(predictions.OVERVIEW, predictions.SUITES, *tags),
            *(
                MODEL_GROUPS,
                predictions.TRAJECTORIES,
                predictions.COMPARED,
                predictions.CONVENTIONS,
                WITHOUT_RESULTS,
                predictions.METHODS,
                RECORD,
            ),
        ]


class OverMany(Evidence):
    """The overview of many runs of predictions: models are rows."""

    many: ClassVar[bool] = True

    def list_sections(self) -> Sequence[Section[Any]]:
        tags = map(sweep.by_tag, self.groups)
        return [
            *(sweep.OVERVIEW, sweep.SCORES, MODEL_GROUPS, predictions.TRAJECTORIES, *tags, sweep.SUITES),
            *(WITHOUT_RESULTS, sweep.METHODS, RECORD),
        ]


class OverGaps(EvidenceOfGaps):
    """The overview of fill runs. Their suites have no sentences of their own: the overview is the whole report."""

    def list_sections(self) -> Sequence[Section[Any]]:
        return [
            *(gaps.OVERVIEW, gaps.CUT_OFFS, gaps.BANDS, gaps.SUITE_BY_SUITE),
            *(WITHOUT_RESULTS, gaps.METHODS, RECORD),
        ]


class OverPeople(Evidence):
    """The overview of runs of people, alone or beside models."""

    intro: ClassVar[str] = people.People.intro
    title: ClassVar[str] = people.People.title

    def list_sections(self) -> Sequence[Section[Any]]:
        return [
            *(predictions.OVERVIEW, predictions.SUITES, *map(predictions.by_tag, self.groups)),
            *(people.AGREEMENT, people.EFFECTS, people.CEILING, predictions.COMPARED),
            *(WITHOUT_RESULTS, predictions.METHODS, RECORD),
        ]


def overview_of(runs: Sequence[Run]) -> Chapter:
    if over_gaps(runs[0]):
        return OverGaps(runs)
    if any(run.task is People for run in runs):
        return OverPeople(runs)
    return (OverMany if len(runs) > sweep.MANY else OverPredictions)(runs)
