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

import contextlib
import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import slurm_for_tests
from laboratory.kills import LINE, children, ends, files

from syntagm.cli import main
from syntagm.core import RunError
from syntagm.evaluation import Predictions
from syntagm.runs import Session, executors
from syntagm.runs.computing import Work
from syntagm.runs.exchange import Exchange
from syntagm.runs.executors.slurm import Slurm

WORKERS = ("w1", "w2", "w3")


class Cluster:
    """Commands in a folder that stand for those of Slurm: they do as the files there say, and note how they are called."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        monkeypatch.setenv("PATH", str(folder), prepend=":")
        self.command("sbatch", 'printf "%s\\n" "$@" > submitted; echo "7;test"')
        self.command("scancel", 'echo "$@" > cancelled')
        self.states("RUNNING None", "RUNNING None", "PENDING Resources")
        (exchange := Exchange(folder)).create()
        self.session = Session(Work(Predictions(), []), folder, folder, {}, 10.0, 120.0)
        assert exchange.pulse.exists()

    def command(self, name: str, does: str) -> None:
        """Let a command do this."""
        # The shell may still read the old one.
        (new := self._folder / f"{name}.new").write_text(f"#!/bin/sh\ncd {self._folder}\n{does}\n")
        new.chmod(0o755)
        new.rename(self._folder / name)

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
def slurm(cluster: Cluster) -> Iterator[Slurm]:
    executor = executors.find("slurm:3?cpus=2&memory=0&patience=1")
    assert isinstance(executor, Slurm)
    executor.start(WORKERS, cluster.session)
    submitted(executor)
    yield executor
    executor.stop()


def submitted(executor: Slurm) -> dict[str, str]:
    """Wait until sbatch has answered; return the workers that it refused."""
    refused, deadline = dict(executor.ended()), time.monotonic() + 10
    while executor._submission and time.monotonic() < deadline:
        time.sleep(0.01)
        refused |= executor.ended()
    return refused


def told(executor: Slurm) -> dict[str, str]:
    """What the executor tells when it has asked Slurm next."""
    asked, deadline = 0, time.monotonic() + 10
    while asked < 2 and time.monotonic() < deadline:
        if ended := executor.ended():
            return dict(ended)
        if question := executor._queue._question:
            question._process.wait()
            asked += 1
        time.sleep(0.01)
    return dict(executor.ended())


class TestCommands:
    def test_what_is_submitted(self, cluster: Cluster, slurm: Slurm) -> None:
        words = cluster.note("submitted").splitlines()
        assert {"--array=0-2", "--cpus-per-task=2", "--mem=0G", "--time=240", "--no-requeue"} <= set(words)
        job = next(word for word in words if word.startswith("--wrap="))
        assert job.startswith(f"--wrap=export OMP_NUM_THREADS=2 MKL_NUM_THREADS=2; exec {sys.executable} -P -c ")
        assert job.endswith("/session w1 w2 w3")

    def test_signs_of_slurm_in_the_names_of_folders(self, cluster: Cluster, slurm: Slurm) -> None:
        (folder := cluster.session.exchange / "100%A").mkdir()
        slurm.start(["w4"], replace(cluster.session, exchange=folder))
        assert submitted(slurm) == {}
        [log] = [word for word in cluster.note("submitted").splitlines() if word.startswith("--output=")]
        assert log.endswith("/100%%A/logs/%A_%a.log")

    def test_nobody_waits_for_a_submission(self, cluster: Cluster, slurm: Slurm) -> None:
        cluster.command(
            "sbatch", 'while ! test -e room; do sleep 0.01; done; printf "%s\\n" "$@" > submitted; cat room'
        )
        slurm.start(["w4", "w5"], cluster.session)
        slurm.start(["w6"], cluster.session)
        slurm.start(["w7"], cluster.session)
        cluster.states("RUNNING None", "FAILED NonZeroExitCode", "RUNNING None")
        assert told(slurm) == {"w2": "job 7_1, failed"}
        cluster.down()
        (cluster.session.exchange / "room").write_text("8\n")
        # What became due while sbatch waited is one array.
        assert submitted(slurm) == {}
        assert "--array=0-1" in cluster.note("submitted").splitlines()
        assert cluster.note("submitted").endswith("/session w6 w7\n")

    def test_a_submission_that_waits_ends_with_the_command(self, cluster: Cluster, slurm: Slurm) -> None:
        cluster.command("sbatch", "echo $$ > waiting; echo 9; sleep 100")
        slurm.start(["w4"], cluster.session)
        while not (cluster.session.exchange / "waiting").exists() or not cluster.note("waiting"):
            time.sleep(0.01)
        slurm.stop()
        with pytest.raises(ProcessLookupError):
            os.kill(int(cluster.note("waiting")), 0)
        # Slurm may have taken it already.
        assert cluster.note("cancelled") == "7 9\n"

    def test_jobs_that_ended_are_told_once(self, cluster: Cluster, slurm: Slurm) -> None:
        assert told(slurm) == {}
        cluster.states("RUNNING None", "PREEMPTED None", "TIMEOUT TimeLimit")
        assert told(slurm) == {"w2": "job 7_1, preempted", "w3": "job 7_2, timeout"}
        assert [name for name in WORKERS if slurm.evicted(name)] == ["w2"]
        assert told(slurm) == {}

    def test_jobs_that_slurm_has_forgotten_have_ended(self, cluster: Cluster, slurm: Slurm) -> None:
        cluster.states("COMPLETING None")
        assert told(slurm) == {"w2": "job 7_1, unknown to slurm", "w3": "job 7_2, unknown to slurm"}

    def test_no_answer_ends_no_job(self, cluster: Cluster, slurm: Slurm) -> None:
        cluster.down()
        assert told(slurm) == {}
        cluster.states("RUNNING None", "RUNNING None", "FAILED NonZeroExitCode")
        assert told(slurm) == {"w3": "job 7_2, failed"}

    def test_a_command_that_can_not_be_started_is_tried_again(
        self, cluster: Cluster, slurm: Slurm, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As on a login node where a user may have few processes."""

        def full(*_: object, **__: object) -> None:
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

        with monkeypatch.context() as patch:
            patch.setattr("subprocess.Popen", full)
            slurm.start(["w4"], cluster.session)
            assert submitted(slurm) == {"w4": "[Errno 11] Resource temporarily unavailable"}
            time.sleep(slurm.beat)
            assert [slurm.ended() for _ in range(3)] == [{}, {}, {}]
        cluster.states("RUNNING None", "RUNNING None", "FAILED NonZeroExitCode")
        assert told(slurm) == {"w3": "job 7_2, failed"}
        monkeypatch.setattr("subprocess.Popen", full)
        slurm.stop()

    def test_jobs_that_can_never_start_are_an_error(self, cluster: Cluster, slurm: Slurm) -> None:
        cluster.states("RUNNING None", "PENDING PartitionTimeLimit")
        with pytest.raises(
            RunError, match="job 7_1 can't start: PartitionTimeLimit; expected jobs that the cluster takes"
        ):
            told(slurm)

    def test_a_refusal_of_slurm(self, cluster: Cluster, slurm: Slurm) -> None:
        assert slurm.refusal() is None
        cluster.command("sbatch", "echo 'sbatch: lua: Welcome\nsbatch: error: Invalid account' >&2; exit 1")
        slurm.start(["w4", "w5"], cluster.session)
        assert submitted(slurm) == {"w4": "Invalid account", "w5": "Invalid account"}
        assert str(slurm.refusal()).startswith(
            "--executor slurm:3?cpus=2&memory=0&patience=1: Invalid account; expected jobs"
        )
        slurm.ended()
        assert slurm.refusal() is None

    @pytest.mark.parametrize(
        ("does", "found"),
        [("exit 3", "sbatch: exit code 3"), ("echo thank you", "thank you")],
        ids=["silent", "no number"],
    )
    def test_an_answer_without_a_number_is_a_refusal(
        self, cluster: Cluster, slurm: Slurm, does: str, found: str
    ) -> None:
        cluster.command("sbatch", does)
        slurm.start(["w4"], cluster.session)
        assert submitted(slurm) == {"w4": found}

    def test_a_machine_without_a_cluster_is_not_blamed_on_the_options(self, cluster: Cluster, slurm: Slurm) -> None:
        said = "sbatch: error: resolve_ctls_from_dns_srv: res_nsearch error: Unknown host"
        cluster.command("sbatch", f"echo '{said}' >&2; exit 1")
        slurm.start(["w4"], cluster.session)
        submitted(slurm)
        assert "executor slurm: resolve_ctls" in str(refusal := slurm.refusal())
        assert "expected a machine with Slurm" in str(refusal)

    def test_all_jobs_are_cancelled_at_once(self, cluster: Cluster, slurm: Slurm) -> None:
        slurm.stop()
        assert cluster.note("cancelled") == "7\n"


