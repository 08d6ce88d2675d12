"""The chapter on fill runs: the measures by suite, by nucleus cut-off and by lemma, with example contexts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

from markupsafe import Markup

from syntagm.drawing.chart import Figure
from syntagm.report import downloads, numbers, shell
from syntagm.report.chapter import Chapter, Render
from syntagm.report.gaps import downloads as of_gaps
from syntagm.report.gaps import examples, figures, scores
from syntagm.report.gaps.examples import Lemmas
from syntagm.report.gaps.figures import Drawing
from syntagm.report.gaps.scores import Row
from syntagm.report.numbers import Column, Subject
from syntagm.runs.store import Run
from syntagm.views.gaps import comparability

# Parts of methods that differ from number to number.
_PARTICULAR = re.compile(r"^mean of \d+ suites; |\([\d.e+]+\)")


@dataclass(frozen=True, slots=True)
class ModelOnSuite:
    """The results of one model on a suite: a row of numbers, some lemmas, and some contexts with most probable entries."""

    row: Row
    lemmas: Lemmas
    contexts: list[dict[str, Any]]
    most_probable: list[tuple[Mapping[str, Any], Any]]


@dataclass(frozen=True, slots=True)
class Section:
    """A suite on the page.

    Arguments:
        models: the results of each model.
        lemmas_data, contexts_data: links that save tables as CSV; "" if a table is too large for the page.
    """

    subject: Subject[Run]
    models: tuple[ModelOnSuite, ...]
    lemmas_data: Markup
    contexts_data: Markup


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure on the page; `svg` is "" if there is no room for it."""

    drawing: Drawing
    svg: Markup
    numbers: Markup


@final
class Gaps(Chapter):
    """Runs over gaps."""

    folder: ClassVar[str] = "gaps"
    title: ClassVar[str] = "Words in gaps"

    def __init__(self, runs: Sequence[Run]) -> None:
        self.columns = scores.columns(runs)
        self.subjects = numbers.subjects(self.columns)

    def page(self, room: int) -> dict[str, Any]:
        """Return all variables of the templates; see `Chapter.page`."""
        columns, sections = self.columns, _sections(self.subjects)
        rows = [model.row for section in sections for model in section.models]
        band_drawing = figures.band_drawing(columns)
        drawn = [*figures.cut_off_drawings(columns), *([band_drawing] if band_drawing else [])]
        pictures = list(_pictures(drawn, room))
        cut_offs = [picture for picture in pictures if picture.drawing is not band_drawing]
        bands = figures.bands(columns) if band_drawing else []
        shown = [
            *(estimate for row in rows for estimate in row.estimates.values()),
            *(band.equal_weight for band in bands),
        ]
        anchors = [
            *([("cut-offs", "Cut-offs")] if cut_offs else []),
            *([("bands", "By frequency")] if band_drawing else []),
        ]
        return {
            "sections": sections,
            "anchors": anchors,
            "above": ("overview", "overview"),
            "tables": {"construction": scores.constructions(columns), "suite": rows},
            "cut_offs": cut_offs,
            "band_picture": next((picture for picture in pictures if picture.drawing is band_drawing), None),
            "bands": bands,
            "conflicts": {column.name: scores.conflicts(column) for column in columns},
            "several_labels": any(len(column.run.record["options"]["words"]["labels"]) > 2 for column in columns),
            "asked_alike": len({tuple(comparability.settings(column.run).values()) for column in columns}) == 1,
            "rows_alike": comparability.same_rows([column.run for column in columns]),
            "lists": _lists(columns),
            "scores": of_gaps.estimates(columns),
            "methods": sorted({_PARTICULAR.sub("", estimate.design) for estimate in shown}),
            "seed": examples.SEED,
        }

    def versions(self, page: Mapping[str, Any], render: Render, ceiling: int) -> Iterator[str]:
        """Yield the whole page, then the page without the CSV of individual suites, then also without lemmas and contexts."""
        for data, with_examples in ((True, True), (False, True), (False, False)):
            yield render({"data": data, "examples": with_examples})

    def figures(self) -> Iterator[tuple[str, Figure]]:
        """Yield the figures of the measures at cut-offs and by frequency band, if the runs have them."""
        bands = figures.band_drawing(self.columns, True)
        for drawing in (*figures.cut_off_drawings(self.columns, True), *([bands] if bands else [])):
            yield drawing.stem, drawing.figure


def _sections(subjects: Sequence[Subject[Run]]) -> list[Section]:
    room = shell.DATA
    sections = []
    for subject in subjects:
        stem, links = downloads.file_name(subject.number, subject.name), [Markup(""), Markup("")]
        for place, table_link in enumerate((of_gaps.lemmas, of_gaps.contexts)):
            link = table_link(subject.columns, subject.name, stem)
            links[place] = link if len(link) <= room else Markup("")
            room -= len(links[place])
        models = tuple(_model(row, subject.name) for row in scores.rows([subject]))
        sections.append(Section(subject, models, *links))
    return sections


def _model(row: Row, suite: str) -> ModelOnSuite:
    run = row.column.run
    contexts = examples.contexts(run, suite)
    return ModelOnSuite(row, examples.lemmas(run, suite), contexts, examples.most_probable(run, suite, contexts))


def _pictures(drawn: Sequence[Drawing], room: int) -> Iterator[Picture]:
    for drawing in drawn:
        picture = drawing.figure.svg()
        room -= len(picture.encode())
        yield Picture(
            drawing, Markup(picture if room > 0 else ""), downloads.figure(drawing.figure.table, drawing.stem)
        )


def _lists(columns: Sequence[Column[Run]]) -> list[Mapping[str, Any]]:
    """Return the word lists: name, hash, labels, rows, remarks, and the names of the columns that used them."""
    by_hash: dict[str, dict[str, Any]] = {}
    for column in columns:
        words = column.run.record["options"]["words"]
        word_list = by_hash.setdefault(
            words["hash"], words | {"remarks": column.run.record.get("remarks", []), "models": []}
        )
        word_list["models"].append(column.name)
    return list(by_hash.values())
