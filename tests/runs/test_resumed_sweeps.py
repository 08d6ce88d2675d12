"""Sweeps that are resumed: what is unfinished comes first, what is finished is checked, and a changed model is refused."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from executor_for_tests import Here
from models_for_tests import byte_level, transformer
from toy_runs import agreement, interrupt, pairs, toy_run

from syntagm import table
from syntagm.cli import main
from syntagm.evaluation import Predictions, Rule
from syntagm.models import load
from syntagm.runs import executors, open_run, runs_of
from syntagm.runs.files import RECORD
from syntagm.runs.ledger import is_unchanged

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


def in_views(*runs: str | Path) -> list[Any]:
    """The names of the models in a table, and each A and B of a comparison."""
    compared = table("comparison", runs).to_frame().select("A", "B").unique(maintain_order=True)
    return [table("scores", runs).to_frame()["model"].unique(maintain_order=True).to_list(), compared.rows()]


def test_runs_in_a_folder_are_in_the_order_of_their_places_and_then_by_name(tmp_path: Path) -> None:
    for name, place in {"a": 2, "b": 0, "step2": None, "step10": None, "c": 1}.items():
        record = RECORD.read(toy_run(tmp_path / name, agreement()).folder / "run.json")  # type: ignore[operator]
        RECORD.write(tmp_path / name / "run.json", record | ({} if place is None else {"place": place}))
    assert [run.label for run in runs_of(tmp_path)] == ["b", "c", "a", "step2", "step10"]
    assert [run.label for run in runs_of([tmp_path / "a", tmp_path / "b"])] == ["a", "b"]


@pytest.mark.slow
@pytest.mark.parametrize("way", [[], ["--executor", "here"]], ids=["in process", "workers"])
def test_models_have_the_order_of_the_last_command_in_every_view(way: list[str], suites: list[str]) -> None:
    named = {"zeta": "toy", "mid": "random?seed=1", "alpha": "random?seed=2"}

    def run(*labels: str) -> int:
        names = [part for label in labels for part in ("--name", label)]
        models = [named[label] for label in labels]
        return main(["run", *models, *names, *suites[:2], "-o", "out", "--no-report", "--no-cache", *way])

    def places() -> dict[str, int]:
        return {path.parent.name: json.loads(path.read_text())["place"] for path in Path("out").glob("*/run.json")}

    assert run("zeta", "mid", "alpha") == 0
    assert places() == {"zeta": 0, "mid": 1, "alpha": 2}
    assert in_views("out") == [["zeta", "mid", "alpha"], [("zeta", "mid"), ("zeta", "alpha"), ("mid", "alpha")]]
    # Runs that are named one by one are in the order of the arguments.
    assert in_views("out/alpha", "out/zeta")[1] == [("alpha", "zeta")]
    # A finished run is only checked; its place is written anew all the same, and its signature and seal stay.
    signature = str(open_run("out/zeta").signature("first", "good_bad"))
    seals = {path: json.loads(path.read_text())["seal"] for path in Path("out").glob("*/run.json")}
    assert run("alpha", "zeta", "mid") == 0
    assert in_views("out") == [["alpha", "zeta", "mid"], [("alpha", "zeta"), ("alpha", "mid"), ("zeta", "mid")]]
    assert {path: json.loads(path.read_text())["seal"] for path in seals} == seals
    assert str(open_run("out/zeta").signature("first", "good_bad")) == signature
    # A command for some of them leaves the others, and one for a model alone leaves its place.
    assert run("mid", "zeta") == 0
    assert main(["run", "toy", "--name", "zeta", *suites[:2], "-o", "out/zeta", "--no-report", "--no-cache"]) == 0
    assert places() == {"alpha": 0, "mid": 0, "zeta": 1}
    # Runs of earlier versions have no place: they come last, by name.
    for label in ("alpha", "zeta"):
        record = RECORD.read(path := Path(f"out/{label}/run.json"))
        del record["place"]
        RECORD.write(path, record)
    assert in_views("out")[0] == ["mid", "alpha", "zeta"]


@pytest.mark.slow
def test_a_refused_command_leaves_the_places(suites: list[str]) -> None:
    assert main(["run", "toy", "random", *suites, "-o", "out", "--no-report", "--no-cache"]) == 0
    before = {path: path.read_bytes() for path in Path("out").glob("*/run.json")}
    assert main(["run", "random", "toy", *suites[:2], "-o", "out", "--no-report", "--no-cache"]) == 2
    assert {path: path.read_bytes() for path in before} == before


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
