"""A run without its record: damaged, wherever runs are looked up, and not a run that isn't there."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from toy_runs import agreement, interrupt, pairs, toy_run

from syntagm.cli import main
from syntagm.core import Progress, RunError
from syntagm.models import load
from syntagm.papers import Cell, finished_models
from syntagm.papers.experiment import design as places
from syntagm.runs import has_run, is_done, open_run, run_folders, run_suites

LOST = r"random/run\.json: no such file, beside (ledger\.jsonl|shards) of a run; expected the record of a run\. Repeat"


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    folder = tmp_path / "sweep"
    for model in ("toy", "random"):
        toy_run(folder / model, agreement(), model=model)
    return folder


def _remove(*names: str) -> Callable[[Path], None]:
    def remove(folder: Path) -> None:
        for name in names:
            shutil.rmtree(folder / name) if name == "shards" else (folder / name).unlink()

    return remove


@pytest.mark.parametrize("left", ["both", "ledger", "shards"])
def test_a_run_without_its_record_does_not_vanish(
    left: str, sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _remove("run.json", *{"both": (), "ledger": ("shards",), "shards": ("ledger.jsonl",)}[left])(sweep / "random")
    assert [folder.name for folder in run_folders(sweep)] == ["random", "toy"]
    with pytest.raises(RunError, match=LOST):
        open_run(sweep / "random")
    out = tmp_path / "out"
    for line in (["table", "scores"], ["cite"], ["report", "-o", f"{out}.html"], ["figure", "scores", "-o", str(out)]):
        command, *options = line
        names, options = (options[:1], options[1:]) if command in ("table", "figure") else ([], options)
        assert main([command, *names, str(sweep), *options]) == 2, line
        assert str(sweep / "random" / "run.json") in capsys.readouterr().err
    assert main(["integrity", str(sweep)]) == 1
    assert f"damaged    {sweep / 'random' / 'run.json'}: no such file" in capsys.readouterr().out
    assert not list(tmp_path.glob("out*"))


def test_a_run_that_was_killed_before_its_record_is_none(tmp_path: Path) -> None:
    (tmp_path / "run" / "shards").mkdir(parents=True)
    (tmp_path / "run" / "lock").touch()
    assert not has_run(tmp_path / "run")
    with pytest.raises(RunError, match=r"no run\.json; expected a run directory"):
        open_run(tmp_path / "run")
    assert run_folders(tmp_path) == [tmp_path]


@pytest.mark.parametrize("done", [True, False])
def test_the_command_that_made_a_run_writes_its_record_again(done: bool, tmp_path: Path) -> None:
    """The names of units are hashes of all that their numbers depend on, so finished ones are kept."""
    suites = [agreement(), pairs("second", ("The dog barks", "The dog bark"))]
    before = toy_run(tmp_path, *suites).results()
    if not done:
        interrupt(tmp_path, 1)
    shards = {path: path.stat().st_mtime_ns for path in (tmp_path / "shards").iterdir()}
    (tmp_path / "run.json").unlink()
    warnings, missing = list[str](), list[int]()

    class Told(Progress):
        def warned(self, message: str) -> None:
            warnings.append(message)

        def planned(self, total: int, done: int, suites: int) -> None:
            missing.append(total - done)

    after = run_suites(load("toy"), suites, tmp_path, progress=Told())
    assert warnings == [f"{tmp_path / 'run.json'}: no such file, beside ledger.jsonl of a run; it is written again"]
    assert missing == [0 if done else 2]
    assert {path: path.stat().st_mtime_ns for path in shards} == shards or not done
    assert after.done
    assert after.results().equals(before)
    # Another model or suite has other units: nothing of this run is taken for one of theirs.
    (tmp_path / "run.json").unlink()
    other = toy_run(tmp_path, agreement(nouns=("dog",)))
    assert other.results().height == 2


@pytest.mark.slow
def test_a_sweep_computes_a_run_whose_record_is_missing(sweep: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["run", "toy", "random", "--suite", "hu2020/mvrr", "-o", str(sweep.with_name("own")), "--no-report", "-q"]
    assert main(line) == 0
    lost = sweep.with_name("own") / "random"
    before = (lost / "results.csv").read_bytes()
    (lost / "run.json").unlink()
    assert not is_done(lost)
    assert main(line) == 0
    assert "run.json: no such file, beside ledger.jsonl of a run; it is written again" in capsys.readouterr().err
    assert (lost / "results.csv").read_bytes() == before
    assert open_run(lost).done


def test_the_folder_of_a_damaged_run_is_not_taken_for_a_new_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    toy_run(tmp_path / "run", agreement())
    (tmp_path / "run" / "run.json").unlink()
    several = ["run", "toy", "random", "--suite", "hu2020/mvrr", "--no-report", "-q", "-o"]
    assert main([*several, str(tmp_path / "run")]) == 2
    assert "the run directory of one model" in capsys.readouterr().err
    assert main(["run", "toy", *several[3:], str(tmp_path)]) == 2
    assert "a folder of runs, such as run" in capsys.readouterr().err


class TestAStudy:
    """A study with one model, as if it had been computed."""

    CELL = Cell("ngram", "xs", 0)

    @pytest.fixture
    def study(self, tmp_path: Path) -> Path:
        text = [{"name": "a.txt", "files": 1, "bytes": 9, "sha256": "0" * 64}]
        design = dict.fromkeys(("corpus", "valid", "test"), text) | {
            "draw": 1, "suites": ["agreement"], "suite_hashes": {}, "sizes": {"xs": 9}, "families": {"ngram": {}},
        }  # fmt: skip
        places.DESIGN.write(places.record_path(tmp_path), design)
        run = toy_run(places.run_folder(tmp_path, self.CELL), agreement())
        numbers = dict.fromkeys(("words", "unknown", "undefined"), 1)
        floats = ("bits", "bits_per_word", "perplexity", "perplexity_known", "bits_per_character")
        (tmp_path / "perplexity").mkdir()
        places.PERPLEXITY.write(
            places.perplexity_path(tmp_path, self.CELL),
            {
                "family": "ngram", "size": "xs", "seed": 0, "requested_words": 9, "training_words": 9, "model": run.model,
                "fingerprint": "", "policies": {}, "weights": "", **numbers, **dict.fromkeys(floats, 1.0),
            },
        )  # fmt: skip
        return tmp_path

    def test_as_it_is(self, study: Path) -> None:
        [(model, run)] = finished_models(study)
        assert model["family"] == "ngram"
        assert run.done
        assert main(["integrity", str(study)]) == 0

    def test_without_the_record_of_a_run(self, study: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (run := places.run_folder(study, self.CELL) / "run.json").unlink()
        with pytest.raises(RunError, match=r"ngram-xs/run\.json: no such file, beside ledger\.jsonl"):
            list(finished_models(study))
        assert places.is_damaged(run.parent)
        assert not places.is_scored(run.parent)
        assert main(["integrity", str(study)]) == 1
        assert f"damaged    {run}: no such file" in capsys.readouterr().out

    def test_without_a_run(self, study: Path, capsys: pytest.CaptureFixture[str]) -> None:
        shutil.rmtree(run := places.run_folder(study, self.CELL))
        with pytest.raises(
            RunError, match=r"ngram-xs: no run; expected the run of a model whose perplexity is in .* Repeat"
        ):
            list(finished_models(study))
        assert main(["integrity", str(study)]) == 1
        assert f"{run}: no run; expected that of ngram-xs" in capsys.readouterr().out

    def test_without_its_own_record(self, study: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (record := places.record_path(study)).unlink()
        assert main(["integrity", str(study)]) == 1
        assert f"damaged    {record}: can't be read (No such file" in capsys.readouterr().out

    def test_without_the_record_of_a_model(self, study: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (model := places.model_folder(study, self.CELL)).mkdir(parents=True)
        assert main(["integrity", str(study)]) == 0
        (model / "model.safetensors").write_bytes(b"")
        assert main(["integrity", str(study)]) == 1
        assert f"damaged    {model / 'training.json'}: no such file, beside weights" in capsys.readouterr().out
