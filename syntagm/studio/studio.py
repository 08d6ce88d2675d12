"""The studio as a whole: its pages, its folder, and what it holds while the server runs."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from syntagm.core import NONE, Permissions, lock
from syntagm.report import Route, content
from syntagm.runs import Run
from syntagm.studio import frame
from syntagm.studio.bench import Bench
from syntagm.studio.frame import Ways
from syntagm.studio.jobs import Jobs, Limits
from syntagm.studio.library import RESULTS, Library
from syntagm.studio.overseeing import Overseeing
from syntagm.studio.store import Store
from syntagm.studio.trying import Trying
from syntagm.studio.writing import Writing
from syntagm.suites import Suite


class Studio:
    """The studio. In a `with` block it holds its folder, and its jobs are worked on."""

    def __init__(
        self,
        models: Sequence[str],
        folder: Path | None = None,
        suites: Sequence[Suite] = (),
        permissions: Permissions = NONE,
        runs: Sequence[Run] = (),
        limits: Limits | None = None,
    ) -> None:
        self.folder, self.bench = folder, Bench(models, permissions)
        self.store = Store(folder) if folder else None
        self.jobs = Jobs(folder, self.bench.models, permissions, limits) if folder else None
        self.library = Library(suites, self.store, runs, self.jobs)
        self.ways = Ways((frame.TRY, *((frame.WRITE, frame.JOBS) if folder else ())))
        self._held = contextlib.ExitStack()

    def __enter__(self) -> Self:
        """Lock the folder, and go on with the jobs that a killed server left."""
        if self.folder:
            self._held.enter_context(lock.held(self.folder))
        if self.jobs:
            self._held.callback(self.jobs.stop)
            self.jobs.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.close()

    @property
    def trial(self) -> str:
        """What stands before the suites of runs where they are tried; "" if there is no model."""
        return RESULTS if self.bench.models else ""

    def routes(self) -> list[Route]:
        """Return the routes of all pages."""
        written: list[Route] = []
        if self.store and self.jobs:
            written = Writing(self.store, self.library, self.jobs, self.ways).routes()
            written += Overseeing(self.jobs, self.ways, bool(self.bench.models)).routes()
        return [
            *written,
            Route("/studio.css", lambda asked: content(frame.STYLE.encode(), "text/css"), "open"),
            Route("/studio.js", lambda asked: content(frame.SCRIPT.encode(), "text/javascript"), "open"),
            *Trying(self.bench, self.library, self.ways).routes(),
        ]
