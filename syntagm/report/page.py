"""Write runs as one page that opens offline: every number with its interval and signature, plots, and what lies behind them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from syntagm.errors import UsageError
from syntagm.report import paragraph, shell
from syntagm.report.chapter import Chapter
from syntagm.report.gaps.chapter import Gaps
from syntagm.report.predictions.chapter import Predictions
from syntagm.report.shell import CEILING
from syntagm.runs.store import Run
from syntagm.views.gaps import kept

_MADE_BY = {
    "predictions": "one of `syntagm run`",
    "measures": "one of measures (`syntagm run --measure`)",
    "gaps": "a run of `syntagm fill`",
}


def report(runs: Sequence[Run], path: str | Path, *, ceiling: int = CEILING) -> Path:
    """Write one self-contained HTML page about `runs` at `path`.

    Arguments:
        runs: all of one task.
        ceiling: the page is no larger than this many bytes: CSV of single suites, then examples (items with tokens; lemmas and
            contexts), are left out to keep it, and figures after half of it; the page says so.

    Raises:
        UsageError: no runs, runs of several tasks, or the numbers alone need more.
        RunError: a run is damaged, or `path` can't be written.
    """
    chapter = chapter_of(runs)
    page = chapter.page(min(shell.FIGURES, ceiling // 2))
    shared = page | {
        "chapter": chapter.folder,
        "title": chapter.title,
        "columns": chapter.columns,
        "items": sum(subject.record.items for subject in chapter.subjects),
        "said": paragraph.said([column.run for column in chapter.columns]),
    }

    def render(rest: Mapping[str, Any]) -> str:
        return shell.rendered("page.html", {**shared, **rest})

    return shell.write_first(Path(path), chapter.versions(page, render, ceiling), ceiling)


def chapter_of(runs: Sequence[Run]) -> Chapter:
    """Return the chapter on runs of one task.

    Raises:
        UsageError: no runs, or runs of several tasks.
    """
    if not runs:
        raise UsageError("report", "no runs", "at least one run directory")
    by_task = {run.task.name: run for run in reversed(runs)}
    if len(by_task) > 1:
        first, second = sorted(by_task, key=list(_MADE_BY).index, reverse=True)[:2]
        raise UsageError(
            "report",
            f"{_MADE_BY[first]} ({by_task[first].place}) beside {_MADE_BY[second]} ({by_task[second].place})",
            "runs of one kind", "They answer different questions: make a page of each kind.",
        )  # fmt: skip
    over_gaps = [run for run in runs if kept.over_gaps(run)]
    return Gaps(over_gaps) if over_gaps else Predictions(runs)
