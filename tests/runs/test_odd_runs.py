"""Every table and figure that can be made of runs, of runs with ties, undefined items, one item, one model, mixed materials."""

import csv
from pathlib import Path

import pytest
from toy_runs import FULL, agreement, pairs, toy_run

from syntagm.cli import main
from syntagm.stats import planning
from syntagm.suites import Item, Prediction, Region, Sentence, Suite, parse
from syntagm.views import by_name

OPTIONS = {
    "normalised": ["unigrams={text}"],
    "lexical": ["by=noun"],
    "clustered": ["by=noun"],
    "items": ["suite=agreement"],
    "words": ["suite=agreement"],
    "regions": ["suite=agreement"],
    "margins": ["suite=agreement"],
    "trajectory": ["x=1,2"],
    "trajectory_gap": ["x=1,2", "series=a,b"],
    "learning_curve": ["words=1000,2000"],
}
SCORES = ("score", "accuracy", "B - A", "value", "score at the end")


def broken(name: str = "broken") -> Suite:
    """Two items: a border within a word, so that one prediction is undefined; the other prediction is a tie."""
    texts = {"good": "The dog ran", "bad": "The dog ran"}
    halves = {key: Sentence(text, (Region("1", 0, 6), Region("2", 6, len(text)))) for key, text in texts.items()}
    items = tuple(Item(str(k), halves, {"noun": "dog"}) for k in range(2))
    return Suite(name, items, (Prediction("verb", parse("(2;%good%) < (2;%bad%)")), FULL), {"circuit": "Odd"})


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two runs: mixed materials with undefined items and ties; the same under another model."""
    folder_of_all = tmp_path_factory.mktemp("odd")
    (folder_of_all / "other.txt").write_text("the dog barks\nthe bird bark\nthe cat barks\n")
    suites = (agreement(), broken(), agreement("single", ("dog",)), pairs("pairs", ("the dog barks", "the dog bark")))
    toy_run(folder_of_all / "a", *suites)
    toy_run(folder_of_all / "b", *suites, model=f"toy:{folder_of_all / 'other.txt'}")
    return [str(folder_of_all / "a"), str(folder_of_all / "b")]


@pytest.fixture(autouse=True)
def _few_studies(monkeypatch: pytest.MonkeyPatch) -> None:
    """How precise a plan is, is no matter here."""
    monkeypatch.setattr(planning, "STUDIES", 20)


def options(name: str, odd: list[str], runs: int) -> list[str]:
    text = str(Path(odd[0]).parent / "other.txt")
    return [one.format(text=text) if runs > 1 or not one.startswith("x=") else "x=1" for one in OPTIONS.get(name, [])]


@pytest.mark.parametrize("name", by_name.offering("table"))
@pytest.mark.parametrize("runs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_tables_are_made_or_refused_in_words(
    name: str, runs: int, odd: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["table", name, *odd[:runs], *options(name, odd, runs), "-o", str(tmp_path / "table")])
    shown = capsys.readouterr()
    if code == 2:
        assert "expected" in shown.err
        return
    assert code == 0
    assert "nan" not in (tmp_path / "table.md").read_text().split()
    with (tmp_path / "table.csv").open() as file:
        for row in csv.DictReader(file):
            # In a plan, B - A is the difference that is assumed.
            means = [column for column in SCORES if column in row and name != "power"]
            # A mean stands beside how many items it rests on and its interval; without items there is no mean.
            assert not means or {"n", "low", "high"} <= row.keys()
            assert not means or row["n"] != "0" or row[means[0]] == ""
            assert not means or row["n"] != "1" or row["low"] == row["high"] == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", by_name.offering("figure"))
@pytest.mark.parametrize("runs", [2, pytest.param(1, marks=pytest.mark.slow)])
def test_figures_are_drawn_or_refused_in_words(
    name: str, runs: int, odd: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["figure", name, *odd[:runs], *options(name, odd, runs), "-o", str(tmp_path / "figure"), "--format", "svg"]
    code = main(line)
    shown = capsys.readouterr()
    if code == 2:
        assert "expected" in shown.err
        return
    assert code == 0
    assert "NaN" not in (tmp_path / "figure.svg").read_text()
