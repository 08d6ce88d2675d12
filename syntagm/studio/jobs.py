"""Jobs: a suite is scored with models in a process of its own, and leaves an ordinary run directory for each model.

    jobs/0007/NAME.tsv        the text that is scored, which nobody changes any more
    jobs/0007/job.json        what was asked for, with the hash of that text; sealed
    jobs/0007/end.json        how it ended, if it did not end by itself: cancelled, or failed and why; sealed
    jobs/0007/progress.json   how far it is
    jobs/0007/log.txt         what its process printed
    jobs/0007/runs/LABEL/     the runs

A job ends when its runs are done, or with end.json. Every other job is worked on, one after the other, whoever began it: a
server that was killed takes its processes with it, and the next one starts them again; the engine then goes on where it
was. A process that ends without a reason is started again, a few times.
"""

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from syntagm.core import (
    NONE,
    Permissions,
    RunError,
    SyntagmError,
    UsageError,
    atomic,
    did_you_mean,
    json as strict_json,
    record,
    regular,
)
from syntagm.runs import is_done
from syntagm.studio.store import digest_of

FOLDER, JOB, END, PROGRESS, LOG, RUNS = "jobs", "job.json", "end.json", "progress.json", "log.txt", "runs"
_NUMBER = re.compile(r"\d{4,9}")
# The most jobs at all, models of a job, and starts of its process.
JOBS, MODELS, STARTS = 9999, 8, 3
# How often the process is looked at, how long it may take to end when it is asked to, and how often its memory is added
# up, in seconds.
_LOOK, _GRACE, _WEIGH = 0.2, 10.0, 1.0
_PAGE = os.sysconf("SC_PAGE_SIZE")
State: TypeAlias = Literal["waiting", "running", "done", "cancelled", "failed"]
_CURE = "Delete the folder {folder}, and score the suite again."

JOB_RECORD = record.Form(
    "the record of a job",
    1,
    {
        "format": int, "suite": str, "digest": str, "models": {str: str}, "limit": (int, None), "created": float,
        "renewed?": record.RENEWED,
    },
    _CURE,
)  # fmt: skip
END_RECORD = record.Form(
    "the end of a job",
    1,
    {"format": int, "state": frozenset({"cancelled", "failed"}), "why": str, "renewed?": record.RENEWED},
    _CURE,
)


