"""The table of classes of models: means and spread over seeds, differences with their test, and how classes are named."""

from pathlib import Path

import pytest
from toy_runs import agreement, toy_run

import syntagm as sg
from syntagm.runs import Run


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("seeds")
    (folder / "other.txt").write_text("the dog barks\nthe bird barks\nthe cats bark\nthe cat bark\n")
    suites = (agreement("s"), agreement("t", ("cat", "dog", "dog", "dog")))
    models = {"toy-1": "toy", "toy-2": f"toy:{folder / 'other.txt'}", "noise-1": "random", "noise-2": "random?seed=2"}
    runs = [toy_run(folder / name, *suites, model=model) for name, model in models.items()]
    for run, name in zip(runs, models, strict=True):
        run.name = name
    return runs


def test_a_class_has_the_mean_and_spread_of_its_models(seeds: list[Run]) -> None:
    table = sg.table("classes", seeds)
    toy, noise, difference = table.to_frame().rows(named=True)
    assert (toy["class"], noise["class"], difference["class"]) == ("toy", "noise", "noise - toy")
    scores = [sg.table("scores", run).to_frame()["score"].to_list()[-1] for run in seeds]
    assert toy["score"] == pytest.approx(sum(scores[:2]) / 2)
    assert toy["sd"] == pytest.approx(abs(scores[0] - scores[1]) / 2**0.5)
    assert (toy["least"], toy["most"]) == (min(scores[:2]), max(scores[:2]))
    assert difference["score"] == pytest.approx(noise["score"] - toy["score"])
    assert difference["low"] <= 0 <= difference["high"]
    assert difference["p"] > 0.05
    assert "only 2" in toy["method"]
    assert "toy: toy-1, toy-2." in table.notes


def test_names_without_a_seed_are_classes_unless_they_are_given(seeds: list[Run]) -> None:
    one = sg.table("classes", seeds[:1]).to_frame().row(0, named=True)
    assert (one["class"], one["models"], one["sd"]) == ("toy", 1, None)
    given = sg.table("classes", seeds, classes="a,a,b,c").to_frame()["class"].to_list()
    assert given == ["a", "b", "c", "b - a", "c - a", "c - b"]
    with pytest.raises(sg.UsageError, match="2 names for 4 runs"):
        sg.table("classes", seeds, classes="a,b")


def test_runs_without_a_common_suite_are_refused(seeds: list[Run], tmp_path: Path) -> None:
    other = toy_run(tmp_path / "other", agreement("u"))
    with pytest.raises(sg.RunError, match="no suite has the same content"):
        sg.table("classes", [seeds[0], other])


def test_suites_that_not_all_runs_have_are_said_once(seeds: list[Run], tmp_path: Path) -> None:
    more = toy_run(tmp_path / "more", *(agreement(name) for name in "svwxyz"))
    notes = sg.table("classes", [seeds[0], more]).notes
    assert [note for note in notes if "Skipped" in note] == [
        "Skipped: suites t, v, w and 3 more, not in all runs with the same content."
    ]
