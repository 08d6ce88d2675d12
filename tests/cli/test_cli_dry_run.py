"""`syntagm run --dry-run`: it refuses what the same line without it refuses, and a refused line leaves nothing on disk."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from executor_for_tests import Here

from syntagm.cli import main
from syntagm.core import ModelError, seal
from syntagm.models import names

SUITE = ("--suite", "hu2020/mvrr", "--limit", "3", "--no-report")


def left(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


@pytest.fixture
def shown(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """A function that gives a line with and without --dry-run, and returns what the first one printed on standard error.

    Both must be refused with the same words, and leave nothing new.
    """
    monkeypatch.chdir(tmp_path)

    def give(*line: str) -> str:
        before, said = left(tmp_path), []
        for more in ((), ("--dry-run",)):
            assert main(["run", *line, "-q", "-o", "new/out", *more]) == 2
            said.append(capsys.readouterr().err)
            assert left(tmp_path) == before
        assert said[1] == said[0].replace("models failed", "models would fail")
        return said[1]

    return give


def test_the_order_and_the_labels_are_those_of_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["run", "random?seed={1..3}", *SUITE, "--order", "coarse", "-o", str(tmp_path / "out")]
    assert main([*line, "--dry-run"]) == 0
    planned = capsys.readouterr().out.splitlines()
    assert planned[-1] == "3 models, each on 1 suite, 3 items, 12 sentences, 12 of them distinct; 36 sentences in all"
    assert main(line) == 0
    assert [row for row in capsys.readouterr().err.splitlines() if " of 3): " in row] == planned[:-1]
    assert planned[1] == "random-seed-3 (2 of 3): random?seed=3"


def test_a_single_model_has_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "toy", "--name", "Bigrams", *SUITE, "--dry-run", "-o", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out.startswith("Bigrams: 1 suite, 3 items, ")


def test_models_that_can_not_be_loaded(tmp_path: Path, shown: Callable[..., str]) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "model.toml").write_text('command = ["true"]')
    (tmp_path / "pickled").mkdir()
    (tmp_path / "pickled" / "config.json").write_text("{}")
    (tmp_path / "pickled" / "pytorch_model.bin").touch()
    refused = {
        "parrot:x": "model parrot:x: no family 'parrot'; expected one of causal, ",
        "random?sed=1": "model family random: no such option: 'sed'",
        "demo?bos=perhaps": "model option bos: 'perhaps'; expected one of auto, yes, no",
        "random:path": "random:path: a path",
        "toy:none.txt": "toy:none.txt: no such file",
        "recorded:none.csv": "recorded:none.csv: no such file",
        "ngram:none": "ngram:none: no such file or folder",
        "lstm:none": "lstm:none: no such folder",
        "rnng:empty": "empty: no seal.json",
        "./nowhere": "causal:./nowhere: no such folder",
        "empty": "causal:empty: no config.json",
        "pickled": "causal:pickled: only pickled weights (pytorch_model.bin)",
        "masked:?regions=yes": "model 'masked:': no path",
        "exec:model.toml": "exec:model.toml: a program, which is not started without permission",
        "python:none.py": "python:none.py: a program, which is not started without permission",
        "openai:host": "openai:host: ",
    }
    errors = shown(*refused, *SUITE).splitlines()
    assert len(errors) == len(refused) + 1
    for error, message in zip(errors, refused.values(), strict=False):
        assert message.removeprefix("openai:host: ") in error
    assert errors[-1].startswith("syntagm: 16 of 16 models would fail, for the reasons above: parrot-x, random-sed-1,")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (("toy", *SUITE, "--executor", "ray?gpu=1"), "--executor ray?gpu=1: no option 'gpu'"),
        (("toy", *SUITE, "--executor", "cluster:3"), "--executor: 'cluster:3'; expected one of local:N"),
        (("toy", "random", *SUITE, "--executor", "local"), "no number of workers"),
        (("toy", *SUITE, "--cache", "a", "--no-cache"), "--cache: given with --no-cache"),
        (("toy", "random", *SUITE, "--measure", "length()"), "measure: no such name: 'length'"),
        (
            ("toy", *SUITE, "--measure", "surprisal(condition=x)"),
            "measure surprisal(condition=x,region=*): no 'x' in item",
        ),
        (("lstm:none", "--suite", "hu2020/mvrr"), "lstm:none: no such folder"),
        (("toy", "--suite", "hu2020/none"), "hu2020/none: no suite 'none' in hu2020"),
        (("toy", "--suite", "double.tsv", "double.tsv?quote=none"), "suite double: two suites with this name"),
        (("toy", "--suite", "hu2020/mvrr", "-o", "double.tsv/out"), "double.tsv is not a folder"),
        (("toy", "--suite", "hu2020/mvrr", "-o", "double.tsv"), "double.tsv: not a folder; expected a folder"),
    ],
)
def test_lines_that_can_not_be_done(
    tmp_path: Path, shown: Callable[..., str], line: tuple[str, ...], message: str
) -> None:
    (tmp_path / "double.tsv").write_text("good\tbad\nThe dog barks.\tThe dog bark.\n")
    assert message in shown(*line)


def test_a_missing_library(shown: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert "the package ray is not installed" in shown("toy", *SUITE, "--executor", "ray")


@pytest.mark.slow
def test_a_cluster_without_room_is_found_out_by_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    machines = [{"CPU": 2.0, "memory": 9e9}, {"CPU": 3.0}]
    hub = SimpleNamespace(ask=lambda *_: machines, close=lambda: None)
    monkeypatch.setattr("syntagm.runs.executors.ray._HubProcess", lambda _: hub)
    for options, found in {
        "gpus=1": "room for 0 workers with 1 processor and 1 GPU; expected room for one. There are 5 processors and 0 GPUs",
        "workers=6": "room for 5 workers with 1 processor and 0 GPUs, not for 6; expected at most 5. There are 5 processors",
        "cpus=2&workers=3": "room for 2 workers with 2 processors and 0 GPUs, not for 3; expected at most 2.",
        "cpus=4": "room for 0 workers with 4 processors and 0 GPUs; expected room for one.",
        "memory=5&workers=2": "room for 1 worker with 1 processor, 0 GPUs and 5 GB of memory, not for 2; expected at most 1.",
    }.items():
        line = ["run", "toy", *SUITE, "--executor", f"ray?{options}", "-o", str(tmp_path / "new/out")]
        assert main([*line, "--dry-run"]) == 0
        capsys.readouterr()
        assert main(line) == 2
        shown = capsys.readouterr().err
        assert f"--executor ray?{options}: {found}" in shown
        assert " on 2 machines, and each worker runs on one." in shown
        assert left(tmp_path) == set()


def test_a_machine_without_slurm(shown: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert "no command sbatch; expected a machine with Slurm" in shown("toy", *SUITE, "--executor", "slurm:2")


@pytest.mark.parametrize("models", [("lstm:sealed",), ("lstm:sealed", "./nowhere")])
@pytest.mark.parametrize("executor", ["", "here"])
def test_models_that_fail_while_they_are_loaded_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, models: tuple[str, ...], executor: str
) -> None:
    """With all checks passed, the folder has no weights."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sealed").mkdir()
    (tmp_path / "sealed" / "model.json").write_text('{"family": "lstm"}')
    seal.write(tmp_path / "sealed")
    names.check("lstm:sealed")
    with pytest.raises(ModelError, match="no such file; expected a folder with model"):
        names.load("lstm:sealed")
    before = left(tmp_path)
    monkeypatch.setattr("syntagm.runs.executors.find", lambda _: Here())
    more = ("--executor", executor) if executor else ()
    assert main(["run", *models, *SUITE, "-o", "new/out", "--cache", "more/answers.sqlite", *more]) == 2
    assert left(tmp_path) == before


def test_a_folder_of_the_user_stays(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").touch()
    for folder in ("empty", "full"):
        assert main(["run", "lstm:none", *SUITE, "-o", str(tmp_path / folder)]) == 2
    assert left(tmp_path) == {"empty", "full", "full/notes.txt"}
