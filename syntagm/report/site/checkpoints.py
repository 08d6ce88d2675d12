"""The pages of checkpoints: the curves of scores, and the scores at one position, between which a slider leads."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from markupsafe import Markup

from syntagm.core import RunError, UsageError
from syntagm.report import html
from syntagm.report.html import HtmlTable, classes, heading, isolate, name_headings, row, row_heading
from syntagm.report.links import Rows
from syntagm.report.numbers import Column, Subject, number
from syntagm.report.predictions.evidence import Evidence
from syntagm.report.predictions.tables import link_suite
from syntagm.report.section import Data, Drawing, Section, Variables
from syntagm.report.site.addresses import CHECKPOINTS, Addresses
from syntagm.report.site.pages import OnePage, Step
from syntagm.runs import Run
from syntagm.views import Curve, Figure, Places, places, score_curves

_ALL = "all suites"


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints of one or several series, and the scores at each."""

    chapter: Evidence  # the runs
    placed: Places  # the runs with their positions
    at: tuple[float, ...]  # the distinct positions, ascending
    curves: tuple[Curve, ...]  # those of all suites, then those of the groups of suites
    figure: Figure  # the figure of the curves

    @classmethod
    def of(cls, chapter: Evidence) -> Self | None:
        """Return the checkpoints of runs; None if too few of them are checkpoints of one series."""
        if chapter.curves is None:
            return None
        try:
            placed = places([column.run for column in chapter.columns])
            found = score_curves(placed.points)
            if chapter.tag:
                found += score_curves(placed.points, chapter.tag)
        except (UsageError, RunError):  # the positions are not known, or the runs share no suite
            return None
        at = tuple(sorted({point.at for point in placed.points}))
        return cls(chapter, placed, at, tuple(found), chapter.curves)

    @property
    def series(self) -> list[str]:
        return list(dict.fromkeys(curve.series for curve in self.curves))

    @cached_property
    def svg(self) -> Markup:
        return Markup(self.figure.svg())

    def label(self, place: int) -> str:
        """Name a position, from 1."""
        return f"{self.at[place - 1]:,.10g}"


class CheckpointPage(OnePage):
    def __init__(self, checkpoints: Checkpoints, number: int, addresses: Addresses) -> None:
        self.checkpoints, self.number, self.addresses = checkpoints, number, addresses
        self.place = (*CHECKPOINTS, str(number))
        self.title = f"Checkpoints: {checkpoints.label(number)} {checkpoints.placed.title}"

    def list_sections(self) -> Sequence[Section[Any]]:
        return [SLIDER, CURVES, SUITES]

    def svg(self, drawing: Drawing) -> Markup:
        """Return the figure of the curves, which all these pages have, drawn once."""
        return self.checkpoints.svg

    def beside(self) -> tuple[Step | None, Step | None]:
        before, after = self.number - 1, self.number + 1
        return self.step(before) if before else None, self.step(after) if after <= len(self.checkpoints.at) else None

    def step(self, number: int) -> Step:
        return Step(self.checkpoints.label(number), self.addresses.page((*CHECKPOINTS, str(number))))

    @property
    def at(self) -> float:
        return self.checkpoints.at[self.number - 1]

    @cached_property
    def columns(self) -> list[tuple[str, Column[Run], Column[Run] | None]]:
        """The runs at the position: the series, the run, and the one before it in the series, if it is the only one."""
        points = list(zip(self.checkpoints.placed.points, self.checkpoints.chapter.columns, strict=True))
        found = []
        for point, column in points:
            if point.at == self.at:
                earlier = [
                    (other.at, run) for other, run in points if other.series == point.series and other.at < self.at
                ]
                last = max((at for at, _ in earlier), default=math.nan)
                before = [run for at, run in earlier if at == last]
                found.append((point.series, column, before[0] if len(before) == 1 else None))
        return found


def _show_slider(page: CheckpointPage) -> Variables:
    checkpoints = page.checkpoints
    return {
        "unit": checkpoints.placed.title,
        "action": page.addresses.page(CHECKPOINTS) if page.addresses.live else "",
        "number": page.number,
        "last": len(checkpoints.at),
        "label": checkpoints.label(page.number),
        "steps": [(page.step(number), number == page.number) for number in range(1, len(checkpoints.at) + 1)],
        "caption": "The mean over suites of the accuracy by the first prediction, over the suites that all runs have.",
        "table": _tabulate_scores(page),
    }


