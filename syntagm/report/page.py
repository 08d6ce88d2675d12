"""The HTML report: one page about runs, with every number, its interval and signature, figures, examples and records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from syntagm.core import UsageError, atomic, public
from syntagm.evaluation import People as Task
from syntagm.report import methods, shell
from syntagm.report.chapter import Chapter
from syntagm.report.gaps.chapter import Gaps
from syntagm.report.people import People
from syntagm.report.predictions.chapter import Predictions
from syntagm.report.section import Picture, Section, Variables
from syntagm.report.shell import CEILING
from syntagm.report.sweep import MANY, MOST, Sweep
from syntagm.runs import Run, Runs, numbers_of_suites, runs_of
from syntagm.stats import Resampling, using
from syntagm.views import Figure, endings, over_gaps

if TYPE_CHECKING:
    from syntagm.reading_times import Analysis


def open_reading(paths: Sequence[str | Path]) -> Sequence[Analysis]:
    """Open analyses of reading times; what fits regressions is imported if there are some."""
    if not paths:
        return ()
    from syntagm.reading_times import open_analyses

    return open_analyses(paths)


def reading_chapter(analyses: Sequence[Analysis]) -> Chapter | None:
    if not analyses:
        return None
    from syntagm.report.reading import ReadingTimes

    return ReadingTimes(analyses)


_SOURCES = {
    "predictions": "a run of `syntagm run`",
    "measures": "a run of `syntagm run --measure`",
    "people": "a run of `syntagm experiment import`",
    "sums": "a run of `syntagm import-results`",
    "gaps": "a run of `syntagm fill`",
}
# The text around what a version of a section leaves out varies by about this many bytes for each suite.
_VARIES = 1000


@public(name="write_report")
def report(
    runs: Runs,
    path: str | Path,
    *,
    ceiling: int = CEILING,
    resampling: Resampling | None = None,
    reading: Sequence[str | Path] = (),
) -> Path:
    """Write a self-contained HTML page about `runs` to `path`.

    Arguments:
        runs: one run, or several of the same task; or their run directories. They may be none if there is `reading`.
        ceiling: the maximum size of the page in bytes, of which figures may take half. A page that would exceed it
            omits the CSV of single suites, then examples (items with tokens; lemmas and contexts), and says so. If that
            does not suffice, several models have the form of many.
        resampling: which units are random in its intervals.
        reading: files that `syntagm reading fit` and `reading effects` wrote, which have a chapter below that on runs.

    Raises:
        UsageError: there are no runs or too many, they are of several tasks, or the numbers alone are larger than the
            ceiling.
        InputError: a file of `reading` can't be read.
        RunError: a run or a record is damaged, or `path` can't be written.
    """
    run_list = runs_of(runs) if runs or not reading else []
    with using(resampling):
        chapters = chapters_of(run_list, reading)
        size = shell.write_first(Path(path), versions(chapters, ceiling), ceiling)
        if size > ceiling and len(run_list) > 1 and isinstance(chapters[0], Predictions):
            size = shell.write_first(Path(path), versions([Sweep(run_list), *chapters[1:]], ceiling), ceiling)
    if size > ceiling:
        raise UsageError(
            "report", f"{size:,} bytes in its shortest form", f"at most {ceiling:,}", "Report on fewer runs at a time."
        )
    return Path(path)


def versions(chapters: Sequence[Chapter], ceiling: int) -> Iterator[str]:
    """Yield versions of the page about some chapters, each shorter than the previous one."""
    # A version that can't be small enough is skipped, unless it is the last.
    parts = place_figures(chapters, min(shell.FIGURES, ceiling // 2))
    steps = range(max(len(part.section.versions) for part in parts))
    predictable = all(part.only or part.section.least for part in parts)
    # A lower bound for the size of the page without what versions add.
    bare_size = sum(part.bare_size for part in parts)

    def may_fit(step: int) -> bool:
        return bare_size + sum(part.least(step) for part in parts) <= ceiling

    # The shortest first: how much a longer one adds takes time to know.
    possible = set(takewhile(may_fit, reversed(steps)))
    for step in steps:
        if step == steps[-1] or (step in possible and may_fit(step)):
            page = _page(chapters, [(part.section, part.html(step)) for part in parts])
            if predictable:
                # If this version is too large, its size tells how large the others are.
                added = sum(part.least(step) for part in parts)
                bare_size = max(bare_size, len(page.encode()) - added - _VARIES * len(chapters[0].subjects))
            yield page


@dataclass(slots=True)
class Placed:
    """A section on the page, with its figures and the variables of its template."""

    section: Section[Any]
    chapter: Chapter
    pictures: Mapping[str, Picture]
    variables: Variables
    only: Markup = field(default_factory=Markup, init=False)

    def __post_init__(self) -> None:
        # A section with a single version is rendered once.
        if len(self.section.versions) == 1:
            self.only = self._render(0)

    @property
    def bare_size(self) -> int:
        """A lower bound for its bytes without what versions add."""
        return len(self.only.encode()) or sum(len(picture.svg.encode()) for picture in self.pictures.values())

    def least(self, step: int) -> int:
        """Return a lower bound for the bytes that a version adds."""
        return self.section.least(self.chapter, self._version(step)) if self.section.least else 0

    def html(self, step: int) -> Markup:
        return self.only or self._render(step)

    def _version(self, step: int) -> Variables:
        return self.section.versions[min(step, len(self.section.versions) - 1)]

    def _render(self, step: int) -> Markup:
        variables = {"pictures": self.pictures, **self.variables, **self._version(step)}
        return Markup(shell.render_part(self.section.template, variables))


def place_figures(chapters: Sequence[Chapter], bytes_left: int) -> list[Placed]:
    """Return the sections of a page, with their figures as long as their bytes fit, in the order of the page."""
    parts = []
    for chapter, section in [(each, section) for each in chapters for section in each.sections()]:
        pictures = {}
        for drawing in section.figures(chapter, False):
            svg = drawing.figure.svg()
            bytes_left -= len(svg.encode())
            pictures[drawing.stem] = Picture(drawing, Markup(svg if bytes_left > 0 else ""))
        parts.append(Placed(section, chapter, pictures, section.describe(chapter)))
    return parts


def _page(chapters: Sequence[Chapter], sections: Sequence[tuple[Section[Any], Markup]]) -> str:
    chapter = chapters[0]
    records, alerts = [subject.record for subject in chapter.subjects], [a for each in chapters for a in each.alerts()]
    return shell.render(
        "page.html",
        {
            "chapter": chapter,
            "sections": sections,
            "alerts": alerts,
            "folded": chapter.many and alerts,
            "unfinished": sum(not column.run.done for column in chapter.columns),
            "items": sum(record.items for record in records),
            "sampled": methods.describe_sample(records),
            "different": numbers_of_suites([column.run for column in chapter.columns]),
        },
    )


def chapters_of(runs: Sequence[Run], reading: Sequence[str | Path] = ()) -> list[Chapter]:
    about_runs = [chapter_of(runs)] if runs or not reading else []
    about_reading = reading_chapter(open_reading(reading))
    return [*about_runs, *([about_reading] if about_reading else [])]


def chapter_of(runs: Sequence[Run]) -> Chapter:
    refuse_runs(runs)
    if over_gaps(runs[0]):
        return Gaps(runs)
    if any(run.task is Task for run in runs):
        return People(runs)
    return Sweep(runs) if len(runs) > MANY else Predictions(runs)


def refuse_runs(runs: Sequence[Run]) -> None:
    """Refuse runs that no page can be about."""
    if not runs:
        raise UsageError("report", "no runs", "at least one run directory")
    if len(runs) > MOST:
        cure = (
            "Report on some of them: `syntagm report DIR/step*000 -o FILE`. `syntagm table scores DIR -o scores` and "
            "`syntagm table trajectory DIR` take all."
        )
        raise UsageError("report", f"{len(runs):,} models", f"at most {MOST:,}", cure)
    by_task = {run.task.name: run for run in reversed(runs)}
    # People, other tools and models that answer the same predictions are compared on one page.
    if len(by_task) > 1 and not by_task.keys() <= {"people", "sums", "predictions"}:
        first, second = sorted(by_task, key=list(_SOURCES).index, reverse=True)[:2]
        raise UsageError(
            "report",
            f"{_SOURCES[first]} ({by_task[first].place}) beside {_SOURCES[second]} ({by_task[second].place})",
            "runs of one kind", "They measure different things: write a separate page for each kind.",
        )  # fmt: skip


def save(
    runs: Sequence[Run],
    folder: Path,
    formats: Sequence[str] = (),
    spare: Callable[[Path, Sequence[str]], None] = lambda stem, columns: None,
    reading: Sequence[str | Path] = (),
) -> list[Path]:
    """Write every figure of a report about runs to `folder`, each with its numbers as CSV."""
    endings(Figure.FORMATS, formats)  # an unknown format is refused before anything is drawn
    atomic.make_folder(folder)
    drawn = [(folder / name, figure) for each in chapters_of(runs, reading) for name, figure in each.figures()]
    for stem, figure in drawn:
        spare(stem, figure.table.columns)
    return [path for stem, figure in drawn for path in figure.save(stem, formats or list(Figure.FORMATS))]
