"""The pages of jobs: how each stands, and the pages of its runs when it is done."""

import json
import threading
from collections import OrderedDict
from datetime import UTC, datetime
from urllib.parse import quote

from starlette.responses import Response

from syntagm.core import UsageError
from syntagm.report import Asked, Missing, Route, Served, Shelf, content, moved, routes_under
from syntagm.runs import open_run
from syntagm.studio import frame
from syntagm.studio.frame import Ways
from syntagm.studio.jobs import Job, Jobs, Progress, in_states
from syntagm.studio.library import OF_JOB

# The jobs whose pages are kept.
_KEPT = 4


class Overseeing:
    """The pages of jobs."""

    def __init__(self, jobs: Jobs, ways: Ways, tries: bool = False) -> None:
        self.jobs, self.ways, self.tries = jobs, ways, tries
        # A number is given again if the last job is moved away.
        self._shelves: OrderedDict[tuple[str, float, str], Shelf] = OrderedDict()
        self._lock = threading.Lock()

    def routes(self) -> list[Route]:
        """Return the routes of the pages."""
        return [
            Route("/jobs", self.overview),
            Route("/jobs", self.change, methods=("POST",)),
            Route("/jobs/{job}", self.show),
            Route("/jobs/{job}/state", self.tell),
            *routes_under("/jobs/{job}", self._open),
        ]

    def overview(self, asked: Asked) -> Response:
        """List all jobs."""
        listed = [_described(*entry) for entry in in_states(self.jobs)]
        running = [entry["number"] for entry in listed if entry["open"]]
        variables = {
            "limits": str(self.jobs.limits),
            "jobs": listed,
            "watched": f"/jobs/{running[-1]}/state" if running else "",
        }
        return frame.respond(self.ways, "/jobs", "jobs.html", "Jobs", variables)

    def show(self, asked: Asked) -> Response:
        """Show a job."""
        job = self._find(asked)
        state, why = self.jobs.ended(job)
        described = _described(job, state, why, self.jobs.progress(job) if state == "running" else Progress())
        variables = {"job": described, "commands": job.commands, "models": [*job.models.items()]}
        return frame.respond(self.ways, "/jobs", "job.html", f"Job {job.number}: {job.suite}", variables)

    def tell(self, asked: Asked) -> Response:
        """Return how a job stands as JSON, for the script that watches it."""
        job = self._find(asked)
        state, _ = self.jobs.ended(job)
        progress = self.jobs.progress(job) if state == "running" else Progress()
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
        """Return the runs of a job for their pages."""
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
