"""The studio as a whole: its pages, among them those of jobs, its folder, and what it holds while the server runs."""

import contextlib
import json
import threading
from collections import OrderedDict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from starlette.responses import Response

from syntagm.core import NONE, Permissions, UsageError, lock
from syntagm.report import Asked, Missing, Route, Served, Shelf, content, moved, routes_under
from syntagm.runs import Run, open_run
from syntagm.studio import frame
from syntagm.studio.frame import Ways
from syntagm.studio.jobs import Job, Jobs, Limits, Progress
from syntagm.studio.library import OF_JOB, RESULTS, Library
from syntagm.studio.store import Store
from syntagm.studio.trying import Bench, Trying
from syntagm.studio.writing import Writing
from syntagm.suites import Suite

# The jobs whose pages are kept.
_KEPT = 4


class JobPages:
    """The pages of jobs."""

    def __init__(self, jobs: Jobs, ways: Ways, tries: bool = False) -> None:
        self.jobs, self.ways, self.tries = jobs, ways, tries
        # A number is given again if the last job is moved away.
        self._shelves: OrderedDict[tuple[str, float, str], Shelf] = OrderedDict()
        self._lock = threading.Lock()

    def routes(self) -> list[Route]:
        return [
            Route("/jobs", self.overview),
            Route("/jobs", self.change, methods=("POST",)),
            Route("/jobs/{job}", self.show),
            Route("/jobs/{job}/state", self.tell),
            *routes_under("/jobs/{job}", self._open),
        ]

    def overview(self, asked: Asked) -> Response:
        listed = [_described(job, *self.jobs.standing(job)) for job in reversed(self.jobs.all())]
        running = [entry["number"] for entry in listed if entry["open"]]
        variables = {
            "limits": str(self.jobs.limits),
            "jobs": listed,
            "watched": f"/jobs/{running[-1]}/state" if running else "",
        }
        return frame.respond(self.ways, "/jobs", "jobs.html", "Jobs", variables)

    def show(self, asked: Asked) -> Response:
        job = self._find(asked)
        variables = {
            "job": _described(job, *self.jobs.standing(job)),
            "commands": job.commands,
            "models": [*job.models.items()],
        }
        return frame.respond(self.ways, "/jobs", "job.html", f"Job {job.number}: {job.suite}", variables)

    def tell(self, asked: Asked) -> Response:
        """Return how a job stands as JSON, for the script that watches it."""
        job = self._find(asked)
        state, _, progress = self.jobs.standing(job)
        answer = {"state": state, "done": progress.done, "total": progress.total, "note": _note(progress)}
        return content(json.dumps(answer).encode(), "application/json")

    def change(self, asked: Asked) -> Response:
        """Cancel a job, or continue one."""
        form = asked.form()
        if number := form.get("cancel"):
            self.jobs.cancel(number)
        elif number := form.get("again"):
            self.jobs.again(number)
        else:
            raise UsageError("jobs", "no button", "cancel or continue")
        return moved("/jobs")

    def _find(self, asked: Asked) -> Job:
        try:
            return self.jobs.find(asked.names["job"])
        except UsageError as error:
            raise Missing(error.place, error.found, error.expected, error.cure) from error

    def _open(self, asked: Asked) -> tuple[Shelf, Served]:
        job = self._find(asked)
        if not job.done:
            raise Missing(f"job {job.number}", "no results yet", "a job that is done", "See how it stands at /jobs.")
        with self._lock:
            key = (job.number, job.created, job.digest)
            if key not in self._shelves:
                self._shelves[key] = Shelf([open_run(job.run_folder(label)) for label in job.models])
                while len(self._shelves) > _KEPT:
                    self._shelves.popitem(last=False)
            shelf = self._shelves[key]
        more = (*self.ways.listed, (f"Job {job.number}", f"/jobs/{job.number}"))
        trial = f"{OF_JOB}{job.number}:" if self.tries else ""
        return shelf, Served(prefix=f"/jobs/{quote(job.number)}", more=more, trial=trial)


def _described(job: Job, state: str, why: str, progress: Progress) -> dict[str, object]:
    return {
        "number": job.number,
        "suite": job.suite,
        "models": ", ".join(job.models),
        "sample": f"{job.limit:,} items" if job.limit else "all items",
        "when": datetime.fromtimestamp(job.created, UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "state": state,
        "why": why,
        "done": progress.done,
        "most": progress.total or 1,
        "note": _note(progress),
        "finished": state == "done",
        "open": state in ("waiting", "running"),
        "running": state == "running",
        "continues": state in ("cancelled", "failed"),
    }


def _note(progress: Progress) -> str:
    if progress.note:
        return f"{progress.model}: {progress.note}" if progress.model else progress.note
    return f"{progress.model}: {progress.done:,} of {progress.total:,} sentences" if progress.total else "starting"


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
        written: list[Route] = []
        if self.store and self.jobs:
            written = Writing(self.store, self.library, self.jobs, self.ways).routes()
            written += JobPages(self.jobs, self.ways, bool(self.bench.models)).routes()
        return [
            *written,
            Route("/studio.css", lambda asked: content(frame.STYLE.encode(), "text/css"), "open"),
            Route("/studio.js", lambda asked: content(frame.SCRIPT.encode(), "text/javascript"), "open"),
            *Trying(self.bench, self.library, self.ways).routes(),
        ]
