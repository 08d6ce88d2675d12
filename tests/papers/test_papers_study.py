"""Studies of runs and of experiments: which rows they have, and what stands apart."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import pearsonr, spearmanr
from toy_runs import FULL, interrupt, toy_run

from syntagm.cli import main
from syntagm.core import RunError
from syntagm.papers.hu2020 import figures, findings, reproduce as hu2020, study as _study, tables
from syntagm.papers.hu2020.claims import dissociation, within_a_class
from syntagm.runs import Run
from syntagm.suites import Item, Sentence, Suite


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
    found = [
        ({"family": a, "size": b, "seed": c, "perplexity": d, "unknown": 3, "undefined": 0}, run) for a, b, c, d in rows
    ]
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


# Families with the scores of their models on xs and sm, their perplexities, and the unknown words of the test text.
MIXED: dict[str, tuple[list[float], list[float], list[int]]] = {
    "lstm": ([0.5, 1.0, 0.0, 0.5], [60.0, 62.0, 100.0, 101.0], [9, 5]),
    "multitask": ([1.0, 0.5, 0.5, 0.0], [61.0, 59.0, 99.0, 105.0], [9, 5]),
    "ngram": ([0.0, 0.0, 0.5, 0.5], [70.0, 71.0, 120.0, 121.0], [9, 5]),
    "gpt2": ([1.0, 1.0, 1.0, 1.0], [5000.0, 5100.0, 4000.0, 4100.0], [0, 0]),
    "gpt2-words": ([0.5, 0.5, 1.0, 1.0], [90.0, 91.0, 300.0, 310.0], [8, 5]),
}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> _study.Study:
    folder = tmp_path_factory.mktemp("mixed")
    nouns = {0.0: ("cat", "cat"), 0.5: ("dog", "cat"), 1.0: ("dog", "dog")}
    runs = {score: toy_run(folder / str(score), pairs("number_src", *words)) for score, words in nouns.items()}
    finished = []
    for family, (scores, perplexities, unknown) in MIXED.items():
        for at, (score, perplexity) in enumerate(zip(scores, perplexities, strict=True)):
            size = ("xs", "sm")[at // 2]
            record = {"family": family, "size": size, "seed": at % 2, "perplexity": perplexity, "undefined": 0}
            finished.append((record | {"unknown": unknown[at // 2]}, runs[score]))
    return _study.of_experiment(finished, {"xs": 0.1, "sm": 1.0})


def test_perplexities_are_correlated_over_models_with_the_same_unknown_words(mixed: _study.Study) -> None:
    assert (mixed.words_alike, mixed.unlike) == (("lstm", "multitask"), ("gpt2", "gpt2-words"))
    table = tables.correlations(mixed)
    rows = {row[:3]: row[3:] for row in table.rows}
    alike = [MIXED[name] for name in ("lstm", "multitask")]
    scores, perplexities = (np.concatenate([one[at] for one in alike]) for at in (0, 1))
    for method, other in (("Pearson", pearsonr), ("Spearman", spearmanr)):
        found = rows["lstm, multitask", method, ""]
        assert (found[0], found[4]) == (pytest.approx(other(perplexities, scores).statistic), 8)
        assert rows["all that were trained, not comparable", method, ""][4] == 20
    assert table.notes[-2:] == (
        "Perplexities over other units or vocabularies, not comparable with the rest: gpt2, gpt2-words.",
        "Perplexities over words are not comparable between corpora, whose vocabularies differ.",
    )
    assert set(mixed.mixed) <= set(tables.cells(mixed).notes)
    assert all(line in figures.figure2(mixed).svg() for line in mixed.mixed)


def test_a_circuit_has_the_name_of_the_data_and_that_of_the_paper(mixed: _study.Study) -> None:
    said = "Gross Syntactic State (its name in the published data): Gross Syntactic Expectation in the paper"
    renamed = replace(mixed, circuits={"number_src": "Gross Syntactic State"})
    for draw in (figures.figure4_by_class, figures.figure4_by_corpus, figures.figure5):
        assert said in str(draw(renamed).spec["title"])
        assert said not in str(draw(mixed).spec["title"])


def test_no_analysis_of_an_experiment_mixes_perplexities(mixed: _study.Study) -> None:
    study = mixed.as_published()
    judged = [*dissociation(study, None), *within_a_class(study)]
    models = {row.models for row in judged}
    assert "all" not in models
    assert {"without GPT-2", "word-level neural models"} < models
    [(_, small), (_, whole)] = findings.verdicts(judged, study)
    assert set(study.mixed) <= set(small.notes) & set(whole.notes)
    # Over the same words, nothing is left out.
    alike = replace(mixed, items=mixed.items.filter(~pl.col("model").is_in(mixed.unlike)), unlike=())
    assert "all" in {row.models for row in dissociation(alike.as_published(), None)}
    assert tables.correlations(alike).rows[0][0] == "all that were trained"


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
