"""Write fill runs as one page that opens offline: the weights, by cut-off and by lemma, and what lies behind them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from syntagm.drawing.save import svg
from syntagm.report import (
    downloads,
    fill_downloads,
    fill_examples,
    fill_figures,
    fill_numbers,
    numbers,
    paragraph,
    shell,
)
from syntagm.report.drawings import file_name
from syntagm.report.fill_examples import Lemmas
from syntagm.report.fill_figures import Drawing
from syntagm.report.fill_numbers import FillColumn, Row
from syntagm.report.numbers import Subject
from syntagm.runs.gap_run import FillRun
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

    subject: Subject
    seen: tuple[Seen, ...]
    lemmas_data: Markup
    contexts_data: Markup


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure as it stands on the page; `svg` is "" if it is left out."""

    drawing: Drawing
    svg: Markup
    numbers: Markup


def report(runs: Sequence[FillRun], path: Path, ceiling: int) -> Path:
    """Write one self-contained HTML page about fill runs; arguments and errors as of `page.report`."""
    columns = fill_numbers.columns(runs)
    return shell.write_first(path, _versions(columns, ceiling), ceiling)


def _versions(columns: Sequence[FillColumn], ceiling: int) -> Iterator[str]:
    """The page; without CSV of single suites; without lemmas and contexts, too."""
    sections = _sections(columns)
    context = _context(columns, sections, min(shell.FIGURES, ceiling // 2))
    for data, examples in ((True, True), (False, True), (False, False)):
        yield shell.rendered("fill.html", context | {"data": data, "examples": examples})


def _sections(columns: Sequence[FillColumn]) -> list[Section]:
    room = shell.DATA
    sections = []
    for subject in numbers.subjects(columns):
        having = fill_numbers.of(subject)
        stem, links = file_name(subject.number, subject.name), [Markup(""), Markup("")]
        for place, made in enumerate((fill_downloads.lemmas, fill_downloads.contexts)):
            found = made(having, subject.name, stem)
            links[place] = found if len(found) <= room else Markup("")
            room -= len(links[place])
        seen = tuple(
            Seen(
                row,
                fill_examples.lemmas(row.column.run, subject.name),
                fill_examples.contexts(row.column.run, subject.name),
            )
            for row in fill_numbers.rows([subject])
        )
        sections.append(Section(subject, seen, *links))
    return sections


def _context(columns: Sequence[FillColumn], sections: Sequence[Section], room: int) -> dict[str, Any]:
    rows = [seen.row for section in sections for seen in section.seen]
    bands = fill_figures.band_drawing(columns)
    pictures = _pictures([*fill_figures.cut_off_drawings(columns), *([bands] if bands else [])], room)
    asked = {column.asked for column in columns}
    banded = fill_figures.bands(columns) if bands else []
    every = [*(one for row in rows for one in row.found.values()), *(one.equal_weight for one in banded)]
    return {
        "columns": columns,
        "sections": sections,
        "items": sum(section.subject.record.items for section in sections),
        "tables": {"construction": fill_numbers.constructions(columns), "suite": rows},
        "cut_offs": [one for one in pictures if one.drawing is not bands],
        "band_picture": next((one for one in pictures if one.drawing is bands), None),
        "bands": banded,
        "asked_alike": len(asked) == 1,
        "rows_alike": comparability.same_rows([column.run for column in columns]),
        "lists": _lists(columns),
        "scores": fill_downloads.estimates(columns),
        "methods": sorted({one.method.partition("; ")[0] for one in every}),
        "seed": fill_examples.SEED,
        "said": paragraph.said([column.run for column in columns]),
    }


def _pictures(drawn: Sequence[Drawing], room: int) -> list[Picture]:
    found = []
    for one in drawn:
        picture = svg(one.figure)
        room -= len(picture.encode())
        found.append(Picture(one, Markup(picture if room > 0 else ""), downloads.figure(one.figure.table, one.stem)))
    return found


def _lists(columns: Sequence[FillColumn]) -> list[Mapping[str, Any]]:
    """The word lists: name, hash, labels, rows, remarks, and the columns that were asked them."""
    found: dict[str, dict[str, Any]] = {}
    for column in columns:
        words = column.run.record["options"]["words"]
        one = found.setdefault(words["hash"], words | {"remarks": column.run.record.get("remarks", []), "models": []})
        one["models"].append(column.name)
    return list(found.values())
