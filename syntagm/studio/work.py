"""The process of a job: it evaluates the models one after the other, and says how far it is.

    python -m syntagm.studio.work JOB [--allow-pickle] [--allow-exec] [--trust-remote-code]

Exit code: 0 done, 2 failed for a reason that progress.json tells, 130 interrupted.
"""

import contextlib
import json
import os
import select
import sys
import threading
import time
from dataclasses import asdict, replace
from pathlib import Path

from syntagm.core import Interrupted, Permissions, Progress, SyntagmError, atomic, of_flags
from syntagm.evaluation import Predictions
from syntagm.runs import Evaluation, carry_out, default_path, evaluation
from syntagm.studio import jobs
from syntagm.studio.jobs import Job, Jobs
from syntagm.suites import Draw, SuiteFiles

# The least seconds between two reports.
_EVERY = 0.5
# How much less the processor is given to jobs than to pages.
_NICE = 15


class Reporter(Progress):
    """What is written to progress.json. It is read while it is there, and never after the end: losing it loses nothing."""

    def __init__(self, job: Job) -> None:
        self._path, self._last = job.folder / jobs.PROGRESS, 0.0
        self._now = jobs.Progress()

    def say(self, model: str = "", note: str = "") -> None:
        """Report another model, or a reason."""
        self._now = jobs.Progress(model=model, note=note)
        self._write()

    def planned(self, total: int, done: int, suites: int) -> None:
        self._now = replace(self._now, total=total, done=done, note="")
        self._write()

    def answered(self, suite: str, questions: int) -> None:
        self._now = replace(self._now, done=self._now.done + questions)
        if time.monotonic() - self._last > _EVERY:
            self._write()

    def warned(self, message: str) -> None:
        print(f"warning: {message}", flush=True)

    def _write(self) -> None:
        self._last = time.monotonic()
        atomic.write(self._path, json.dumps(asdict(self._now)).encode())


def evaluation_of(job: Job, permissions: Permissions) -> Evaluation:
    """Return the evaluation that a job asks for: the one that `syntagm run` would carry out for its commands."""
    return Evaluation(
        Predictions(),
        SuiteFiles([str(job.file)], permissions.allow_pickle),
        tuple(
            evaluation.Job(name, label, job.run_folder(label), place)
            for place, (label, name) in enumerate(job.models.items())
        ),
        Draw(job.limit),
        permissions,
        cache=default_path(),
    )


def main(arguments: list[str]) -> int:
    folder, permissions = Path(arguments[0]), of_flags(arguments[1:])
    with contextlib.suppress(OSError):
        os.nice(_NICE)
    if select.select([0], [], [], 0)[0] and not os.read(0, 1024):
        return 130  # the server ended while this process began; another one may have the job by now
    threading.Thread(target=_end_with_server, daemon=True).start()
    return carry_out_job(Jobs(folder.parent.parent, {}, permissions).find(folder.name), permissions)


def carry_out_job(job: Job, permissions: Permissions) -> int:
    """Carry out a job in this process; return the exit code."""
    reporter = Reporter(job)
    try:
        jobs.refuse_changed(job)
        asked = evaluation_of(job, permissions)
        for one in asked.jobs:
            reporter.say(one.label, "loading the model")
            carry_out(replace(asked, command=job.command(one.label)), one, reporter)
    except (Interrupted, KeyboardInterrupt):
        return 130
    except SyntagmError as error:
        reporter.say(note=str(error))
        return 2
    return 0


def _end_with_server() -> None:
    # Not through sys.stdin, whose lock Python would wait for at the end.
    while os.read(0, 1024):
        pass
    os._exit(130)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
