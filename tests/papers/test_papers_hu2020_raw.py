"""The raw data of Hu et al. 2020 in a small made-up form: read, prepared by pencil, refused, and with parts missing."""

import csv
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import raw_hu2020

from syntagm.cli import main
from syntagm.core import InputError, UsageError
from syntagm.papers import circuit_of, paper as papers
from syntagm.papers.hu2020 import figures as _hu2020_figures, reproduce as hu2020
from syntagm.papers.hu2020.raw import Raw, build_study, completeness_table, read, with_suites
from syntagm.stats import bootstrap
from syntagm.views import Table


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return raw_hu2020.write(tmp_path / "raw")


@pytest.fixture
def raw(folder: Path) -> Raw:
    return read(folder)


# What there is of models that were trained for the study, with perplexities.
TRAINED = {"figure2", "figure3", "figure4_by_class", "cells", "deltas", "regressions", "table4", "correlations"}


def share(name: str, corpus: str, seed: str, suite: str) -> float:
    """A suite score, from the lines of the file."""
    answers = [row.split(",")[3] for row in raw_hu2020.lines(name, corpus, seed) if row.split(",")[1] == suite]
    return answers.count("True") / len(answers)


def test_rows_of_results(raw: Raw) -> None:
    # 14 models of 4 + 4 + 3 + 1 items.
    assert len(raw.items) == 14 * 12
    row = raw.items.row(0, named=True)
    assert row == {
        "model": "gpt-2", "corpus": "bllip-xs-gptbpe", "seed": 158, "suite": "mvrr", "item": "0",
        "value": float(raw_hu2020.lines("gpt-2", "bllip-xs-gptbpe", "158")[0].endswith("True")),
    }  # fmt: skip
    assert set(raw.items.filter(pl.col("model") == "vanilla")["seed"]) == {111, 120}, "0111 is 111"


def test_preparation(raw: Raw) -> None:
    study = build_study(raw)
    instances = study.items.select("model", "corpus", "seed").unique().sort("model", "corpus", "seed").rows()
    # Without n-grams that don't break ties, without a GPT-2 on words; the n-gram's seeds are one.
    assert instances == [
        ("gpt-2", "LG", 159), ("gpt-2", "XS", 158), ("grnn", "", 0), ("ngram", "XS", 0), ("rnng", "LG", 7),
        ("rnng", "LG", 8), ("rnng", "XS", 7), ("vanilla", "LG", 111), ("vanilla", "XS", 111), ("vanilla", "XS", 120),
    ]  # fmt: skip
    assert study.suites == ["mvrr", "mvrr_mod", "number_src"]
    assert study.circuits == {
        "mvrr": "Garden-Path Effects",
        "mvrr_mod": "Garden-Path Effects",
        "number_src": "Agreement",
    }
    scores = {row[:4]: row[4] for row in study.scores().iter_rows()}
    assert scores["rnng", "LG", 8, "mvrr"] == share("rnng", "bllip-lg", "8", "mvrr")


def test_votes_and_means_of_tie_breaking_seeds(raw: Raw) -> None:
    answers = [[row.endswith("True") for row in raw_hu2020.lines("ngram", "bllip-xs", seed)[:4]] for seed in "012"]
    votes = [sum(item) > 1.5 for item in zip(*answers, strict=True)]
    means = [sum(item) / 3 for item in zip(*answers, strict=True)]
    for ngram, expected in (("vote", sum(votes) / 4), ("mean", sum(means) / 4)):
        scores = (
            build_study(raw, ngram=ngram).scores().filter((pl.col("model") == "ngram") & (pl.col("suite") == "mvrr"))
        )
        assert scores["score"].to_list() == [pytest.approx(expected)]


def test_sets_of_suites(raw: Raw) -> None:
    assert len(with_suites(raw.items, "34")) == len(raw.items)
    assert set(with_suites(raw.items, "33")["suite"]) == {"mvrr", "mvrr_mod", "number_src"}
    with pytest.raises(UsageError, match="one of 31, 33, 34"):
        build_study(raw, suites="30")
    with pytest.raises(UsageError, match="one of vote, mean"):
        build_study(raw, ngram="first")


def test_chance_is_exact_or_that_of_the_random_file(folder: Path) -> None:
    # mvrr 7/24 each, number 1/4: (7/24 + 7/24 + 1/4) / 3 = 5/18.
    assert build_study(read(folder)).chance == pytest.approx(5 / 18, abs=1e-4)
    rows = [f"random__{seed},{suite},0,{seed == 0}" for suite in raw_hu2020.SUITES for seed in range(5)]
    (folder / "sg_results" / "random.csv").write_text("\n".join(["model,suite,item,correct", *rows]) + "\n")
    # One of five draws is right everywhere.
    assert build_study(read(folder)).chance == pytest.approx(1 / 5)