@dataclass(frozen=True, slots=True)
class Job:
    number: str  # its number, which is the name of its folder
    folder: Path
    suite: str  # the name of the suite's file
    digest: str  # the hash of the text
    models: Mapping[str, str]  # label -> name
    limit: int | None  # the most items, drawn at random; None for all
    created: float  # when it was asked for, in seconds since 1970

    @property
    def file(self) -> Path:
        """The file with the text."""
        return self.folder / self.suite

    def run_folder(self, label: str) -> Path:
        return self.folder / RUNS / label

    @property
    def done(self) -> bool:
        return all(is_done(self.run_folder(label)) for label in self.models)

    @property
    def commands(self) -> list[str]:
        """What computes the same by the shell: a command for each model."""
        return [self.command(label) for label in self.models]

    def command(self, label: str) -> str:
        """Return the command that computes the same run."""
        limit = ["--limit", str(self.limit)] if self.limit else []
        words = ["syntagm", "run", self.models[label], "--suite", str(self.file), *limit, "--name", label]
        return shlex.join([*words, "-o", str(self.run_folder(label))])


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is.

    Arguments:
        done, total: numbers of sentences, of the model that is at work; 0 before they are known.
        model: the label of that model.
        note: what happens, in words.
    """

    done: int = 0
    total: int = 0
    model: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """What jobs may take.

    Arguments:
        hours: the most hours of a job.
        gigabytes: the most memory of a job, its process and those that it started; by default, three quarters of the
            machine's.
        waiting: the most jobs that wait.
    """

    hours: float = 6.0
    gigabytes: float = field(default_factory=lambda: 0.75 * _memory() / 1e9)
    waiting: int = 20

    def __str__(self) -> str:
        return (
            f"One job runs at a time, at most {self.waiting} wait. A job may take {self.hours:g} hours "
            f"and {self.gigabytes:.1f} GB of memory."
        )


class Jobs:
    """The jobs of a folder. In a `with` block, they are worked on."""

    def __init__(
        self, folder: Path, models: Mapping[str, str], permissions: Permissions = NONE, limits: Limits | None = None
    ) -> None:
        self.folder, self.models, self.permissions = folder, models, permissions
        self.limits = limits or Limits()
        self._lock, self._news = threading.Lock(), threading.Event()
        self._stopped = False
        self._process: subprocess.Popen[bytes] | None = None
        self._running = ""
        self._cancelled: set[str] = set()
        self._starts: dict[str, int] = {}
        self._thread = threading.Thread(target=self._work, daemon=True, name="jobs")

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop working; a job that runs is interrupted, and goes on when the server is started again."""
        self._stopped = True
        self._news.set()
        if self._thread.is_alive():
            self._thread.join()

    def add(self, suite: str, text: str, labels: Sequence[str], limit: int | None) -> str:
        """Add a job, and return its number."""
        labels = list(dict.fromkeys(labels))
        for label in labels:
            if label not in self.models:
                raise UsageError("model", repr(label[:100]), ", ".join(self.models), did_you_mean(label, self.models))
        if not 0 < len(labels) <= MODELS:
            raise UsageError("model", f"{len(labels)} models", f"1 to {MODELS}")
        with self._lock:
            known = self._numbers()
            if sum(self.state(job) in ("waiting", "running") for job in self.all()) >= self.limits.waiting:
                cure = "Wait, or cancel some at /jobs."
                raise UsageError("jobs", f"{self.limits.waiting} that wait", "fewer", cure)
            if len(known) >= JOBS:
                raise UsageError(
                    "jobs", f"{JOBS:,}", "fewer", f"Move some of {self.folder / FOLDER} to another folder."
                )
            number = f"{int(known[-1]) + 1 if known else 1:04}"
            folder = atomic.inside(self.folder, FOLDER, number)
            atomic.make_folder(folder)
            content = text.encode()
            atomic.write(folder / suite, content)
            # Its record is last: without one, a folder is no job.
            chosen = {label: self.models[label] for label in labels}
            JOB_RECORD.write(
                folder / JOB,
                {
                    "suite": suite,
                    "digest": digest_of(content),
                    "models": chosen,
                    "limit": limit,
                    "created": time.time(),
                },
            )
        self._news.set()
        return number

    def all(self) -> list[Job]:
        """Return all jobs in order; those whose records are damaged are left out (`syntagm integrity` names them)."""
        found = []
        for number in self._numbers():
            with contextlib.suppress(SyntagmError):
                found.append(self.find(number))
        return found

    def find(self, number: str) -> Job:
        if not _NUMBER.fullmatch(number) or not (self.folder / FOLDER / number / JOB).is_file():
            raise UsageError("job", repr(number[:20]), "the number of a job", "All jobs are at /jobs.")
        folder = atomic.inside(self.folder, FOLDER, number)
        entries = JOB_RECORD.read(folder / JOB)
        return Job(
            number, folder, entries["suite"], entries["digest"], entries["models"], entries["limit"], entries["created"]
        )

    def state(self, job: Job) -> State:
        return self.ended(job)[0]

    def ended(self, job: Job) -> tuple[State, str]:
        """Return how a job stands, and why if it failed."""
        if job.done:
            return "done", ""
        if (job.folder / END).exists():
            try:
                end = END_RECORD.read(job.folder / END)
            except RunError as error:
                # It ended somehow; one damaged file does not stop the others.
                return "failed", str(error)
            return ("cancelled" if end["state"] == "cancelled" else "failed"), end["why"]
        return ("running" if self._running == job.number else "waiting"), ""

    def standing(self, job: Job) -> tuple[State, str, Progress]:
        """Return how a job stands, why if it failed, and how far it is if it runs."""
        state, why = self.ended(job)
        return state, why, self.progress(job) if state == "running" else Progress()

    def progress(self, job: Job) -> Progress:
        """Return how far a job is, as its process last said."""
        try:
            entries: dict[str, Any] = strict_json.own(regular.content(job.folder / PROGRESS, 10_000), PROGRESS)
            progress = Progress(**entries)
        except (OSError, SyntagmError, TypeError):
            return Progress()
        kinds = (int, int, str, str)
        values = (progress.done, progress.total, progress.model, progress.note)
        return progress if all(type(each) is kind for each, kind in zip(values, kinds, strict=True)) else Progress()

    def cancel(self, number: str) -> None:
        """Cancel a job. What is computed stays, and is used if the job is continued."""
        job = self.find(number)
        with self._lock:
            if self.state(job) not in ("waiting", "running"):
                return
            self._end(job, "cancelled", "")
            self._cancelled.add(number)
        self._news.set()

    def again(self, number: str) -> None:
        """Continue a job that was cancelled or has failed."""
        job = self.find(number)
        with self._lock:
            if self.state(job) in ("cancelled", "failed"):
                (job.folder / END).unlink(missing_ok=True)
                self._starts.pop(number, None)
                self._cancelled.discard(number)
        self._news.set()

    def _numbers(self) -> list[str]:
        folder = self.folder / FOLDER
        names = os.listdir(folder) if folder.is_dir() else []
        return sorted((name for name in names if _NUMBER.fullmatch(name)), key=int)

    def _end(self, job: Job, state: State, why: str) -> None:
        END_RECORD.write(job.folder / END, {"state": state, "why": why[:2000]})

    def _work(self) -> None:
        """Work on the jobs that wait until the server ends."""
        while not self._stopped:
            self._news.clear()
            try:
                with self._lock:
                    waiting = [job for job in self.all() if self.state(job) == "waiting"]
                    self._running = waiting[0].number if waiting else ""
                if waiting:
                    self._carry_out(waiting[0])
                    continue
            except (SyntagmError, OSError) as error:
                # A full disk: the job is tried again later.
                print(f"syntagm: jobs: {error}", file=sys.stderr)
                self._news.wait(10)
                continue
            finally:
                self._running = ""
            self._news.wait(60)

    def _words(self, job: Job) -> list[str]:
        return [sys.executable, "-m", "syntagm.studio.work", str(job.folder), *self.permissions.flags]

    def _carry_out(self, job: Job) -> None:
        # A record may come from elsewhere: models are those that the user named at the start, as are permissions.
        if others := [name for label, name in job.models.items() if self.models.get(label) != name]:
            with self._lock:
                self._end(
                    job, "failed", f"this server doesn't offer {', '.join(others)}; name it by --model, and continue"
                )
            return
        started = self._starts[job.number] = self._starts.get(job.number, 0) + 1
        if started > STARTS:
            with self._lock:
                self._end(job, "failed", f"its process ended {STARTS} times without a reason; {LOG} may tell why")
            return
        began = weighed = time.monotonic()
        why = ""
        with open(job.folder / LOG, "ab", opener=atomic.without_following) as log:
            # It ends when its standard input does: when this server ends, however that happens.
            process = subprocess.Popen(
                self._words(job),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=_environment(),
            )
        try:
            while process.poll() is None:
                self._news.wait(_LOOK)
                self._news.clear()
                if self._stopped or job.number in self._cancelled:
                    break
                now = time.monotonic()
                if now - began > self.limits.hours * 3600:
                    why = f"it took more than {self.limits.hours:g} hours"
                elif now - weighed > _WEIGH:
                    weighed = now
                    if (taken := memory_of(process.pid) / 1e9) > self.limits.gigabytes:
                        why = f"it took {taken:.1f} GB of memory; {self.limits.gigabytes:.1f} GB are allowed"
                if why:
                    break
        finally:
            code = _end(process)
        with self._lock:
            if job.number in self._cancelled:
                self._cancelled.discard(job.number)
            elif why:
                self._end(job, "failed", why)
            elif code == 2:
                # It has said why.
                self._end(job, "failed", self.progress(job).note or "an error; log.txt may tell which")


