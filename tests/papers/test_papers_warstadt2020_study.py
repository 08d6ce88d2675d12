"""The training study of BLiMP: samples of a corpus, their models, and the learning curves over them."""

import argparse
import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from syntagm.cli import main, reproduce
from syntagm.core import UsageError
from syntagm.papers import Cell, Design, paper as papers
from syntagm.papers.experiment.design import cell_of
from syntagm.papers.warstadt2020 import study
from syntagm.papers.warstadt2020.reproduce import PAPER


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    nouns, verbs = ("dog", "cat", "bird", "girl"), ("sees", "likes", "hears")
    lines = [f"The {a} that {v} the {b} {w} it ." for a in nouns for b in nouns for v in verbs for w in verbs]
    for name in ("train", "valid", "test"):
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    return folder


def command(texts: Path, out: Path, *more: str) -> list[str]:
    files = [part for name in ("corpus", "valid", "test") for part in (f"--{name}", str(texts / f"{_FILE[name]}.txt"))]
    suites = ["warstadt2020/regular_plural_subject_verb_agreement_1", "warstadt2020/anaphor_number_agreement"]
    small = ["--families", "ngram", "--sizes", "xs=100,sm=400", "--suite", *suites, "-n", "4", "-o", str(out)]
    return ["reproduce", "warstadt2020", *files, *small, *more]


_FILE = {"corpus": "train", "valid": "valid", "test": "test"}


@pytest.mark.slow
def test_a_study_has_its_samples_its_means_and_its_figure(texts: Path, tmp_path: Path) -> None:
    assert main(command(texts, tmp_path, "--samples", "3")) == 0
    assert sorted(path.stem for path in (tmp_path / "corpora").iterdir()) == [
        "sm",
        "sm.2",
        "sm.3",
        "xs",
        "xs.2",
        "xs.3",
    ]
    samples = [set((tmp_path / "corpora" / f"sm{part}.txt").read_text().splitlines()) for part in ("", ".2", ".3")]
    assert len({frozenset(lines) for lines in samples}) == 3
    for part, lines in zip(("", ".2", ".3"), samples, strict=True):
        assert set((tmp_path / "corpora" / f"xs{part}.txt").read_text().splitlines()) < lines
    table = pl.read_csv(tmp_path / "results.csv")
    assert table.select("family", "size", "sample", "seed").rows() == [
        ("ngram", size, sample, 0) for size in ("xs", "sm") for sample in (1, 2, 3)
    ]
    means = pl.read_csv(tmp_path / "table_means.csv")
    own = table.filter(pl.col("size") == "sm")["all"]
    [row] = means.filter((pl.col("category") == "all") & (pl.col("words") == 400)).iter_rows(named=True)
    assert (row["accuracy"], row["samples"], row["models"]) == (pytest.approx(own.mean()), 3, 3)
    assert row["sd"] == pytest.approx(own.std())
    assert {"slope", "category"} <= set(pl.read_csv(tmp_path / "table_slopes.csv").columns)
    figure = (tmp_path / "learning_curve.svg").read_text()
    assert "for other samples of the corpus" in figure
    # The paper's bars beside our band, also for screen readers.
    assert "bar: standard deviation over samples" in figure
    assert f"standard deviation {own.std():.3f}" in figure
    drawn = pl.read_csv(tmp_path / "learning_curve.csv", null_values="nan")
    chosen = (pl.col("phenomenon") == "all") & (pl.col("words") == 400) & pl.col("sd").is_not_null()
    assert drawn.filter(chosen)["sd"].to_list() == [pytest.approx(own.std())]
    # The items per suite are those that were asked for.
    assert pl.read_csv(tmp_path / "runs" / "ngram-xs.2" / "results.csv")["item"].n_unique() <= 8


