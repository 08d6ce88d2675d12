"""The analyses of reading times on a page, and their chapter. What fits regressions is imported if there are some: late."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm.report.chapter import Chapter

if TYPE_CHECKING:
    from syntagm.reading_times import Analysis


def open_all(paths: Sequence[str | Path]) -> Sequence[Analysis]:
    """Open analyses by the paths of their files; the errors are those of `reading_times.analyses.open_analyses`."""
    if not paths:
        return ()
    from syntagm.reading_times import open_analyses

    return open_analyses(paths)


def chapter_on(analyses: Sequence[Analysis]) -> Chapter | None:
    """Return the chapter on analyses; None without any."""
    if not analyses:
        return None
    from syntagm.report.reading.chapter import ReadingTimes

    return ReadingTimes(analyses)
