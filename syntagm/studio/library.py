"""The suites that can be tried and copied: those of the folder of the studio, those named at the start, and those of runs.

A suite of a run has a name with its hash: `results:HASH:NAME`, or `job:0001:HASH:NAME` for the runs of a job. So it is the
one whose results are on the page, even if a file of its name was changed since.
"""

from collections.abc import Mapping, Sequence

from syntagm.core import SyntagmError
from syntagm.report import Missing, suite_of
from syntagm.runs import Run, open_run, reopened
from syntagm.studio import drafts
from syntagm.studio.jobs import Jobs
from syntagm.studio.store import Store
from syntagm.suites import Suite

RESULTS, OF_JOB = "results:", "job:"


class Library:
    """Suites by their names."""

    def __init__(
        self, named: Sequence[Suite], store: Store | None, runs: Sequence[Run] = (), jobs: Jobs | None = None
    ) -> None:
        self.named: Mapping[str, Suite] = {suite.name: suite for suite in named}
        self.store, self.runs, self.jobs = store, runs, jobs

    def listed(self) -> list[str]:
        """Return the names of all suites of files and of those named at the start; those of files have their endings."""
        return [*(self.store.names() if self.store else []), *self.named]

    def suite(self, name: str) -> Suite:
        if self.store and name in self.store.names():
            return drafts.suite(self.store.read(name).text, name)
        if name in self.named:
            return self.named[name]
        if name.startswith(RESULTS):
            found = _of_runs(self.runs, name.removeprefix(RESULTS))
        elif name.startswith(OF_JOB):
            number, _, rest = name.removeprefix(OF_JOB).partition(":")
            found = _of_runs(self._runs_of(number), rest)
        else:
            found = None
        if found is None:
            raise Missing(f"suite {name[:100]}", "no such suite", "a suite of the studio")
        return found

    def _runs_of(self, number: str) -> list[Run]:
        try:
            job = self.jobs.find(number) if self.jobs else None
            return [open_run(job.run_folder(label)) for label in job.models] if job else []
        except SyntagmError:  # no such job, or none that has begun
            return []


def _of_runs(runs: Sequence[Run], name: str) -> Suite | None:
    """Return the suite `HASH:NAME` of runs, with the items of the run that has most of them."""
    opened = [run if run.done else reopened(run) for run in runs]
    found = [
        (record, run.sentences(record.name))
        for run in opened
        for record in run.suites
        if f"{record.hash[:12]}:{record.name}" == name
    ]
    return suite_of(*max(found, key=lambda pair: len(pair[1]))) if found else None