def test_circuits_go_by_the_beginning_of_a_name() -> None:
    found = {circuit_of(name) for name in ("fgd_subject", "fgd-embed3", "cleft_modifier")}
    assert found == {"Long-Distance Dependencies"}
    assert circuit_of("nn-nv-rpl") == ""


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("sg_results/x.csv", "model,suite,item\na__0,mvrr,0\n", "no column 'correct' (the columns are 'model', 'suite', 'item')"),
        ("sg_results/x.csv", "model,suite,item,correct\na__0,mvrr,0,yes\n", "line 2: correct is 'yes'; expected True or False"),
        ("sg_results/x.csv", "model,suite,item,correct\na__0,mvrr,0,\n", "line 2: correct is None"),
        ("sg_results/x.csv", "model,suite,item,correct\na__0,mvrr,,True\n", "line 2: no item"),
        ("sg_results/x.csv", "model,suite,item,correct\na__0,anaphora,0,True\n", "an unknown suite 'anaphora'"),
        ("sg_results/x.csv", "model,suite,item,correct\na,mvrr,0,True\n", "a model named 'a'; expected NAME_CORPUS_SEED"),
        ("sg_results/x.csv", "model,suite,item,correct\ngrnn__0,mvrr,0,True\n", "item 0 of mvrr 2 times for grnn__0"),
        ("sg_results/x.csv", "model,suite,item,correct\na__0,mvrr,0,True\n", "no answer of a__0 to item 1 of mvrr; expected one"),
        ("sg_results/x.csv", "", "no column 'model' (the columns are none)"),
        ("sg_results/x.csv", "model,suite,item,correct\n", "a header and no rows"),
        ("sg_results/x.csv", b"model,suite\xff\xfe", "which is not UTF-8"),
        ("perplexity.csv", "model,corpus,seed\n", "no column 'test_ppl'"),
        ("perplexity.csv", "model,corpus,seed,test_ppl\nvanilla,bllip-xs,0111,low\n", "line 2: no seed or no perplexity"),
        ("perplexity.csv", "model,corpus,seed,test_ppl\nvanilla,bllip-xs,0111,nan\n", "line 2: no seed or no perplexity"),
        ("perplexity.csv", "model,corpus,seed,test_ppl\na,b,1,2\na,b,01,3\n", "two perplexities of a_b_1"),
    ],
)  # fmt: skip
def test_files_that_are_not_what_they_should_be(folder: Path, name: str, text: str | bytes, found: str) -> None:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError) as error:
        read(folder)
    assert found in str(error.value)
    assert Path(name).parent.name in str(error.value) or Path(name).name in str(error.value)


def test_folders_without_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for place in (tmp_path, tmp_path / "none"):
        assert main(["reproduce", "hu2020", "--from-raw", str(place), "-o", str(tmp_path / "out")]) == 2
        assert "no results of Hu et al. 2020; expected a folder with sg_results/*.csv" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("models", "perplexity", "lacking", "unknown"),
    [
        (("vanilla", "rnng", "gpt-2", "ngram"), True, set(), "no results of GPT-2-XL"),
        (("vanilla",), False, {"figure2", "table4", "correlations"}, "no perplexities"),
        (("grnn",), False, TRAINED, "no results of"),
    ],
)
@pytest.mark.slow
def test_parts_that_are_missing(
    tmp_path: Path, models: tuple[str, ...], perplexity: bool, lacking: set[str], unknown: str
) -> None:
    with bootstrap.using(bootstrap.Resampling(simulated=0)):
        made = dict(hu2020.from_raw(read(raw_hu2020.write(tmp_path / "raw", models, perplexity))))
    assert (TRAINED | {"figure1"}) - made.keys() == lacking
    differences = made["differences"]
    assert isinstance(differences, Table)
    computed = [str(row[2]) for row in differences.rows if row[3] == "not computed"]
    assert any(unknown in text for text in computed)
    # What can't be fitted is said in the table.
    if isinstance(regressions := made.get("regressions"), Table):
        assert [row[0] for row in regressions.rows] == [
            "full", "no_size", "no_architecture", "circuit_full", "circuit_no_size", "circuit_no_architecture",
        ]  # fmt: skip
        failed = [row[0] for row in regressions.rows if row[1] is None]
        assert all(any(note.startswith(f"{name} is not fitted: ") for note in regressions.notes) for name in failed)