@pytest.fixture
def without_slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Slurm's commands for tests, and the folder in which a file `full` lets `sbatch` wait."""
    monkeypatch.setenv("PATH", str(slurm_for_tests.install(folder := tmp_path / "slurm")), prepend=":")
    return folder


def until(happens: Callable[[], object], process: "subprocess.Popen[bytes]") -> None:
    """Wait for something that happens while a command runs."""
    deadline = time.monotonic() + 300
    while not happens() and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.02)


def waiting(process: "subprocess.Popen[bytes]") -> list[int]:
    """Return the processes of `sbatch` that a command has started."""
    found = []
    for child in children(process.pid):
        with contextlib.suppress(OSError):  # it has just ended
            if b"sbatch" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(child)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("fate", ["goes on", "Ctrl-C", "killed"])
def test_units_are_committed_while_a_submission_waits(tmp_path: Path, without_slurm: Path, fate: str) -> None:
    assert main([*LINE, "-o", str(tmp_path / "expected")]) == 0
    line = [*LINE, "-o", str(tmp_path / "out"), "--executor", "slurm:2?patience=12"]
    process = subprocess.Popen([sys.executable, "-m", "syntagm", *line])
    until(lambda: list(tmp_path.glob("out/*/ledger.jsonl")), process)
    # A worker dies, and Slurm has no room for another one. The other worker rests until that is known.
    (without_slurm / "full").touch()
    rests, dies = (int((without_slurm / f"1_{number}.process").read_text()) for number in range(2))
    os.killpg(rests, signal.SIGSTOP)
    os.killpg(dies, signal.SIGKILL)
    (without_slurm / "1_1.code").write_text("137\n")
    until(lambda: waiting(process), process)
    os.killpg(rests, signal.SIGCONT)
    [submission] = waiting(process)
    if fate == "goes on":
        assert process.wait(300) == 0
    elif fate == "killed":
        process.kill()
        process.wait()
    else:
        process.send_signal(signal.SIGINT)
        assert process.wait(300) == 130
        assert ends(submission)
    (without_slurm / "full").unlink()
    assert main(line) == 0
    assert files(tmp_path / "out") == files(tmp_path / "expected")
    assert main(["integrity", str(tmp_path / "out")]) == 0
    # The jobs of the command that was killed end by themselves, as do those that its sbatch submits now.
    assert ends(submission)
    assert all(map(ends, map(int, (path.read_text() for path in without_slurm.glob("*.process")))))


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
