"""Workers as jobs of Slurm: arrays that are submitted with `sbatch` and watched with `squeue`.

`sacct` is not used: it needs an accounting database, which many clusters don't have.
"""

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from syntagm.core import Permissions, RunError, Setting, Text, Whole
from syntagm.runs.exchange import Exchange
from syntagm.runs.executors import PATIENCE, workers
from syntagm.runs.shared_folder import SharedFolder, program

if TYPE_CHECKING:
    from syntagm.runs.worker import Session

# Option -> the option of sbatch.
_SBATCH = {
    "time": "--time={}",
    "cpus": "--cpus-per-task={}",
    "gpus": "--gpus-per-node={}",
    "memory": "--mem={}G",
    "partition": "--partition={}",
    "account": "--account={}",
    "qos": "--qos={}",
    "constraint": "--constraint={}",
}
_NAME = "syntagm"
# The worker is replaced by one with another name as soon as it has ended, so Slurm must not start it again.
_ALWAYS = (f"--job-name={_NAME}", "--parsable", "--no-requeue", "--nodes=1", "--ntasks=1")
# The states of jobs that have ended; those that Slurm ended for reasons of its own come last.
_EVICTED = ("PREEMPTED", "NODE_FAIL", "BOOT_FAIL")
_ENDED = ("CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "OUT_OF_MEMORY", "TIMEOUT", *_EVICTED)
_FORGOTTEN = "unknown to Slurm"
# The reasons for which a job that waits will never start.
_HOPELESS = re.compile("PartitionTimeLimit|BadConstraints|Invalid(Account|QOS)|.*PerJob(Limit)?")
# The beginning of each error message of sbatch.
_ERROR = "sbatch: error: "
# Error messages of sbatch where no cluster is configured, or its controller doesn't answer.
_UNREACHABLE = re.compile("resolve_ctls|establish a configuration source|contact slurm controller", re.IGNORECASE)


class Slurm(SharedFolder):
    """Long-lived jobs, each of which computes units until there are none."""

    # Slurm may end a job at any time, at its time limit or to make room for others. Its unit goes to another worker,
    # and a job that ended is replaced by a new one as long as there is work for it. The driver runs where the command
    # was given.

    form: ClassVar[str] = "slurm:N"
    summary: ClassVar[str] = "N jobs of a cluster, which share a folder with this machine"
    options: ClassVar[tuple[Setting, ...]] = (
        Setting("time", Whole(), "240", "the time limit of a job in minutes"),
        Setting("partition", Text(), "", "the partition"),
        Setting("account", Text(), "", "the account"),
        Setting("qos", Text(), "", "the quality of service"),
        Setting("constraint", Text(), "", "features that a node must have"),
        Setting("cpus", Whole(), "1", "processors per job, and threads of a worker"),
        Setting("gpus", Whole(0), "0", "GPUs per job"),
        Setting("memory", Whole(0), "8", "gigabytes per job, 0 for all of a node's"),
        PATIENCE,
    )

    def __init__(self, address: str, options: Mapping[str, Any]) -> None:
        super().__init__(address, options)
        self.count = workers("slurm", address)
        values = {"time": 240, "cpus": 1, "memory": 8, **options}
        self._threads = values["cpus"]
        self._options = [option.format(values[name]) for name, option in _SBATCH.items() if name in values]
        self.be_patient(float(options.get("patience", self.patience)))
        if missing := next((name for name in ("sbatch", "squeue", "scancel") if not shutil.which(name)), ""):
            raise self._no_cluster(f"no command {missing}")
        # The worker of each job; workers that are being submitted; and those that are next.
        self._jobs: dict[str, str] = {}
        self._submission: tuple[_Command, list[str]] | None = None
        self._due: list[str] = []
        self._refusal: RunError | None = None
        self._evicted: set[str] = set()
        self._queue = _Queue(self.beat)

    def start(self, workers: Sequence[str], session: "Session") -> None:
        """Submit an array of jobs, without waiting for Slurm to accept it; `ended` reports the outcome."""
        # While Slurm has as many jobs as it accepts, `sbatch` tries for two minutes.
        self._exchange, self._program = Exchange(session.exchange), program(__name__, session, self.permissions)
        self._due += workers
        self._submit()

    def _submit(self) -> None:
        """Submit the workers that are due as one array, unless another submission is on its way."""
        if self._submission or not self._due:
            return
        threads = f"export OMP_NUM_THREADS={self._threads} MKL_NUM_THREADS={self._threads}"
        log = self._exchange.log("%A_%a")
        # Slurm would also replace such signs in the names of folders.
        output = str(log.parent).replace("%", "%%") + f"/{log.name}"
        command = _Command(
            "sbatch", *_ALWAYS, *self._options, f"--array=0-{len(self._due) - 1}", f"--output={output}",
            # With `srun`, a worker may get one processor only, whatever its job has.
            f"--wrap={threads}; exec {shlex.join([*self._program, *self._due])}",
        )  # fmt: skip
        self._submission, self._due = (command, self._due), []

    def _submitted(self) -> Mapping[str, str]:
        """Check the submission; if Slurm refused it, return its workers with the reason."""
        self._refusal = None
        if not self._submission or not (answer := self._submission[0].answer()):
            return {}
        (code, output, errors), workers = answer, self._submission[1]
        self._submission = None
        if not code and (array := _array(output)):
            self._jobs |= {f"{array}_{number}": worker for number, worker in enumerate(workers)}
            self._submit()
            return {}
        lines = (errors if code else output).strip().splitlines()
        # A cluster may greet its users first.
        messages = [line.removeprefix(_ERROR) for line in lines if line.startswith(_ERROR)]
        found = next(iter([*messages, *lines]), f"sbatch: exit code {code}")
        self._refusal = (self._no_cluster if _UNREACHABLE.search(found) else self._refused)(found)
        refused, self._due = [*workers, *self._due], []
        return dict.fromkeys(refused, found)

    def ended(self) -> Mapping[str, str]:
        """Return the jobs that have ended, with Slurm's state and the last line that they printed."""
        if refused := self._submitted():
            return refused
        ended, hopeless = self._queue.answer(set(self._jobs))
        for job, reason in hopeless.items():
            raise self._refused(f"job {job} can't start: {reason}")
        workers = {self._jobs.pop(job): (job, state) for job, state in ended.items()}
        self._evicted = {worker for worker, (_, state) in workers.items() if state in _EVICTED}
        return {worker: f"job {job}, {state.lower()}{self._last_line(job)}" for worker, (job, state) in workers.items()}

    def _last_line(self, job: str) -> str:
        return f" ({words})" if (words := self._exchange.last_words(job)) else ""

    def _refused(self, found: str) -> RunError:
        cure = "Ask for what the cluster offers (see `scontrol show partition`), and for no more jobs than it allows."
        return RunError(f"--executor {self.text}", found, "jobs that the cluster takes", cure)

    def _no_cluster(self, found: str) -> RunError:
        cure = "Run the command where `sbatch` works; local:N starts workers without Slurm."
        return RunError("--executor slurm", found, "a machine with Slurm", cure)

    def refusal(self) -> RunError | None:
        """Return why Slurm did not take the jobs of workers that `ended` has just returned."""
        return self._refusal

    def evicted(self, worker: str) -> bool:
        """Return whether Slurm ended the job of a worker to make room for others, or because a node failed."""
        return worker in self._evicted

    def stop(self) -> None:
        """Cancel all jobs, and the submission that is under way."""
        self._queue.close()
        arrays = {job.partition("_")[0] for job in self._jobs}
        if self._submission and (array := _array(self._submission[0].end())):
            arrays.add(array)
        if arrays:
            # Otherwise they end by themselves.
            with contextlib.suppress(OSError):
                subprocess.run(["scancel", *sorted(arrays)], capture_output=True)
        self._submission = None
        self._jobs.clear()


def main(session: "Session", permissions: Permissions, *workers: str) -> None:
    """Serve as a job: in its array, the number of a job is that of its worker."""
    from syntagm.runs.worker import serve

    serve(session, workers[int(os.environ["SLURM_ARRAY_TASK_ID"])], permissions)


def _array(output: str) -> str:
    """Return the number of the array in the output of `sbatch`, where the name of a cluster may follow it; "" if none."""
    match = re.search(r"^(\d+)(;.*)?$", output, re.MULTILINE)
    return match[1] if match else ""


class _Command:
    """A command of Slurm in the background."""

    # It has a session of its own, so that Ctrl-C in the terminal reaches the driver only, which then ends the command.

    def __init__(self, *words: str) -> None:
        # Into files, since a pipe that nobody reads may become full.
        self._output, self._errors = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115, closed below
        self._process = None
        try:
            self._process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=self._output, stderr=self._errors, start_new_session=True
            )
        except OSError as error:  # such as a limit on processes, which may have room later
            self._errors.write(str(error).encode())

    def answer(self) -> tuple[int, str, str] | None:
        """Return its exit code, output and error messages, once; None while it runs."""
        if (code := self._process.poll() if self._process else 1) is None:
            return None
        texts = []
        for file in (self._output, self._errors):
            with file:
                file.seek(0)
                texts.append(file.read().decode(errors="replace"))
        return code, texts[0], texts[1]

    def end(self) -> str:
        """Kill it, and return its output."""
        if self._process:
            self._process.kill()
            self._process.wait()
        answer = self.answer()
        return answer[1] if answer else ""


