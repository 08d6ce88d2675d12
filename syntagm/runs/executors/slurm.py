"""Workers as jobs of Slurm, submitted through submitit as arrays."""

import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

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
        "memory": "gigabytes per job (8)",
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
        self._submitit = submitit
        self._jobs: dict[str, Any] = {}

    def start(self, workers: Sequence[str], session: "Session") -> None:
        """Submit an array of jobs.

        Raises:
            RunError: there is no Slurm on this machine, or it refuses the jobs.
        """
        from syntagm.runs.worker import serve

        parameters = dict(self._parameters)
        if self._cluster == "slurm":
            parameters["slurm_array_parallelism"] = len(workers)
        else:
            parameters = {name: value for name, value in parameters.items() if not name.startswith("slurm_")}
        try:
            executor = self._submitit.AutoExecutor(session.exchange / "logs" / "jobs", cluster=self._cluster)
            executor.update_parameters(name="syntagm", **parameters)
            jobs = executor.map_array(serve, [session] * len(workers), list(workers))
        except (RuntimeError, OSError, ValueError, self._submitit.core.utils.FailedJobError) as error:
            cure = "Run the command on a machine where `sbatch` works; cluster=local tries it without Slurm."
            raise RunError(
                f"--executor {self.text}", first_line(error), "a Slurm cluster that takes the jobs", cure
            ) from error
        self._jobs |= dict(zip(workers, jobs, strict=True))

    def ended(self) -> Mapping[str, str]:
        """Return the jobs that have ended, with Slurm's state and the last line that they printed."""
        jobs = {name: self._jobs.pop(name) for name, job in list(self._jobs.items()) if job.done()}
        return {name: f"job {job.job_id}, {job.state.lower()}{_last_line(job)}" for name, job in jobs.items()}

    def stop(self) -> None:
        """Cancel the jobs that wait or run."""
        for job in self._jobs.values():
            if self._cluster == "slurm":
                job.cancel(check=False)
            else:
                # submitit would end it by Ctrl-C, whose traceback appears on the screen.
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(job.job_id), signal.SIGKILL)
                # It may still be writing a file. submitit collects the process itself.
                with contextlib.suppress(ChildProcessError):
                    os.waitid(os.P_PID, int(job.job_id), os.WEXITED | os.WNOWAIT)
        self._jobs.clear()


def _last_line(job: Any) -> str:
    lines = [line.strip() for line in (job.stderr() or "").splitlines() if line.strip()]
    return f" ({lines[-1][:300]})" if lines else ""


EXECUTOR = Slurm
