"""Workers as jobs of Slurm, submitted through submitit as arrays.

submitit writes the batch script and hands over the session. It asks `sacct` how jobs are, which many clusters can't answer
without an accounting database; so `squeue` is asked here. Its other services are of no use to a worker, and are switched off:
signals before the end, requeueing, and a file with the result of each job.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import IO, TYPE_CHECKING, Any, ClassVar

from syntagm.errors import RunError, UsageError
from syntagm.runs.executors import Executor, first_line, numbers, workers

if TYPE_CHECKING:
    from syntagm.runs.worker import Session

# Option -> the parameter of submitit. Those that are numbers are in `_NUMBERS`.
_PARAMETERS = {
    "time": "timeout_min",
    "cpus": "cpus_per_task",
    "gpus": "gpus_per_node",
    "memory": "mem_gb",
    "partition": "slurm_partition",
    "account": "slurm_account",
    "qos": "slurm_qos",
    "constraint": "slurm_constraint",
}
_NUMBERS = ("time", "cpus", "gpus", "memory", "patience")
_NAME = "syntagm"
# The states of jobs that have ended; those that Slurm ended for reasons of its own come last.
_EVICTED = ("PREEMPTED", "NODE_FAIL", "BOOT_FAIL")
_ENDED = ("CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "OUT_OF_MEMORY", "TIMEOUT", *_EVICTED)
_FORGOTTEN = "unknown to Slurm"
# Why a job will never start.
_HOPELESS = re.compile("PartitionTimeLimit|BadConstraints|Invalid(Account|QOS)|.*PerJob(Limit)?")
# What sbatch says where no cluster is configured, or its controller does not answer.
_UNREACHABLE = re.compile("resolve_ctls|establish a configuration source|contact slurm controller", re.IGNORECASE)


class Slurm(Executor):
    """Long-lived jobs, each of which computes units until there are none.

    Slurm may end a job at any time, at its time limit or to make room for others. Its unit goes to another worker, and a
    job that ended is replaced by a new one as long as there is work for it. The driver runs where the command was given.
    """

    form: ClassVar[str] = "slurm:N"
    options: ClassVar[Mapping[str, str]] = {
        "time": "the time limit of a job in minutes (240)",
        "partition": "the partition",
        "account": "the account",
        "qos": "the quality of service",
        "constraint": "features that a node must have",
        "cpus": "processors per job, and threads of a worker (1)",
        "gpus": "GPUs per job (0)",
        "memory": "gigabytes per job, 0 for all of a node's (8)",
        "patience": "seconds without a sign of life after which a worker counts as dead (120)",
        "cluster": "`local` starts the jobs on this machine, without Slurm, to try a command (slurm)",
    }

    def __init__(self, address: str, options: Mapping[str, str]) -> None:
        super().__init__(address, options)
        self.count = workers("slurm", address)
        self._cluster = options.get("cluster", "slurm")
        if self._cluster not in ("slurm", "local"):
            raise UsageError("--executor slurm", f"cluster={self._cluster}", "cluster=slurm or cluster=local")
        given = numbers(options, _NUMBERS, "slurm")
        values = {"time": 240, "cpus": 1, "gpus": 0, "memory": 8, **options, **given}
        self._parameters = {parameter: values[name] for name, parameter in _PARAMETERS.items() if name in values}
        self.be_patient(float(given.get("patience", self.patience)))
        try:
            import submitit
        except ImportError:
            cure = "Install it with: pip install 'syntagm[slurm]'."
            raise UsageError("--executor slurm", "submitit is not installed", "the package submitit", cure) from None
        if self._cluster == "slurm" and not shutil.which("sbatch"):
            raise _no_slurm(f"slurm:{address}", "no `sbatch` here")
        self._submitit = submitit
        self._jobs: dict[str, Any] = {}
        self._evicted: set[str] = set()
        self._queue = _Queue(self.beat)

    def start(self, workers: Sequence[str], session: "Session") -> None:
        """Submit an array of jobs.

        Raises:
            RunError: there is no Slurm on this machine, or it refuses the jobs.
        """
        parameters = dict(self._parameters)
        if self._cluster == "slurm":
            threads = parameters["cpus_per_task"]
            setup = [f"export OMP_NUM_THREADS={threads} MKL_NUM_THREADS={threads}"]
            if len(workers) == 1:
                # submitit makes no array of one, and such a job inherits the array in which this command may run itself.
                setup.append("unset SLURM_ARRAY_JOB_ID SLURM_ARRAY_TASK_ID")
            parameters |= {
                "slurm_array_parallelism": len(workers),
                "slurm_setup": setup,
                # A step of `srun` may get one processor only, whatever the job has.
                "slurm_use_srun": False,
                # The worker is replaced by one with another name, as soon as it has ended.
                "slurm_additional_parameters": {"no-requeue": True},
            }
        else:
            parameters = {name: value for name, value in parameters.items() if not name.startswith("slurm_")}
        try:
            executor = self._submitit.AutoExecutor(session.exchange / "logs" / "jobs", cluster=self._cluster)
            executor.update_parameters(name=_NAME, **parameters)
            # submitit prints what `sbatch` says.
            with contextlib.redirect_stderr(StringIO()):
                jobs = executor.map_array(_work, [session] * len(workers), list(workers))
        except (self._submitit.core.utils.FailedJobError, RuntimeError, OSError, ValueError) as error:
            found = first_line(error).removeprefix("sbatch: error: ")
            if isinstance(error, self._submitit.core.utils.FailedJobError) and not _UNREACHABLE.search(found):
                raise self._refusal(found) from error
            raise _no_slurm(self.text, found) from error
        self._jobs |= dict(zip(workers, jobs, strict=True))

    def ended(self) -> Mapping[str, str]:
        """Return the jobs that have ended, with Slurm's state and the last line that they printed.

        Raises:
            RunError: a job can never start.
        """
        if self._cluster == "slurm":
            ended, hopeless = self._queue.answer({job.job_id for job in self._jobs.values()})
            for job, reason in hopeless.items():
                raise self._refusal(f"job {job} can't start: {reason}")
        else:
            ended = {job.job_id: job.state for job in self._jobs.values() if job.done()}
        jobs = {name: self._jobs.pop(name) for name, job in list(self._jobs.items()) if job.job_id in ended}
        self._evicted = {name for name, job in jobs.items() if ended[job.job_id] in _EVICTED}
        return {name: f"job {job.job_id}, {ended[job.job_id].lower()}{_last_line(job)}" for name, job in jobs.items()}

    def _refusal(self, found: str) -> RunError:
        cure = "Ask for what the cluster offers (see `scontrol show partition`), and for no more jobs than it allows."
        return RunError(f"--executor {self.text}", found, "jobs that the cluster takes", cure)

    def evicted(self, worker: str) -> bool:
        """Return whether Slurm ended the job of a worker to make room for others, or because a node failed."""
        return worker in self._evicted

    def stop(self) -> None:
        """Cancel the jobs that wait or run."""
        if self._cluster == "slurm":
            self._queue.close()
            if arrays := {job.job_id.partition("_")[0] for job in self._jobs.values()}:
                subprocess.run(["scancel", *arrays], capture_output=True)
        else:
            for job in self._jobs.values():
                # submitit would end it by Ctrl-C, whose traceback appears on the screen.
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(job.job_id), signal.SIGKILL)
                # It may still be writing a file. submitit collects the process itself.
                with contextlib.suppress(ChildProcessError):
                    os.waitid(os.P_PID, int(job.job_id), os.WEXITED | os.WNOWAIT)
        self._jobs.clear()


def _no_slurm(executor: str, found: str) -> RunError:
    cure = "Run the command on a machine where `sbatch` works; cluster=local tries it without Slurm."
    return RunError(f"--executor {executor}", found, "a machine with Slurm", cure)


class _Queue:
    """What `squeue` tells of jobs. It is asked from time to time, and nobody waits for its answer.

    Arguments:
        every: the seconds between two questions.
    """

    def __init__(self, every: float) -> None:
        self._every, self._asked = every, time.monotonic()
        self._jobs: set[str] = set()
        self._question: tuple[subprocess.Popen[bytes], IO[bytes]] | None = None

    def answer(self, jobs: set[str]) -> tuple[dict[str, str], dict[str, str]]:
        """Return the jobs that have ended as far as is known now, with their states, and those that will never start."""
        if not self._question:
            if time.monotonic() - self._asked >= self._every:
                self._ask(jobs)
            return {}, {}
        process, answer = self._question
        if (code := process.poll()) is None:
            return {}, {}
        answer.seek(0)
        lines = [line.partition(" ") for line in answer.read().decode().splitlines()]
        self.close()
        if code:
            return {}, {}  # Slurm is restarted, for example
        told = {job: rest.partition(" ") for job, _, rest in lines}
        states = {job: told[job][0] if job in told else _FORGOTTEN for job in self._jobs}
        reasons = {job: told[job][2] for job, state in states.items() if state == "PENDING"}
        ended = {job: state for job, state in states.items() if state in (*_ENDED, _FORGOTTEN)}
        return ended, {job: reason for job, reason in reasons.items() if _HOPELESS.fullmatch(reason)}

    def _ask(self, jobs: set[str]) -> None:
        self._asked, self._jobs = time.monotonic(), jobs
        command = ["squeue", "--all", "--array", "--noheader", "--states=all", "--format=%i %T %r"]
        mine = [f"--user={os.getuid()}", f"--name={_NAME}"]
        # Into a file, since a pipe that nobody reads may become full.
        answer = tempfile.TemporaryFile()  # noqa: SIM115, closed below
        self._question = subprocess.Popen([*command, *mine], stdout=answer, stderr=subprocess.DEVNULL), answer

    def close(self) -> None:
        """Drop the question that is open."""
        if self._question:
            process, answer = self._question
            process.kill()
            process.wait()
            answer.close()
        self._question = None


def _work(session: "Session", worker: str) -> None:
    """Serve as a job, and end the process without the files that submitit would write."""
    from syntagm.runs.worker import serve

    # Slurm sends the first two when it ends a job. submitit ignores them, and may requeue the job at the third one.
    signal.signal(signal.SIGCONT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    code = 1
    try:
        serve(session, worker)
        code = 0
    except Exception:  # an error of any kind is told by its last line
        traceback.print_exc()
    os._exit(code)


def _last_line(job: Any) -> str:
    lines = [line.strip() for line in (job.stderr() or "").splitlines() if line.strip()]
    return f" ({lines[-1][:300]})" if lines else ""


EXECUTOR = Slurm
