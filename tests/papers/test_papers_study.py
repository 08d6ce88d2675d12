"""Studies of runs and of experiments: which rows they have, and what stands apart."""

from pathlib import Path

import polars as pl
import pytest
from toy_runs import FULL, interrupt, toy_run

from syntagm.cli import main
from syntagm.errors import RunError
from syntagm.papers.hu2020 import reproduce as hu2020
from syntagm.papers.hu2020 import study as _study
from syntagm.papers.hu2020 import tables
from syntagm.runs.store import Run
from syntagm.suite import Item, Sentence, Suite


def pairs(name: str, *nouns: str, circuit: str = "Agreement") -> Suite:
    """Of "barks" and "bark" the toy model prefers the first after dog, the second after cat; after bird they tie."""
    items = tuple(
        Item(str(at), {"good": Sentence(f"The {one} barks"), "bad": Sentence(f"The {one} bark")})
        for at, one in enumerate(nouns)
    )
    return Suite(name, items, (FULL,), {"circuit": circuit})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    suites = (
        pairs("number_src", "dog", "cat"),
        pairs("mvrr", "dog", circuit="Garden-Path Effects"),
        pairs("nn-nv-rpl", "dog"),
    )
    return toy_run(tmp_path_factory.mktemp("study") / "run", *suites)


def test_items_of_a_run(run: Run) -> None:
    study = _study.of_runs([run], hu2020.ASIDE)
    # The suite that stands aside is not there.
    assert study.items.select("model", "corpus", "seed", "suite", "item", "value").rows() == [
        (f"1: {run.model}", "", 0, "number_src", "0", 1.0),
        (f"1: {run.model}", "", 0, "number_src", "1", 0.0),
        (f"1: {run.model}", "", 0, "mvrr", "0", 1.0),
    ]
    assert study.label(f"1: {run.model}") == run.model
    assert study.circuits == {"number_src": "Agreement", "mvrr": "Garden-Path Effects"}
    # One comparison each.
    assert study.chance == pytest.approx(1 / 2)


def test_runs_of_one_model_are_numbered(run: Run) -> None:
    study = _study.of_runs([run, run])
    labels = [study.label(str(model)) for model in study.items["model"].unique(maintain_order=True)]
    assert labels == [f"{run.model} (run) #1", f"{run.model} (run) #2"]


def test_nothing_that_counts(tmp_path: Path) -> None:
    other = toy_run(tmp_path / "run", pairs("nn-nv-rpl", "dog"))
    with pytest.raises(RunError, match="no results on included suites"):
        _study.of_runs([other], hu2020.ASIDE)
    with pytest.raises(RunError, match="no results on included suites"):
        _study.of_runs([])


def test_means_over_other_suites_and_items_are_said_to_be(run: Run, tmp_path: Path) -> None:
    """They would stand side by side as if they were the same mean."""
    assert _study.of_runs([run, run], hu2020.ASIDE).remarks == ()
    less = toy_run(tmp_path / "less", pairs("number_src", "cat"))
    study = _study.of_runs([run, less], hu2020.ASIDE)
    assert study.remarks == (
        f"number of suites below 2: {less.model} (less): 1",
        "items differ between runs: number_src",
    )
    assert set(study.remarks) <= set(tables.classes(study).notes)
    assert _study.of_runs([interrupt(less.folder)]).remarks == (f"not finished: {less.model}",)


def test_a_fill_run_has_other_items(run: Run) -> None:
    other = Run(run.folder, run.record | {"task": "gaps"}, {})
    with pytest.raises(RunError, match="a run of the task gaps"):
        _study.of_runs([run, other])


def test_items_of_an_experiment(run: Run) -> None:
    rows = [("lstm", "sm", 1, 80.5), ("lstm", "xs", 1, float("inf")), ("ngram", "xs", 0, 120.0)]
    found = [({"family": a, "size": b, "seed": c, "perplexity": d}, run) for a, b, c, d in rows]
    study = _study.of_experiment(found, {"sm": 1.0, "xs": 0.1}, hu2020.ASIDE)
    table = study.instances().select("model", "corpus", "seed", "score", "perplexity", "words")
    # (1/2 + 1) / 2; a perplexity that isn't finite isn't known.
    assert table.rows() == [
        ("lstm", "sm", 1, 0.75, 80.5, 1.0),
        ("lstm", "xs", 1, 0.75, None, 0.1),
        ("ngram", "xs", 0, 0.75, 120.0, 0.1),
    ]
    assert list(study.words) == ["xs", "sm"]
    assert set(study.deltas()["delta"]) == {0.0}


@pytest.mark.slow
def test_the_command_of_runs(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main(["reproduce", "hu2020", "--from-run", str(run.folder), "-o", str(out)]) == 0
    assert "## SG score\n" in capsys.readouterr().out
    names = {path.name.partition(".")[0] for path in out.iterdir()}
    assert names == {"figure1", "figure5", "classes", "suites", "suite_intervals"}
    scores = pl.read_csv(out / "figure5.csv")
    assert dict(scores.select("circuit", "value").iter_rows()) == {"Agreement": 0.5, "Garden-Path Effects": 1.0}
    (out / "classes.csv").write_text("mine\n")
    assert main(["reproduce", "hu2020", "--from-run", str(run.folder), "-o", str(out)]) == 2
    assert "a file with a different header" in capsys.readouterr().err
