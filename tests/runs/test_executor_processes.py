"""Executors with real processes: the same bytes as in one process, whatever is killed."""

import importlib.util
import pickle
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

import pytest
import slurm_for_tests
from laboratory.kills import LINE, Kills, children, ends, files
from laboratory.lines import TEXT

from syntagm.cli import main
from syntagm.core import Progress, RunError, UsageError
from syntagm.evaluation import Predictions
from syntagm.models import load
from syntagm.runs import OPEN, Job, Run, Session, SharedFolder, executors, run_suites
from syntagm.runs.computing import Work
from syntagm.runs.driver import drive
from syntagm.runs.exchange import Exchange
from syntagm.suites import SuiteFiles, expand

SUITES = ("--suite", "hu2020", "islands", "--limit", "3", "--no-report", "--no-cache", "-q")


def command(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "syntagm", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], dict[str, str]]:
    """Twelve models, three of them checkpoints in folders, and the files of their runs on 40 suites in one process."""
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "text.txt").write_text(TEXT)
    for seed in "123":
        tiny = ("--layers=1", "--epochs=1", "--batch=20", "--hidden=8", "--embedding=8", "--seed", seed)
        texts = ("--corpus", str(folder / "text.txt"), "--valid", str(folder / "text.txt"))
        assert main(["train", "lstm", *texts, *tiny, "-o", str(folder / f"lstm{seed}")]) == 0
    models = [f"{folder}/lstm*", "random?seed=1,2,3,4,5,6,7,8", "toy"]
    assert main(["run", *models, *SUITES, "-o", str(folder / "out")]) in (0, 1)
    return models, files(folder / "out")


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["local:2", "slurm:2?patience=30", "ray?workers=2"])
def test_twelve_models_give_the_same_bytes_as_in_one_process(
    tmp_path: Path, sweep: tuple[list[str], dict[str, str]], executor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if executor.startswith("ray") and not importlib.util.find_spec("ray"):
        pytest.skip("ray is not installed")
    monkeypatch.setenv("PATH", str(slurm_for_tests.install(tmp_path / "slurm")), prepend=":")
    models, expected = sweep
    process = command("run", *models, *SUITES, "-o", str(tmp_path / "out"), "--executor", executor)
    printed, _ = process.communicate(timeout=1000)
    assert process.returncode in (0, 1), printed
    assert files(tmp_path / "out") == expected
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(
        {name.split("/")[0] for name in expected}
    )
    assert main(["integrity", str(tmp_path / "out")]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["local:1", "slurm:1?patience=30"])
def test_workers_import_nothing_from_the_current_folder_and_pass_on_the_environment(
    tmp_path: Path, executor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(slurm_for_tests.install(tmp_path / "slurm")), prepend=":")
    monkeypatch.setenv("PYTHONPATH", "here")
    monkeypatch.chdir(tmp_path)
    Path("random.py").write_text("raise SystemExit('the module of the user')")
    Path("m.toml").write_text('command = ["sh", "-c", "echo $PYTHONPATH > seen; exit 3"]')
    Path("s.tsv").write_text("good\tbad\nThe dog barks.\tThe dog bark.\n")
    quiet = ("-q", "--no-cache", "--no-report", "--executor", executor)
    assert main(["run", "exec:m.toml", "toy", "--allow-exec", "--suite", "s.tsv", "-o", "it's 5%A", *quiet]) == 2
    assert Path("seen").read_text() == "here\n"
    assert Path("it's 5%A/toy/results.csv").exists()


@pytest.mark.slow
def test_kills_of_workers_and_drivers_change_nothing(tmp_path: Path) -> None:
    # `python -m tests.laboratory` tries hundreds.
    assert list(Kills(tmp_path, "local:2").trials(6, random.Random(1))) == []


@pytest.mark.slow
def test_gaps_give_the_same_bytes_too(tmp_path: Path) -> None:
    line = (
        "fill",
        "toy",
        "--suite",
        "marvin2018",
        "-n",
        "4",
        "--words",
        "verbs",
        "--top",
        "0.9",
        "--no-report",
        "-q",
        "-o",
    )
    assert main([*line, str(tmp_path / "one")]) == 0
    process = command(*line, str(tmp_path / "two"), "--executor", "local:2")
    printed, _ = process.communicate(timeout=1000)
    assert process.returncode == 0, printed
    assert files(tmp_path / "two") == files(tmp_path / "one")


@pytest.mark.slow
def test_ctrl_c_ends_the_workers_and_the_same_line_goes_on(tmp_path: Path) -> None:
    line = (*LINE, "-o", str(tmp_path / "out"), "--executor", "local:2")
    process = command(*line)
    deadline = time.monotonic() + 300
    while not list(tmp_path.glob("out/*/ledger.jsonl")) and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.005)
    workers = children(process.pid)
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate(timeout=300)
    assert process.returncode == 130, printed
    assert "run the same command again to continue" in printed
    assert len(workers) == 2
    assert all(map(ends, workers))
    again = command(*line)
    printed, _ = again.communicate(timeout=1000)
    assert again.returncode == 0, printed


