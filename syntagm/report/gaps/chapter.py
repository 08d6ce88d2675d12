"""The chapter on runs over gaps: the weights, by cut-off and by lemma, and what lies behind them."""

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


@dataclass(frozen=True, slots=True)
class Seen:
    """What one model did on a suite: its line of numbers, some lemmas, some contexts."""

    row: Row
    lemmas: Lemmas
    contexts: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Section:
    """One suite on the page; `lemmas_data` and `contexts_data` are links that save numbers, "" if there are too many."""

    subject: Subject[Run]
    seen: tuple[Seen, ...]
    lemmas_data: Markup
    contexts_data: Markup


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure as it stands on the page; `svg` is "" if it is left out."""

    drawing: Drawing
    svg: Markup
    numbers: Markup


@final
class Gaps(Chapter):
    """Runs over gaps."""

    folder: ClassVar[str] = "gaps"
    title: ClassVar[str] = "Words in blanks"

    def __init__(self, runs: Sequence[Run]) -> None:
        self.columns = scores.columns(runs)
        self.subjects = numbers.subjects(self.columns)

    def page(self, room: int) -> dict[str, Any]:
        """Return everything that the page says; `versions` leaves parts of it out."""
        columns, sections = self.columns, _sections(self.subjects)
        rows = [seen.row for section in sections for seen in section.seen]
        band_drawing = figures.band_drawing(columns)
        drawn = [*figures.cut_off_drawings(columns), *([band_drawing] if band_drawing else [])]
        pictures = list(_pictures(drawn, room))
        cut_offs = [one for one in pictures if one.drawing is not band_drawing]
        bands = figures.bands(columns) if band_drawing else []
        every = [*(one for row in rows for one in row.found.values()), *(one.equal_weight for one in bands)]
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
            "band_picture": next((one for one in pictures if one.drawing is band_drawing), None),
            "bands": bands,
            "conflicts": {column.name: scores.conflicts(column) for column in columns},
            "several_labels": any(len(column.run.record["options"]["words"]["labels"]) > 2 for column in columns),
            "asked_alike": len({tuple(comparability.settings(column.run).values()) for column in columns}) == 1,
            "rows_alike": comparability.same_rows([column.run for column in columns]),
            "lists": _lists(columns),
            "scores": of_gaps.estimates(columns),
            "methods": sorted({one.method.partition("; ")[0] for one in every}),
            "seed": examples.SEED,
        }

    def versions(self, page: Mapping[str, Any], render: Render, ceiling: int) -> Iterator[str]:
        """Yield the page; without CSV of single suites; without lemmas and contexts, too."""
        for data, shown in ((True, True), (False, True), (False, False)):
            yield render({"data": data, "examples": shown})

    def figures(self) -> Iterator[tuple[str, Figure]]:
        """Yield the weights against cut-offs, and by frequency band, as far as the runs have them."""
        bands = figures.band_drawing(self.columns, True)
        for one in (*figures.cut_off_drawings(self.columns, True), *([bands] if bands else [])):
            yield one.stem, one.figure


def _sections(subjects: Sequence[Subject[Run]]) -> list[Section]:
    room = shell.DATA
    sections = []
    for subject in subjects:
        stem, links = downloads.file_name(subject.number, subject.name), [Markup(""), Markup("")]
        for place, made in enumerate((of_gaps.lemmas, of_gaps.contexts)):
            found = made(subject.columns, subject.name, stem)
            links[place] = found if len(found) <= room else Markup("")
            room -= len(links[place])
        seen = tuple(
            Seen(row, examples.lemmas(row.column.run, subject.name), examples.contexts(row.column.run, subject.name))
            for row in scores.rows([subject])
        )
        sections.append(Section(subject, seen, *links))
    return sections


def _pictures(drawn: Sequence[Drawing], room: int) -> Iterator[Picture]:
    for one in drawn:
        picture = one.figure.svg()
        room -= len(picture.encode())
        yield Picture(one, Markup(picture if room > 0 else ""), downloads.figure(one.figure.table, one.stem))


def _lists(columns: Sequence[Column[Run]]) -> list[Mapping[str, Any]]:
    """The word lists: name, hash, labels, rows, remarks, and the columns that were asked them."""
    found: dict[str, dict[str, Any]] = {}
    for column in columns:
        words = column.run.record["options"]["words"]
        one = found.setdefault(words["hash"], words | {"remarks": column.run.record.get("remarks", []), "models": []})
        one["models"].append(column.name)
    return list(found.values())
