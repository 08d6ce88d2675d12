"""syntagm figure and syntagm table: what there is, what is written, and what is never replaced."""

import csv
import io
from importlib import import_module
from pathlib import Path
from unittest.mock import patch

import pytest
from report_examples import crossed, gaps
from toy_runs import agreement, interrupt, pairs, toy_run

from syntagm.cli import main
from syntagm.runs import Run
from syntagm.suites import Suite
from syntagm.views import by_name, estimates

PLAIN = pairs("plain", ("the dog barks", "the dog bark"), ("the cats sleep", "the cats sleeps"))


@pytest.fixture
def runs(tmp_path: Path) -> list[str]:
    toy_run(tmp_path / "toy", agreement(), PLAIN)
    toy_run(tmp_path / "random", agreement(), PLAIN, model="random:?seed=3")
    return [str(tmp_path / name) for name in ("toy", "random")]


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, str]]:
    assert main(["table", *words, "--format", "csv"]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


@pytest.mark.parametrize("kind", ["figure", "table"])
def test_the_list_names_all_that_runs_give(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([kind, "--list"]) == 0
    shown = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert shown == [*by_name.offering(kind), *by_name.offering(kind, "reading_times.views")]
    assert {"figure": {"scores", "margins"}, "table": {"scores", "comparison", "items"}}[kind] <= set(shown)


def test_scores(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    rows = printed(capsys, "scores", runs[0])
    # agreement: 1 of 3 holds, 1 ties; plain: both hold.
    assert [(row["suite"], row["measure"], float(row["score"]), row["n"], row["ties"]) for row in rows] == [
        ("agreement", "verb", 1 / 3, "3", "1"),
        ("plain", "full_sentence", 1.0, "2", "0"),
        ("mean of 2 suites", "first", 2 / 3, "5", "1"),
    ]
    assert all(row["low"] and row["high"] for row in rows)
    each = printed(capsys, "scores", runs[0], "measure=each")
    assert [row["measure"] for row in each] == ["verb", "full_sentence", "full_sentence"]


def test_wide_tables_keep_interval_and_n_in_each_cell(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    rows = printed(capsys, "scores", *runs, "wide=yes")
    assert rows[0]["toy:12-sentences"] == "0.333 [0.061, 0.792] n=3, 1 tie"
    assert all(" n=" in row[name] for row in rows for name in list(row)[3:])


def test_groups(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    [row] = printed(capsys, "groups", runs[0])
    assert (row["by"], row["group"], row["suites"], row["n"]) == ("circuit", "Agreement", "1", "3")
    assert main(["table", "groups", runs[0], "by=colour"]) == 2
    assert "one of circuit" in capsys.readouterr().err


def test_comparison_and_flips(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    rows = printed(capsys, "comparison", *runs)
    assert [row["suite"] for row in rows] == ["agreement", "plain", "mean of 2"]
    for row in rows[:2]:
        assert float(row["B - A"]) == pytest.approx(float(row["score B"]) - float(row["score A"]))
        assert float(row["p Holm"]) >= float(row["p Benjamini-Hochberg"]) >= float(row["p"])
        for side in ("A", "B"):
            assert float(row[f"low {side}"]) <= float(row[f"score {side}"]) <= float(row[f"high {side}"])
    assert (rows[2]["n"], rows[2]["p Holm"]) == ("5", "")
    assert 0 < float(rows[2]["p"]) <= 1
    assert float(rows[2]["low A"]) < float(rows[2]["score A"]) < float(rows[2]["high A"])
    flipped = printed(capsys, "discordant", *runs)
    assert len(flipped) == sum(int(row["only A"]) + int(row["only B"]) for row in rows[:2])
    assert main(["table", "comparison", runs[0]]) == 2
    assert main(["table", "discordant", runs[0]]) == 2


def test_items(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    rows = printed(capsys, "items", runs[0], "suite=agreement")
    assert [(row["item"], row["holds"]) for row in rows] == [("2", "0"), ("3", "0"), ("1", "1")]
    assert float(rows[0]["margin of toy:12-sentences (bits)"]) == pytest.approx(-1)
    assert main(["table", "items", runs[0]]) == 2
    assert "suite=NAME, one of agreement, plain" in capsys.readouterr().err


def test_undefined_items_and_one_item(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    toy_run(tmp_path, crossed(), pairs("single", ("the dog barks", "the dog bark")))
    undefined, single, mean = printed(capsys, "scores", str(tmp_path))
    assert (undefined["score"], undefined["n"], undefined["undefined"]) == ("", "0", "1")
    assert (single["score"], single["low"], single["n"]) == ("1", "", "1")
    assert mean["score"] == ""


def test_suites_of_one_name_with_different_contents_stay_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = [toy_run(tmp_path / str(k), agreement(nouns=nouns)) for k, nouns in enumerate((("dog",), ("dog", "cat")))]
    rows = printed(capsys, "scores", *(str(run.folder) for run in made))
    assert [row["suite"] for row in rows] == [f"agreement @{run.suite('agreement').hash[:8]}" for run in made]


@pytest.mark.parametrize("name", by_name.offering("table"))
def test_no_table_shows_a_mean_without_n_and_an_interval(name: str) -> None:
    columns = getattr(import_module(f"syntagm.views.{name}"), "COLUMNS", ())
    if {"score", "score A", "mean"} & set(columns):
        assert {"n", "low", "high"} <= set(columns)
    for side in ("A", "B"):
        assert f"score {side}" not in columns or {f"low {side}", f"high {side}"} <= set(columns)


def test_files_and_what_is_not_replaced(runs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stem = tmp_path / "out" / "scores"
    for _ in range(2):  # its own files are replaced
        assert main(["table", "scores", runs[0], "-o", str(stem)]) == 0
    assert sorted(path.name for path in stem.parent.iterdir()) == ["scores.csv", "scores.md", "scores.tex"]
    assert r"\toprule" in (stem.parent / "scores.tex").read_text()
    mine = tmp_path / "thesis.tex"
    mine.write_text("years of work")
    assert main(["table", "scores", runs[0], "-o", str(tmp_path / "thesis"), "--format", "latex"]) == 2
    assert "--force" in capsys.readouterr().err
    assert mine.read_text() == "years of work"
    assert main(["table", "scores", runs[0], "-o", str(tmp_path / "thesis"), "--format", "latex", "--force"]) == 0


@pytest.mark.slow
def test_the_table_and_the_figure_of_a_view_share_a_stem(runs: list[str], tmp_path: Path) -> None:
    command = ["effects", runs[0], "-o", str(tmp_path / "effects")]
    for _ in range(2):
        assert main(["figure", *command]) == 0
        assert main(["table", *command, "--format", "latex"]) == 0
        assert main(["table", *command]) == 0
    endings = {"csv", "md", "tex", "pdf", "png", "svg", "vl.json"}
    assert {path.name for path in tmp_path.glob("effects.*")} == {f"effects.{ending}" for ending in endings}


def test_a_table_in_one_format_replaces_its_own_file(runs: list[str], tmp_path: Path) -> None:
    for _ in range(2):
        assert main(["table", "scores", runs[0], "-o", str(tmp_path / "scores"), "--format", "latex"]) == 0
    assert [path.name for path in tmp_path.glob("scores.*")] == ["scores.tex"]


@pytest.mark.parametrize(("first", "second", "ending"), [("figure", "table", "tex"), ("table", "figure", "png")])
def test_a_file_of_a_person_beside_the_other_product_of_a_view_is_spared(
    runs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], first: str, second: str, ending: str
) -> None:
    command = ["effects", runs[0], "-o", str(tmp_path / "effects")]
    assert main([first, *command, "--format", {"figure": "svg", "table": "csv"}[first]]) == 0
    mine = tmp_path / f"effects.{ending}"
    mine.write_text("years of work")
    assert main([second, *command]) == 2
    assert f"{mine}: a file that syntagm did not write" in capsys.readouterr().err
    assert mine.read_text() == "years of work"


@pytest.mark.parametrize("name", sorted({*by_name.offering("table")} & {*by_name.offering("figure")}))
def test_views_with_a_table_and_a_figure_declare_the_columns_of_both(name: str) -> None:
    assert all(len(columns) > 3 for columns in by_name.headers(name))


@pytest.mark.slow
def test_figures_and_their_numbers(runs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stem = str(tmp_path / "figure")
    assert main(["figure", "scores", *runs, "-o", stem, "--format", "svg"]) == 0
    rows = list(csv.DictReader(io.StringIO(Path(f"{stem}.csv").read_text())))
    assert len(rows) == 4
    assert main(["figure", "margins", runs[0], "suite=plain", "-o", stem, "--format", "svg"]) == 2
    assert "a different header" in capsys.readouterr().err
    assert main(["figure", "regions", *runs, "suite=agreement", "-o", f"{stem}2", "--format", "svg"]) == 0
    assert main(["figure", "margins", *runs, "suite=plain", "-o", f"{stem}3", "--format", "svg"]) == 0
    assert main(["figure", "regions", runs[0], "suite=plain", "-o", stem]) == 2
    assert "sentences without regions" in capsys.readouterr().err


def test_refusals(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in (
        (["scores"], "no runs"),
        (["score", runs[0]], "Did you mean scores?"),
        (["regions", runs[0]], "It is a figure: syntagm figure regions"),
        (["scores", runs[0], "mesure=all"], "no option 'mesure'"),
        (["scores", runs[0], "measure=nonsense"], "'nonsense', which no suite has"),
        (["scores", runs[0], "wide=1"], "yes or no"),
        (["groups", runs[0], "by=nonsense"], "a tag of the items are in the table `factors`"),
        (["factors", runs[0]], "by=: nothing; expected"),
    ):
        assert main(["table", *words]) == 2
        assert said in capsys.readouterr().err


def test_an_unfinished_run_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run: Run = toy_run(tmp_path, agreement(), gaps())
    interrupt(run.folder)
    assert main(["table", "scores", str(tmp_path)]) == 1
    assert "not finished" in capsys.readouterr().err


def test_a_suite_without_predictions_stands_in_no_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # `run` refuses such a suite, but a run directory may come from an earlier version.
    with patch("syntagm.evaluation.predictions.refuse_no_predictions", lambda suite: None):
        run = toy_run(tmp_path, Suite("bare", PLAIN.items, ()), PLAIN)
    assert estimates.predictions(run)["bare"] == ()
    assert [row["suite"] for row in printed(capsys, "scores", str(tmp_path))] == ["plain", "mean of 1 suite"]


@pytest.mark.parametrize("command", [pytest.param("report", marks=pytest.mark.slow), "export", "compare"])
def test_other_commands_spare_files_too(command: str, runs: list[str], tmp_path: Path) -> None:
    words = {
        "report": ["report", runs[0]],
        "export": ["export", runs[0], "--as", "scores"],
        "compare": ["compare", *runs],
    }[command]
    mine, ours = tmp_path / "notes", tmp_path / "ours"
    mine.write_text("notes of mine")
    assert main([*words, "-o", str(mine)]) == 2
    assert mine.read_text() == "notes of mine"
    for _ in range(2):
        assert main([*words, "-o", str(ours)]) == 0
    assert main([*words, "-o", str(mine), "--force"]) == 0
    assert mine.read_text() == ours.read_text() != "notes of mine"


@pytest.mark.parametrize(("kind", "name", "format"), [("table", "x.tex", "latex"), ("figure", "x.svg", "svg")])
def test_a_stem_with_an_ending_is_refused(
    kind: str, name: str, format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    toy_run(tmp_path / "run", agreement())
    assert main([kind, "scores", str(tmp_path / "run"), "-o", str(tmp_path / name)]) == 2
    assert f"-o x --format {format}" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_latex_has_the_columns_that_fit_and_a_label(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", "comparison", *runs, "--format", "latex"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2:4] == [r"\caption{Paired comparison.}", r"\label{tab:paired-comparison}"]
    assert lines[6] == r"suite & n & score A & score B & B $-$ A & 95\% interval & only A & only B & p Holm \\"
    assert r"\footnotesize A: toy:12-sentences. B: random:" in lines[-2]
    assert main(["table", "comparison", *runs, "--format", "latex", "--columns", "all"]) == 0
    assert capsys.readouterr().out.splitlines()[6].count("&") == 17
    assert main(["table", "comparison", *runs, "--format", "latex", "--columns", "suite, p"]) == 0
    assert capsys.readouterr().out.splitlines()[6] == r"suite & p \\"
    assert main(["table", "comparison", *runs, "--columns", "nope"]) == 2
    assert "'nope'; expected 'all', or one or more of A, B, suite" in capsys.readouterr().err
    assert main(["table", "effects", runs[0], "suite=agreement", "--format", "latex"]) == 0
    assert (
        r"toy:12-sentences & agreement & verb & 3 & 0.195 & [$-$3.043, 3.433] & 0.150 & 2: bad $-$ good \\"
        in capsys.readouterr().out
    )
    # The column `measure` tells the predictions of a suite apart; a single one needs no name.
    assert main(["table", "effects", runs[0], "suite=agreement", "measure=verb", "--format", "latex"]) == 0
    assert "agreement & 3 & 0.195" in capsys.readouterr().out
    assert main(["table", "effects", *runs, "suite=agreement", "paired=yes", "--format", "latex"]) == 0
    assert "suite & measure & n" in capsys.readouterr().out