def _end(process: "subprocess.Popen[bytes]") -> int:
    """End a process: ask it, then kill it. Return its exit code."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            # With what it started: the process is there, so the group is still its own.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return process.returncode


def _environment() -> dict[str, str]:
    """Return the environment of a process: it leaves a processor to the pages."""
    threads = str(max(1, (os.cpu_count() or 2) - 1))
    return {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads, **os.environ}


def _memory() -> float:
    return float(os.sysconf("SC_PHYS_PAGES") * _PAGE)


def memory_of(process: int) -> int:
    """Return the memory in bytes of a process and all that descend from it; 0 where the system doesn't tell."""
    # Memory that processes share counts once for each: they may take less, never more.
    parents, pages = dict[int, int](), dict[int, int]()
    for name in os.listdir("/proc") if os.path.isdir("/proc") else []:
        if not name.isdecimal():
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):  # it has ended meanwhile
            # The name of a program stands in brackets, and may contain any character.
            status = regular.content(f"/proc/{name}/stat").rpartition(b")")[2].split()
            parents[int(name)], pages[int(name)] = int(status[1]), int(status[21])
    taken, below = 0, [process]
    while below:
        taken += pages.get(parent := below.pop(), 0)
        below += [child for child, of in parents.items() if of == parent]
    return taken * _PAGE


def refuse_changed(job: Job) -> None:
    """Refuse a job whose text is not what was asked for."""
    try:
        content = regular.content(job.file)
    except OSError as error:
        raise RunError(str(job.file), f"can't be read ({error.strerror})", "the text that is scored") from error
    if digest_of(content) != job.digest:
        raise RunError(str(job.file), "damaged or edited", "the text that was scored", "Score the suite again.")


def faults(folder: Path) -> dict[Path, SyntagmError]:
    found: dict[Path, SyntagmError] = {}
    try:
        job = Jobs(folder.parent.parent, {}).find(folder.name)
    except SyntagmError as error:
        return {folder / JOB: error}
    try:
        refuse_changed(job)
    except RunError as error:
        found[job.file] = error
    if (folder / END).exists():
        try:
            END_RECORD.read(folder / END)
        except RunError as error:
            found[folder / END] = error
    return found