def _tabulate_scores(page: CheckpointPage) -> HtmlTable:
    series = page.checkpoints.series
    groups: dict[str, dict[str, Curve]] = {}
    for curve in page.checkpoints.curves:
        groups.setdefault(curve.group or _ALL, {})[curve.series] = curve
    rows: list[Markup] = []
    for group, of_group in groups.items():
        suites = next(iter(of_group.values())).suites
        cells = [_score(of_group.get(name), page.at) for name in series]
        rows.append(row(row_heading(isolate(group)), html.count_cell(suites), *cells, headline=not rows))
    headings = [heading("suites"), heading("how many", True), *name_headings(series)]
    return HtmlTable("Scores at this checkpoint", headings, rows, classes(narrow=len(series) > html.WIDE))


def _score(curve: Curve | None, at: float) -> Markup:
    if curve is None or at not in curve.at:
        return html.number_cell("no checkpoint")
    place = curve.at.index(at)
    value, low, high = (float(numbers[place]) for numbers in (curve.values, curve.low, curve.high))
    ends = "no interval" if math.isnan(low) else f"[{low:.3f}, {high:.3f}]"
    notes = [f"n={curve.n[place]:,}", *([f"{curve.runs[place]} runs"] if curve.runs[place] > 1 else [])]
    if place:
        notes.append(f"{value - float(curve.values[place - 1]):+.3f} since {curve.at[place - 1]:,.10g}")
    content = Markup('<b>%s</b> <span class="interval">%s</span><br><span class="notes">%s</span>')
    return html.number_cell(content % (number(value), ends, ", ".join(notes)), value)


def _list_curves(page: CheckpointPage) -> Rows:
    columns = ("suites", "series", "at", "value", "low", "high", "n", "runs", "number_of_suites")
    return columns, [
        (
            *(curve.group or _ALL, curve.series, at),
            *(float(numbers[place]) for numbers in (curve.values, curve.low, curve.high)),
            *(curve.n[place], curve.runs[place], curve.suites),
        )
        for curve in page.checkpoints.curves
        for place, at in enumerate(curve.at)
    ]


SLIDER: Section[CheckpointPage] = Section(
    "slider",
    "Scores",
    template="site/slider.html",
    data=Data("trajectory", "the scores at all checkpoints", _list_curves),
    show=_show_slider,
)
CURVES: Section[CheckpointPage] = Section(
    "trajectories",
    "Trajectories",
    template="pictures.html",
    figures=lambda page, saved: [Drawing("trajectories", page.checkpoints.figure, "Figure: trajectories")],
)


def _show_suites(page: CheckpointPage) -> Variables:
    runs = [
        Markup('<a href="%s">%s</a>') % (page.addresses.page(("run", column.name)), isolate(column.name))
        for _, column, _ in page.columns
    ]
    rows = [
        row(
            row_heading(link_suite(page.links, subject)),
            *(_accuracy(subject, column, before) for _, column, before in page.columns),
        )
        for subject in page.checkpoints.chapter.subjects
    ]
    table = HtmlTable(
        "Suites at this checkpoint",
        [heading("suite"), *(heading(run, True) for run in runs)],
        rows,
        classes(sortable=True, filterable=True, narrow=len(runs) > html.WIDE),
    )
    return {"table": table}


def _accuracy(subject: Subject[Run], column: Column[Run], before: Column[Run] | None) -> Markup:
    def of(run: Column[Run]) -> Any:
        return run.accuracies.get((subject.name, subject.first)) if run in subject.columns else None

    estimate, earlier = of(column), of(before) if before else None
    if estimate is None:
        return html.number_cell("not run")
    content = html.strong_estimate(estimate)
    if earlier is not None and earlier.value == earlier.value and estimate.value == estimate.value:
        change = f"{estimate.value - earlier.value:+.3f}"
        content += Markup('<br><span class="notes">%s since the checkpoint before</span>') % change
    return html.number_cell(content, estimate.value)


SUITES: Section[CheckpointPage] = Section(
    "suites",
    "Suites",
    "The accuracy by the first prediction of each suite, with its 95% interval, and its change since the checkpoint before.",
    template="site/table.html",
    show=_show_suites,
)
