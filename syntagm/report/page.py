"""The HTML report: one page about runs, with every number, its interval and signature, and with figures, examples and records."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from syntagm.arguments import public
from syntagm.errors import UsageError
from syntagm.report import methods, paragraph, shell
from syntagm.report.chapter import Chapter
from syntagm.report.gaps.chapter import Gaps
from syntagm.report.predictions.chapter import Predictions
from syntagm.report.shell import CEILING
from syntagm.report.sweep.chapter import MANY, MOST, Sweep
from syntagm.runs.store import Run, Runs, runs_of
from syntagm.stats import interval
from syntagm.stats.bootstrap import Resampling, using
from syntagm.views.gaps import kept

_SOURCES = {
    "predictions": "a run of `syntagm run`",
    "measures": "a run of `syntagm run --measure`",
    "gaps": "a run of `syntagm fill`",
}


@public(name="write_report")
def report(runs: Runs, path: str | Path, *, ceiling: int = CEILING, resampling: Resampling | None = None) -> Path:
    """Write a self-contained HTML page about `runs` to `path`.

    Arguments:
        runs: one run, or several of the same task; or their run directories.
        ceiling: the maximum size of the page in bytes, of which figures may take half. A page that would exceed it
            omits the CSV of single suites, then examples (items with tokens; lemmas and contexts), and says so. If that
            does not suffice, several models have the form of many.
        resampling: which units are random in its intervals.

    Raises:
        UsageError: there are no runs or too many, they are of several tasks, or the numbers alone are larger than the
            ceiling.
        RunError: a run is damaged, or `path` can't be written.
    """
    run_list = runs_of(runs)
    with using(resampling):
        chapter = chapter_of(run_list)
        size = _write(chapter, Path(path), ceiling)
        if size > ceiling and len(run_list) > 1 and isinstance(chapter, Predictions):
            size = _write(Sweep(run_list), Path(path), ceiling)
    if size > ceiling:
        raise UsageError(
            "report", f"{size:,} bytes in its shortest form", f"at most {ceiling:,}", "Report on fewer runs at a time."
        )
    return Path(path)


def _write(chapter: Chapter, path: Path, ceiling: int) -> int:
    page = chapter.page(min(shell.FIGURES, ceiling // 2))
    shared = page | {
        "chapter": chapter.folder,
        "title": chapter.title,
        "many": chapter.many,
        "columns": chapter.columns,
        "items": sum(subject.record.items for subject in chapter.subjects),
        "sampled": methods.sampled([subject.record for subject in chapter.subjects]),
        "over_suites": interval.notes()[1],
        "methods_text": paragraph.methods_text([column.run for column in chapter.columns]),
    }

    def render(further: Mapping[str, Any]) -> str:
        return shell.rendered("page.html", {**shared, **further})

    return shell.write_first(path, chapter.versions(page, render, ceiling), ceiling)


def chapter_of(runs: Sequence[Run]) -> Chapter:
    """Return the chapter about runs of one task.

    Raises:
        UsageError: there are no runs or too many, or they are of several tasks.
    """
    if not runs:
        raise UsageError("report", "no runs", "at least one run directory")
    if len(runs) > MOST:
        cure = (
            "Report on some of them: `syntagm report DIR/step*000 -o FILE`. `syntagm table scores DIR -o scores` and "
            "`syntagm table trajectory DIR` take all."
        )
        raise UsageError("report", f"{len(runs):,} models", f"at most {MOST:,}", cure)
    by_task = {run.task.name: run for run in reversed(runs)}
    if len(by_task) > 1:
        first, second = sorted(by_task, key=list(_SOURCES).index, reverse=True)[:2]
        raise UsageError(
            "report",
            f"{_SOURCES[first]} ({by_task[first].place}) beside {_SOURCES[second]} ({by_task[second].place})",
            "runs of one kind", "They measure different things: write a separate page for each kind.",
        )  # fmt: skip
    over_gaps = [run for run in runs if kept.over_gaps(run)]
    if over_gaps:
        return Gaps(over_gaps)
    return Sweep(runs) if len(runs) > MANY else Predictions(runs)
