"""The executor `slurm`: with commands that stand for Slurm's, and on a real cluster where there is one.

A cluster on one machine, as root, is enough for the real one: the packages slurm-wlm and munge, the daemons `munged`,
`slurmctld` and `slurmd`, and this in slurm.conf, where HOST is the name of the machine:

    ClusterName=test
    SlurmctldHost=HOST(127.0.0.1)
    CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
    SlurmUser=root
    StateSaveLocation=/tmp/slurm/state
    SlurmdSpoolDir=/tmp/slurm/spool
    ProctrackType=proctrack/linuxproc
    SelectType=select/cons_tres
    SlurmdParameters=config_overrides
    NodeName=HOST NodeAddr=127.0.0.1 CPUs=4 RealMemory=8000
    PartitionName=main Nodes=HOST Default=YES
"""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from laboratory.kills import LINE, files

from syntagm.cli import main
from syntagm.errors import RunError
from syntagm.runs import executors
from syntagm.runs.exchange import Exchange
from syntagm.runs.worker import Session, Work
from syntagm.tasks.predictions.task import Predictions

pytest.importorskip("submitit")

WORKERS = ("w1", "w2", "w3")


class Cluster:
    """Commands in a folder that stand for those of Slurm: they do as the files there say, and note how they are called."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        monkeypatch.setenv("PATH", str(folder), prepend=":")
        self.command("srun", "true")
        self.command("sbatch", 'cp "$1" script; echo "Submitted batch job 7"')
        self.command("scancel", 'echo "$@" > cancelled')
        self.states("RUNNING None", "RUNNING None", "PENDING Resources")
        (exchange := Exchange(folder)).create()
        self.session = Session(Work(Predictions(), [], None, 1, (), None, ""), folder, folder, {}, 10.0, 120.0)
        assert exchange.pulse.exists()

    def command(self, name: str, does: str) -> None:
        """Let a command do this."""
        path = self._folder / name
        path.write_text(f"#!/bin/sh\ncd {self._folder}\n{does}\n")
        path.chmod(0o755)

    def states(self, *states: str) -> None:
        """Let the jobs be in these states, with these reasons; the jobs of others are there, too."""
        lines = [f"7_{number} {state}" for number, state in enumerate(states)] + ["6 COMPLETED None"]
        self.command("squeue", "cat << END\n" + "\n".join(lines) + "\nEND")

    def down(self) -> None:
        """Let Slurm give no answer."""
        self.command("squeue", "exit 1")

    def note(self, name: str) -> str:
        """Return what a command noted."""
        return (self._folder / name).read_text()


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    return Cluster(tmp_path, monkeypatch)


@pytest.fixture
def slurm(cluster: Cluster) -> Iterator[executors.Executor]:
    executor = executors.find("slurm:3?cpus=2&memory=0&patience=1")
    executor.start(WORKERS, cluster.session)
    yield executor
    executor.stop()


def told(executor: executors.Executor) -> dict[str, str]:
    """What the executor tells when it has asked Slurm next."""
    asked, deadline = 0, time.monotonic() + 10
    while asked < 2 and time.monotonic() < deadline:
        if ended := executor.ended():
            return dict(ended)
        if question := executor._queue._question:  # type: ignore[attr-defined]
            question[0].wait()
            asked += 1
        time.sleep(0.01)
    return {}


class TestCommands:
    def test_the_batch_script(self, cluster: Cluster, slurm: executors.Executor) -> None:
        script = cluster.note("script").splitlines()
        assert {"#SBATCH --array=0-2%3", "#SBATCH --cpus-per-task=2", "#SBATCH --mem=0GB"} <= set(script)
        assert "#SBATCH --no-requeue" in script
        assert "export OMP_NUM_THREADS=2 MKL_NUM_THREADS=2" in script
        # `srun` would give a worker one processor.
        assert next(line for line in script if "submitit.core._submit" in line).startswith(sys.executable)

    def test_a_single_job_belongs_to_no_array_of_the_command(self, cluster: Cluster, slurm: executors.Executor) -> None:
        slurm.start(["w4"], cluster.session)
        assert "unset SLURM_ARRAY_JOB_ID SLURM_ARRAY_TASK_ID" in cluster.note("script").splitlines()

    def test_jobs_that_ended_are_told_once(self, cluster: Cluster, slurm: executors.Executor) -> None:
        assert told(slurm) == {}
        cluster.states("RUNNING None", "PREEMPTED None", "TIMEOUT TimeLimit")
        assert told(slurm) == {"w2": "job 7_1, preempted", "w3": "job 7_2, timeout"}
        assert [name for name in WORKERS if slurm.evicted(name)] == ["w2"]
        assert told(slurm) == {}

    def test_jobs_that_slurm_has_forgotten_have_ended(self, cluster: Cluster, slurm: executors.Executor) -> None:
        cluster.states("COMPLETING None")
        assert told(slurm) == {"w2": "job 7_1, unknown to slurm", "w3": "job 7_2, unknown to slurm"}

    def test_no_answer_ends_no_job(self, cluster: Cluster, slurm: executors.Executor) -> None:
        cluster.down()
        assert told(slurm) == {}
        cluster.states("RUNNING None", "RUNNING None", "FAILED NonZeroExitCode")
        assert told(slurm) == {"w3": "job 7_2, failed"}

    def test_jobs_that_can_never_start_are_an_error(self, cluster: Cluster, slurm: executors.Executor) -> None:
        cluster.states("RUNNING None", "PENDING PartitionTimeLimit")
        with pytest.raises(
            RunError, match="job 7_1 can't start: PartitionTimeLimit; expected jobs that the cluster takes"
        ):
            told(slurm)

    def test_a_refusal_of_slurm_is_told_once(
        self, cluster: Cluster, slurm: executors.Executor, capfd: pytest.CaptureFixture[str]
    ) -> None:
        cluster.command("sbatch", "echo 'sbatch: error: Invalid account' >&2; exit 1")
        with pytest.raises(RunError, match=r"slurm:3.*: Invalid account; expected jobs that the cluster takes"):
            slurm.start(["w4", "w5"], cluster.session)
        assert capfd.readouterr().err == ""

    def test_a_machine_without_a_cluster_is_not_blamed_on_the_options(
        self, cluster: Cluster, slurm: executors.Executor
    ) -> None:
        said = "sbatch: error: resolve_ctls_from_dns_srv: res_nsearch error: Unknown host"
        cluster.command("sbatch", f"echo '{said}' >&2; exit 1")
        with pytest.raises(RunError, match=r"executor slurm.*: resolve_ctls.*; expected a machine with Slurm"):
            slurm.start(["w4"], cluster.session)

    def test_all_jobs_are_cancelled_at_once(self, cluster: Cluster, slurm: executors.Executor) -> None:
        slurm.stop()
        assert cluster.note("cancelled") == "7\n"


@pytest.mark.slow
def test_a_real_cluster_gives_the_same_bytes_though_its_jobs_are_cancelled(tmp_path: Path) -> None:
    if not shutil.which("sinfo") or subprocess.run(["sinfo"], capture_output=True).returncode:
        pytest.skip("no Slurm cluster answers")
    assert main([*LINE, "-o", str(tmp_path / "expected")]) == 0
    line = [*LINE, "-o", str(tmp_path / "out"), "--executor", "slurm:2?time=10&memory=1"]
    process = subprocess.Popen([sys.executable, "-m", "syntagm", *line])
    deadline = time.monotonic() + 300
    while not list(tmp_path.glob("out/*/ledger.jsonl")) and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.05)
    subprocess.run(["scancel", "--name=syntagm"], check=True)
    assert process.wait(300) == 0
    assert files(tmp_path / "out") == files(tmp_path / "expected")
    assert main(["integrity", str(tmp_path / "out")]) == 0