class _Queue:
    """The states of jobs, as `squeue` reports them at intervals."""

    def __init__(self, every: float) -> None:
        self._every, self._asked = every, time.monotonic()
        self._jobs: set[str] = set()
        self._question: _Command | None = None

    def answer(self, jobs: set[str]) -> tuple[dict[str, str], dict[str, str]]:
        """Return the jobs that are known to have ended, with their states, and those that will never start, with reasons."""
        if not self._question:
            if time.monotonic() - self._asked >= self._every:
                self._ask(jobs)
            return {}, {}
        if not (answer := self._question.answer()):
            return {}, {}
        self._question = None
        code, output, _ = answer
        if code:
            return {}, {}  # Slurm is restarted, for example
        lines = [line.partition(" ") for line in output.splitlines()]
        listed = {job: rest.partition(" ") for job, _, rest in lines}
        states = {job: listed[job][0] if job in listed else _FORGOTTEN for job in self._jobs}
        reasons = {job: listed[job][2] for job, state in states.items() if state == "PENDING"}
        ended = {job: state for job, state in states.items() if state in (*_ENDED, _FORGOTTEN)}
        return ended, {job: reason for job, reason in reasons.items() if _HOPELESS.fullmatch(reason)}

    def _ask(self, jobs: set[str]) -> None:
        self._asked, self._jobs = time.monotonic(), jobs
        mine = [f"--user={os.getuid()}", f"--name={_NAME}"]
        self._question = _Command(
            "squeue", "--all", "--array", "--noheader", "--states=all", "--format=%i %T %r", *mine
        )

    def close(self) -> None:
        if self._question:
            self._question.end()
        self._question = None


EXECUTOR = Slurm
