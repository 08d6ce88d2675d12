"""Sweeps that are resumed: what is unfinished comes first, what is finished is checked, and a changed model is refused."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from executor_for_tests import Here
from models_for_tests import byte_level, transformer
from toy_runs import agreement, interrupt, pairs, toy_run

from syntagm.cli import main
from syntagm.models.names import load
from syntagm.runs import executors
from syntagm.runs.files import RECORD
from syntagm.runs.ledger import is_unchanged
from syntagm.runs.store import open_run
from syntagm.tasks.align import Rule
from syntagm.tasks.predictions.task import Predictions

WAYS = pytest.mark.parametrize(
    "way",
    [pytest.param([], id="in process"), pytest.param(["--executor", "here"], id="workers", marks=pytest.mark.slow)],
)


@pytest.fixture
def suites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two suites, in a current directory that is empty otherwise."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(executors, "find", lambda _: Here(1))
    for name, word in (("first", "bark"), ("second", "sleep")):
        Path(f"{name}.tsv").write_text(f"good\tbad\nThe dog {word}s.\tThe dog {word}.\n")
    return ["--suite", "first.tsv", "second.tsv"]


def sweep(model: str, suites: list[str], way: list[str], *more: str) -> int:
    return main(["run", model, *suites, "-o", "out", "--no-report", "--no-cache", *way, *more])


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.suffix in (".csv", ".parquet")}


def planned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which the name of each model is added when its run is planned."""
    models: list[str] = []
    plan = Predictions.plan

    def noting(self: Predictions, suites: Any, model: Any, options: Any) -> Any:
        models.append(model.label)
        return plan(self, suites, model, options)

    monkeypatch.setattr(Predictions, "plan", noting)
    return models


@pytest.mark.slow
@WAYS
def test_unfinished_models_come_first_and_finished_ones_are_not_planned(
    way: list[str], suites: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep("random?seed={1..5}", suites, way) == 0
    expected, output = contents(Path("out")), capsys.readouterr().out
    shutil.rmtree("out/random-seed-4")
    interrupt(Path("out/random-seed-2"), 1)
    models = planned(monkeypatch)
    assert sweep("random?seed={1..5}", suites, way) == 0
    assert models == ["random-seed-2", "random-seed-4"]
    assert contents(Path("out")) == expected
    shown = capsys.readouterr()
    assert shown.out == output
    assert "3 of 5 models are finished, and checked last\n" in shown.err
    assert shown.err.count("2 suites, 4 sentences, 4 of them already finished") == 3
    # If all are finished, one is planned, because the suites may have changed.
    models.clear()
    assert sweep("random?seed={1..5}", suites, way) == 0
    assert models == ["random-seed-1"]
    assert contents(Path("out")) == expected


def test_what_has_to_be_planned_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suites, model = [agreement(), pairs("p", ("The dog barks", "The dog bark"))], load("toy")
    run = toy_run(tmp_path, *suites)

    def unchanged(align: Rule = "strict", records: Any = run.record["suites"]) -> bool:
        return is_unchanged(tmp_path, Predictions(align), model, records)

    assert unchanged()
    assert not unchanged("start")
    assert not unchanged(records=run.record["suites"][::-1])
    assert not unchanged(records=[suite | {"tags": {"phenomenon": "other"}} for suite in run.record["suites"]])
    for change in ({"label": "L"}, {"name": "toy:other"}, {"fingerprint": "f" * 64}, {"settings": {"eos": "yes"}}):
        with monkeypatch.context() as patch:
            for key, value in change.items():
                patch.setattr(model, key, value)
            assert not unchanged()
    record = RECORD.read(tmp_path / "run.json")
    for part in ({"status": "interrupted"}, {"versions": record["versions"] | {"syntagm": "0.0.1"}}):
        RECORD.write(tmp_path / "run.json", record | part)
        assert not unchanged()
    RECORD.write(tmp_path / "run.json", record)
    for file in (tmp_path / "results.csv", tmp_path / "ledger.jsonl", *(tmp_path / "shards").glob("*.results.parquet")):
        content = file.read_bytes()
        file.write_bytes(content[:-1])
        assert not unchanged()
        file.write_bytes(content)
    assert unchanged()


@WAYS
def test_a_folder_that_can_not_be_looked_into_ends_its_model_only(
    way: list[str], suites: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Here since its name is too long; it may also be that of another user."""
    Path("out").mkdir()
    assert (
        main(["run", "random", "toy", "--name", "x" * 300, "--name", "toy", *suites, "-o", "out", "--no-report", *way])
        == 2
    )
    assert "x: can't be written (File name too long)" in capsys.readouterr().err
    assert open_run("out/toy").done


def test_other_suites_are_refused_for_finished_models(suites: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert sweep("random?seed={1..2}", suites, []) == 0
    Path("second.tsv").write_text("good\tbad\nThe cat sleeps.\tThe cat sleep.\n")
    assert sweep("random?seed={1..3}", suites, []) == 2
    shown = capsys.readouterr().err
    assert shown.count("a run on other suites; expected the same suites in the same order. Different: second.") == 2
    assert "2 of 3 models failed" in shown


@pytest.mark.slow
@WAYS
def test_a_checkpoint_that_has_changed_is_refused_whether_its_run_is_finished_or_not(
    way: list[str], suites: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for step in range(1, 4):
        transformer("gpt2", byte_level(), seed=step).save_pretrained(f"ckpt/step{step}")
        byte_level().save_pretrained(f"ckpt/step{step}")
    assert sweep("ckpt/step*", suites, way) == 0
    interrupt(Path("out/step3"), 1)
    capsys.readouterr()
    before = contents(Path("out"))
    for step in (2, 3):
        shutil.copy("ckpt/step1/model.safetensors", f"ckpt/step{step}")
    assert sweep("ckpt/step*", suites, way) == 2
    refusal = (
        r"step(\d): out/step\1: a run of causal:step\1@\w{8} \(\w{8}\); expected a run of causal:step\1@\w{8} \(\w{8}\)"
    )
    cure = r"\. The model has changed since then\. Choose another folder, or put back the model with which"
    assert re.findall(refusal + cure, capsys.readouterr().err) == ["3", "2"]
    assert contents(Path("out")) == before
    assert [open_run(f"out/step{step}").done for step in (1, 2, 3)] == [True, True, False]
