"""Write runs as one page that opens offline: every number with its interval and signature, plots, and items token by token."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from syntagm.drawing.chart import Figure
from syntagm.drawing.save import svg
from syntagm.errors import UsageError
from syntagm.report import (
    downloads,
    drawings,
    example,
    fill_numbers,
    fill_page,
    items,
    numbers,
    paragraph,
    shell,
    versus,
)
from syntagm.report.example import Line
from syntagm.report.items import Shown
from syntagm.report.numbers import Column, Subject
from syntagm.report.policy import embedded
from syntagm.report.shell import CEILING
from syntagm.runs.store import Run
from syntagm.views import regions

_LIMITS = (items.LIMIT, 25, 12, 6, 3, 0)
# A row of verdicts takes about so many bytes.
_ROW = 60
# The number of suites is beside each score.
_REMARK = re.compile(r"^mean of [\d,]+ suites?; ")


@dataclass(frozen=True, slots=True)
class Section:
    """One suite on the page.

    Arguments:
        svg: its figure, "" if left out.
        shown: items with tokens.
        item, example: the first item, as `example.example` gives it.
        figure_data, items_data: links that save numbers; the second "" if there are too many.
        sizes: the rank of an item -> how many bytes it takes.
    """

    subject: Subject
    svg: Markup
    figure: Figure
    kind: str
    shown: Shown
    item: str
    example: tuple[Line, ...]
    figure_data: Markup
    items_data: Markup
    sizes: Mapping[int, int]

    @property
    def compared(self) -> bool:
        """Does the figure show what the first prediction compares?"""
        return bool(example.compared(self.subject.record) & set(self.figure.table["region"]))

    @property
    def empty(self) -> bool:
        """Does the figure show empty regions?"""
        return self.kind == "regions" and bool(self.figure.table["empty"].any())


def report(runs: Sequence[Run], path: str | Path, *, ceiling: int = CEILING) -> Path:
    """Write one self-contained HTML page about `runs` at `path`.

    Arguments:
        runs: of `syntagm run`, or all of `syntagm fill`.
        ceiling: the page is no larger than this many bytes: CSV of single suites, then items with tokens, are left out to
            keep it, and figures after half of it; the page says so.

    Raises:
        UsageError: no runs, runs of both kinds, or the numbers alone need more.
        RunError: a run is damaged, or `path` can't be written.
    """
    if not runs:
        raise UsageError("report", "no runs", "at least one run directory")
    if filled := fill_numbers.of_one_kind(runs):
        return fill_page.report(filled, Path(path), ceiling)
    columns = numbers.columns(runs)
    sections = _sections(numbers.subjects(columns), min(shell.FIGURES, ceiling // 2))
    return shell.write_first(Path(path), _versions(_context(columns, sections), sections, ceiling), ceiling)


def _versions(context: Mapping[str, Any], sections: Sequence[Section], ceiling: int) -> Iterator[str]:
    """The page with less and less on it, without those that can't be small enough."""
    least = _page(context, sections, 0, False)
    size = len(least.encode())
    for limit, data in [(_LIMITS[0], True), *((limit, False) for limit in _LIMITS[:-1])]:
        if size + _added(sections, limit, data) <= ceiling:
            yield _page(context, sections, limit, data)
    yield least


def _sections(subjects: Sequence[Subject], room: int) -> list[Section]:
    sections, data = [], shell.DATA
    for subject in subjects:
        sentences = [column.run.sentences(subject.name) for column in subject.columns]
        kind, drawn = drawings.suite(subject, "", sentences)
        picture = svg(drawn) if len(drawn.table) else ""
        room -= len(picture.encode())
        stem = drawings.file_name(subject.number, subject.name)
        verdicts = sum(column.judged[subject.name] for column in subject.columns) * len(subject.record.predictions)
        items_data = downloads.verdicts(subject, stem) if 0 < verdicts * _ROW <= data else Markup("")
        data -= len(items_data)
        shown = items.shown(subject, items.LIMIT, sentences)
        sections.append(
            Section(
                *(subject, Markup(picture if room > 0 else ""), drawn, kind, shown),
                *example.example(subject.record, sentences[0]),
                *(downloads.figure(drawn.table, stem), items_data),
                {item["rank"]: len(embedded(item)) for item in shown.items},
            )
        )
    return sections


def _added(sections: Sequence[Section], limit: int, data: bool) -> int:
    """About how many bytes items and CSV add to a page without them; never more than they do."""
    shown = sum(section.sizes.get(rank, 0) for section in sections for rank in range(limit))
    return shown + (sum(len(section.figure_data) + len(section.items_data) for section in sections) if data else 0)


def _page(context: Mapping[str, Any], sections: Sequence[Section], limit: int, data: bool) -> str:
    chosen = {section.subject.number: Markup(embedded(_items(section, limit))) for section in sections}
    shown = {"sections": sections, "limit": limit, "data": data, "embedded": chosen}
    return shell.rendered("page.html", {**context, **shown})


def _context(columns: Sequence[Column], sections: Sequence[Section]) -> dict[str, Any]:
    """What the page says apart from its items."""
    subjects = [section.subject for section in sections]
    overall, groups, pairs = numbers.overall(columns), numbers.groups(columns), versus.versus(columns, subjects)
    lines = [*overall, *(line for found in groups.values() for line in found)]
    scored = [one for line in overall for one in line.cells if one]
    return {
        "columns": columns,
        "items": sum(subject.record.items for subject in subjects),
        "overall": overall,
        "methods": sorted({_REMARK.sub("", one.method) for one in scored}),
        "incomplete": any(one.value != one.value for one in scored),
        "groups": groups,
        "in_no_line": {tag: numbers.in_no_line(columns, tag) for tag in groups},
        "names": len({subject.name for subject in subjects}),
        "pairs": pairs,
        "every_pair_with_the_first": len(columns) > versus.MOST,
        "most_models": versus.MOST,
        "downloads": {
            "scores": downloads.scores(columns, lines),
            "compared": downloads.compared(pairs) if pairs else "",
        },
        "picture": Markup(svg(drawings.accuracies(subjects))) if len(sections) > 1 else "",
        "figure_method": regions.METHOD,
        "seed": items.SEED,
        "said": paragraph.said([column.run for column in columns]),
    }


def _items(section: Section, limit: int) -> dict[str, Any]:
    """What the script needs to draw the `limit` most telling items of a suite."""
    subject = section.subject
    labels = subject.record.region_labels
    return {
        "columns": [column.name for column in subject.columns],
        "tolerances": [column.run.tolerance for column in subject.columns],
        "conditions": subject.record.conditions,
        "regions": [f"{name} {labels.get(name, '')}".strip() for name in section.shown.regions],
        "items": [item for item in section.shown.items if item["rank"] < limit],
    }