@pytest.mark.slow
def test_samples_are_added_without_computing_the_others_again(texts: Path, tmp_path: Path) -> None:
    assert main(command(texts, tmp_path, "--samples", "1")) == 0
    assert json.loads((tmp_path / "experiment.json").read_text())["samples"] == 1
    assert pl.read_csv(tmp_path / "results.csv").columns[:3] == ["family", "size", "seed"]
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("models/*/model.safetensors")}
    assert main(command(texts, tmp_path, "--samples", "2")) == 0
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert len(list(tmp_path.glob("models/*"))) == 4
    # A command for one sample leaves the record of both, and says so in the results.
    assert main(command(texts, tmp_path, "--samples", "1")) == 0
    assert json.loads((tmp_path / "experiment.json").read_text())["samples"] == 2
    assert len(pl.read_csv(tmp_path / "results.csv")) == 4
    assert main(["integrity", str(tmp_path)]) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--samples", "0"), "samples: 0; expected at least 1"),
        (("--sizes", "xs.2=100"), "a name that doesn't end like xs.2"),
        (("-n", "0"), "n"),
    ],
)
def test_what_is_refused(
    texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], message: str
) -> None:
    assert main(command(texts, tmp_path / "out", *options)) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_plan_counts_samples(texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command(texts, tmp_path / "out", "--plan")) == 0
    said = capsys.readouterr().out
    assert "6 models" in said
    assert "drawn with seeds 1 to 3" in said
    assert PAPER.experiment
    assert PAPER.experiment.samples == 3


def test_the_sizes_of_the_papers(texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    reproduce.arguments(parser)

    def design(paper: str, *more: str) -> Design:
        options = parser.parse_args([*command(texts, tmp_path)[1:], "--sizes", "paper", *more])
        experiment = papers.find(paper).experiment
        assert experiment
        return reproduce.given(options, experiment, ())

    assert [*design("warstadt2020").sizes.values()] == [64_000_000 // 2**power for power in range(9, -1, -1)]
    assert [*design("warstadt2020").sizes][::3] == ["125k", "1m", "8m", "64m"]
    assert (design("warstadt2020").samples, design("warstadt2020", "--samples", "2").samples) == (5, 2)
    assert design("hu2020").sizes == {"xs": 1_000_000, "sm": 4_800_000, "md": 14_000_000, "lg": 42_000_000}
    assert design("hu2020").samples == 1
    with pytest.raises(UsageError, match="'paper'; expected NAME=VALUE"):
        design("marvin2018")
    assert main(command(texts, tmp_path / "out", "--sizes", "a=100,b=200,c=99999", "--plan")) == 2
    assert "These fit: --sizes a=100,b=200" in capsys.readouterr().err


def test_names_of_a_first_sample_are_those_of_studies_with_one() -> None:
    cells = Design(Path(), [], [], [], {"xs": 10}, [1], {"ngram": {}, "lstm": {}}, samples=2).cells()
    assert [cell.name for cell in cells] == ["ngram-xs", "lstm-xs-1", "ngram-xs.2", "lstm-xs.2-1"]
    assert cell_of({"family": "lstm", "size": "xs", "seed": 1}) == Cell("lstm", "xs", 1)


@pytest.mark.slow
@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 4), st.floats(0, 1)), min_size=1, max_size=12))
def test_a_mean_is_over_samples_and_inside_its_interval(models: list[tuple[int, float]]) -> None:
    points = pl.DataFrame(
        {
            "phenomenon": ["all"] * len(models), "family": ["lstm"] * len(models), "words": [10] * len(models),
            "model": [str(number) for number in range(len(models))], "value": [value for _, value in models],
        }
    )  # fmt: skip
    [row] = study.over_samples(points, {str(at): sample for at, (sample, _) in enumerate(models)}).iter_rows(named=True)
    by_sample = [[value for own, value in models if own == sample] for sample in {sample for sample, _ in models}]
    expected = sum(sum(values) / len(values) for values in by_sample) / len(by_sample)
    assert row["value"] == pytest.approx(expected, abs=1e-9)
    assert (row["n"], row["samples"]) == (len(models), len(by_sample))
    if len(by_sample) > 1:
        assert 0 <= row["low"] <= row["value"] + 1e-9
        assert row["value"] - 1e-9 <= row["high"] <= 1
    else:
        assert row["low"] != row["low"]