def test_choices(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["reproduce", "hu2020", "--from-raw", str(folder), "-o", str(tmp_path / "out"), "--set"]
    assert main([*line, "seed=1"]) == 2
    assert "no option 'seed'; expected one of suites, ngram" in capsys.readouterr().err
    assert main([*line, "suites=30"]) == 2
    assert "suites: '30'; expected one of 31, 33, 34" in capsys.readouterr().err


def test_the_bootstrap_is_refused_where_there_are_no_tests(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["-o", str(tmp_path / "out"), "--bootstrap"]
    assert main(["reproduce", "hu2020", "--from-raw", str(folder), *line, "99"]) == 2
    assert "--bootstrap: 99; expected at least 100, or 0" in capsys.readouterr().err
    for paper, way in (("hu2020", "--from-run"), ("warstadt2020", "--from-raw")):
        assert main(["reproduce", paper, way, str(folder), *line, "100"]) == 2
        assert f"given with {paper} {way}; expected results with likelihood-ratio tests" in capsys.readouterr().err


def test_the_raw_data_are_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls: list[Path] = []

    def once(place: Path) -> Raw:
        calls.append(place)
        return read(place)

    paper = replace(hu2020.PAPER, read=once, from_raw=lambda raw: [("completeness", completeness_table(raw))])
    monkeypatch.setattr(papers, "find", lambda name: paper)
    assert main(["reproduce", "hu2020", "--from-raw", str(folder), "-o", str(tmp_path / "out"), "--strict"]) == 1
    assert calls == [folder]


@pytest.mark.slow
def test_processes_that_order_sets_differently_write_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    written = []
    for seed in ("1", "2"):
        out = tmp_path / seed
        line = [sys.executable, "-m", "syntagm", "reproduce", "hu2020", "--from-raw", str(folder), "-o", str(out)]
        line += ["--set", "suites=34", "ngram=mean", "--bootstrap", "100"]
        subprocess.run(line, env={**os.environ, "PYTHONHASHSEED": seed}, check=True)
        written.append({path.name: path.read_bytes() for path in out.glob("*.csv")})
    assert written[0].keys() == written[1].keys() >= {"multiverse.csv", "regression_coefficients.csv"}
    assert [name for name in written[0] if written[0][name] != written[1][name]] == []


@pytest.mark.slow
def test_the_command(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    line = ["reproduce", "hu2020", "--from-raw", str(folder), "-o", str(out)]
    assert main([*line, "--set", "suites=34", "ngram=mean", "--bootstrap", "100"]) == 0
    shown = capsys.readouterr().out
    assert "Likelihood-ratio test: up to 100 simulated responses of performance ~" in shown
    with (out / "regression_tests.csv").open() as file:
        tests = list(csv.DictReader(file))
    assert tests
    assert all(re.match(r"parametric bootstrap\((\d+ of )?100, seed 1", row["method"]) for row in tests)
    with (out / "regression_coefficients.csv").open() as file:
        for row in csv.DictReader(file):
            assert (float(row["low"]) > 0 or float(row["high"]) < 0) == (float(row["p"]) < 0.05)
    assert "## The printed paper and its raw data" in shown
    names = {path.name.partition(".")[0] for path in out.iterdir()}
    figures = {f"figure{number}" for number in (1, 2, 3, 5, 6)} | {"figure4_by_class", "figure4_by_corpus"}
    assert figures < names
    for name in names:
        endings = {path.name.partition(".")[2] for path in out.glob(f"{name}.*")}
        assert endings == ({"csv", "svg", "png", "pdf", "vl.json"} if name in figures else {"csv", "md", "tex"})
    with (out / "regressions.csv").open() as file:
        assert next(csv.reader(file)) == ["model", "loglik", "aic", "bic"]
    with (out / "classes.csv").open() as file:
        found = {row["model"]: row for row in csv.DictReader(file)}
    suites = [share("grnn", "", "0", suite) for suite in raw_hu2020.SUITES]
    assert float(found["GRNN"]["score"]) == pytest.approx(sum(suites) / 4)


def test_what_was_trained_and_what_was_not_stand_apart(raw: Raw) -> None:
    figure = _hu2020_figures.figure1(build_study(raw))
    kinds = dict(figure.table.select("model", "kind").iter_rows())
    assert {name for name, kind in kinds.items() if kind == "off the shelf"} == {"GRNN"}
    assert {name for name, kind in kinds.items() if kind == "trained for the study"} == {
        "LSTM",
        "RNNG",
        "GPT-2",
        "n-gram",
    }