# A machine: its clock jumps by an hour at each renewal of a lease, and each unit takes longer than the patience.
MACHINE = """
import itertools, os, pathlib, pickle, sys, time
from syntagm.core import NONE
from syntagm.runs import computing, worker

utime, jumps = os.utime, itertools.count(1)

def jump(path, *times):
    utime(path, (time.time() + float(sys.argv[1]) * 3600 * next(jumps),) * 2)

os.utime = jump
compute = computing._Loaded.compute
computing._Loaded.compute = lambda *words: (time.sleep(float(sys.argv[2])), compute(*words))[1]
worker.main(pickle.loads(pathlib.Path(sys.argv[3]).read_bytes()), NONE, sys.argv[4])
"""
PATIENCE = 3.0


class Machines(SharedFolder):
    """Two machines with their own clocks. The second one freezes when it has taken a unit, and wakes up late."""

    def __init__(self) -> None:
        super().__init__("", {})
        self.text, self.count, self.late = "machines", 2, 0.0
        self.be_patient(PATIENCE)
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, workers: Sequence[str], session: Session) -> None:
        for worker, hours in zip(workers, ("1", "-1"), strict=True):
            (file := session.exchange / "session").write_bytes(pickle.dumps(session))
            words = [sys.executable, "-c", MACHINE, hours, str(PATIENCE * 1.5), str(file), worker]
            self._processes[worker] = subprocess.Popen(words, stdin=subprocess.PIPE)
        self._exchange = Exchange(session.exchange)

    def ended(self) -> Mapping[str, str]:
        if not self.late and any(name == "w2" and piece.name != OPEN for piece, name in self._exchange.leases()):
            self._processes["w2"].send_signal(signal.SIGSTOP)
            self.late = time.monotonic() + 2 * PATIENCE
        elif self.late and time.monotonic() > self.late:
            self._processes["w2"].send_signal(signal.SIGCONT)
        return {name: "ended" for name, process in self._processes.items() if process.poll() is not None}

    def stop(self) -> None:
        for process in self._processes.values():
            process.kill()
            process.communicate()


@pytest.mark.slow
def test_two_machines_whose_clocks_jump_and_one_of_which_freezes(tmp_path: Path) -> None:
    said: list[str] = []

    class Told(Progress):
        def warned(self, message: str) -> None:
            said.append(message)

    suites = expand(["hu2020/mvrr", "hu2020/cleft", "hu2020/number_prep", "hu2020/number_src"])
    run_suites(load("random"), SuiteFiles(suites), tmp_path / "expected" / "one")
    (out := tmp_path / "out").mkdir()
    work, machines = Work(Predictions(), suites), Machines()
    [(_, result)] = drive([Job("random", "", out / "one")], work, out, machines, Told())
    assert isinstance(result, Run)
    assert files(out) == files(tmp_path / "expected")
    assert main(["integrity", str(out)]) == 0
    # The unit of the frozen machine was computed by the other one; no clock that jumped cost a unit.
    assert machines.late
    assert [message.partition(": lost with ")[2] for message in said] == [
        f"worker w2: no sign of life for {PATIENCE:.0f} seconds; it is computed again"
    ]


def test_ray_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"not installed\. .* pip install 'syntagm\[ray\]'"):
        executors.find("ray")


def test_an_address_where_nothing_listens_is_an_error_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # Ray itself would try again without an end, and say so every few seconds.
    monkeypatch.setitem(sys.modules, "ray", ModuleType("ray"))
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        address = f"ray:127.0.0.1:{bound.getsockname()[1]}"
        with pytest.raises(RunError, match=rf"--executor {address}: .*refused; expected the address of a running Ray"):
            executors.find(address).connect()


def test_a_machine_without_slurm_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    out = str(tmp_path / "out")
    assert main(["run", "toy", "--suite", "hu2020/mvrr", "-o", out, "--executor", "slurm:2"]) == 2
    assert "--executor slurm: no command sbatch; expected a machine with Slurm" in capsys.readouterr().err
    assert not Path(out).exists()


@pytest.mark.parametrize(
    ("executor", "message"),
    [
        ("slurm", "no number of workers; expected slurm:N"),
        ("slurm:2?hours=3", "no option 'hours'; expected one of account=, constraint="),
        ("slurm:2?time=3h", "--executor slurm:2?time=3h, time=: '3h'; expected a whole number from 1 to"),
        ("slurm:2?memory=-1", "'-1'; expected a whole number from 0 to"),
        ("ray?workers=none", "'none'; expected a whole number"),
    ],
)
def test_wrong_options(executor: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        executors.find(executor)
    assert message in str(refused.value)


def test_a_cache_can_t_be_shared_between_machines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(slurm_for_tests.install(tmp_path / "slurm")), prepend=":")
    line = ["run", "toy", "--suite", "hu2020/mvrr", "-o", str(tmp_path / "out"), "--cache", str(tmp_path / "answers")]
    assert main([*line, "--executor", "slurm:2"]) == 2
    assert "--cache: given with --executor slurm:2; expected workers on one machine" in capsys.readouterr().err
