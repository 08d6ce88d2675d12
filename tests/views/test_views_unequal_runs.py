"""Runs of different suites beside each other: every number is of the model's own suites, never of those of another run."""

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import polars as pl
import pytest
from experiment_for_tests import pairs as of_words, planned
from masked_for_tests import masked
from toy_runs import FULL, agreement, pairs, toy_run

import syntagm as sg
from syntagm.cli import main
from syntagm.core import UsageError
from syntagm.experiment import Answer, Audit, people
from syntagm.models import load
from syntagm.papers.hu2020 import figures, study, tables
from syntagm.runs import Run, numbers_of_suites, run_suites
from syntagm.suites import Item, Prediction, Sentence, Suite, parse
from syntagm.views import (
    Figure,
    Table,
    ceiling,
    circuits,
    classes,
    conventions,
    correlation,
    groups,
    learning_curve,
    margins,
    methods,
    phenomena,
    scores,
    words,
)  # fmt: skip

DOG, CAT, BIRD = (
    ("The dog barks", "The dog bark"),
    ("The cat barks", "The cat bark"),
    ("The bird barks", "The bird bark"),
)
ISLANDS = {"linguistics_term": "islands", "circuit": "islands"}
# Of four differently ordered sentences, the first is the best: chance is 1/4 instead of 1/2.
HARD = Prediction("full_sentence", parse("((*;%good%) < (*;%bad%)) & ((*;%good%) < (*;%worse%))"))


def hard(name: str) -> Suite:
    texts = {"good": "The dog barks", "bad": "The dog bark", "worse": "The dog dog"}
    item = Item("1", {condition: Sentence(text) for condition, text in texts.items()})
    return Suite(name, (item,), (HARD,), ISLANDS)


def accuracy(run: Run, *suites: str) -> float:
    """The mean over suites, from the file of results alone."""
    rows = list(csv.DictReader((Path(run.place) / "results.csv").read_text().splitlines()))
    return mean(mean(float(row["value"]) for row in rows if row["suite"] == suite) for suite in suites)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Three suites of one group, with accuracies of 1, 1/2 and 0 over 2 items each."""
    suites = (
        pairs("a", DOG, DOG, tags=ISLANDS),
        pairs("b", DOG, CAT, tags=ISLANDS),
        pairs("c", CAT, BIRD, tags=ISLANDS),
    )
    return toy_run(tmp_path_factory.mktemp("unequal") / "large", *suites)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One of these suites with three other items, of which two are right."""
    return toy_run(tmp_path_factory.mktemp("unequal") / "small", pairs("b", DOG, CAT, DOG, tags=ISLANDS))


@pytest.fixture(scope="module")
def harder(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return toy_run(tmp_path_factory.mktemp("unequal") / "harder", hard("h"))


def rows(made: Table) -> list[dict[str, Any]]:
    return [dict(zip(made.columns, row, strict=True)) for row in made.rows]


def values(figure: Figure) -> list[dict[str, Any]]:
    spec: Any = figure.spec
    return list(spec["data"]["values"])


def subtitle(figure: Figure) -> str:
    spec: Any = figure.spec
    return " ".join(spec["title"]["subtitle"])


def test_phenomena_count_suites_items_people_and_chance_of_each_model(large: Run, small: Run, harder: Run) -> None:
    figure = phenomena.draw_figure([large, small], humans={"islands": 0.9})
    found = figure.table.select("paradigms", "n", "value", "humans", "chance").rows()
    assert found == [(3, 6, accuracy(large, "a", "b", "c"), 0.9, 0.5), (1, 3, accuracy(small, "b"), 0.9, 0.5)]
    # Beside the name stands what holds for both models, which is nothing.
    assert [(row["name"], row["note"]) for row in values(figure)] == [
        ("islands", "3 suites, n = 6"), ("islands", "1 suite, n = 3"),
    ]  # fmt: skip
    assert "as given, for any suites" in subtitle(figure)
    alone = values(phenomena.draw_figure([large]))
    assert [(row["name"], row["note"]) for row in alone] == [("islands (3 suites, n = 6)", "")]
    # Three sentences in six orders, of which two begin with the good one.
    apart = phenomena.draw_figure([large, harder])
    assert apart.table["chance"].round(9).to_list() == [0.5, round(1 / 3, 9)]
    assert "grey tick: chance" in subtitle(apart)
    assert "dashed" not in subtitle(apart)


def test_contrasts_say_the_number_of_items_of_each_model(tmp_path: Path) -> None:
    def both(name: str, *nouns: str) -> Suite:
        made = agreement(name, nouns)
        return Suite(name, made.items, (FULL, Prediction("one_prefix", parse("(2;%good%) < (2;%bad%)"))), ISLANDS)

    runs = [toy_run(tmp_path / "2", both("a", "dog", "cat")), toy_run(tmp_path / "3", both("a", "dog", "cat", "bird"))]
    notes = [(row["name"].partition(":")[0], row["note"]) for row in values(methods.draw_figure(runs))]
    assert notes == [("all suites", "n = 2"), ("islands", "n = 2"), ("all suites", "n = 3"), ("islands", "n = 3")]


def test_two_runs_of_a_model_are_two_rows(large: Run, small: Run) -> None:
    assert large.model == small.model
    in_circuits = circuits.draw_figure([large, small])
    assert len(set(in_circuits.table["name"])) == 2
    assert in_circuits.table["value"].to_list() == [accuracy(large, "a", "b", "c"), accuracy(small, "b")]
    drawn = json.dumps(in_circuits.spec)
    assert all(f"n={n}" in drawn for n in (6, 3))
    of_classes = classes.draw_figure([large, small])
    assert len(set(of_classes.table["model"])) == 2
    for figure in (in_circuits, of_classes):
        assert "large) 3, toy:12-sentences (small) 1; 0 with the same content in all" in subtitle(figure)
    assert numbers_of_suites([large, large]) == ""


def test_models_of_other_suites_have_their_own_chance(large: Run, harder: Run) -> None:
    found = classes.draw_figure([large, harder])
    assert sorted(found.table["chance"].round(9)) == [round(1 / 3, 9), 0.5]
    assert "dashed line" not in subtitle(found)
    # One column for each model: what differs stands in the cells.
    [row] = [
        row for row in rows(groups.make_table([large, harder], by="circuit", wide=True)) if row["group"] == "islands"
    ]
    assert row["chance"] is None
    cells = [str(cell) for name, cell in row.items() if name.startswith("toy")]
    assert [cell.partition(", ")[2].rpartition("], ")[2].split(", ")[-2:] for cell in cells] == [
        ["3 suites", "chance 0.500"], ["1 suite", "chance 0.333"],
    ]  # fmt: skip


def test_the_margins_of_a_prediction_that_the_first_run_lacks(tmp_path: Path) -> None:
    """A masked model has no prediction about a part of a sentence."""
    runs = [run_suites(masked("bert"), [agreement()], tmp_path / "masked"), toy_run(tmp_path / "toy", agreement())]
    assert margins.draw_figure(runs, measure="verb").table["model"].unique().to_list() == [runs[1].name]
    assert margins.draw_figure(runs).table["model"].n_unique() == 2


def test_conventions_count_the_suites_of_each_model(large: Run, small: Run) -> None:
    figure = conventions.draw_figure([large, small])
    spec: Any = figure.spec
    assert [panel["title"]["text"].rpartition(", ")[2] for panel in spec["hconcat"]] == ["3 suites", "1 suite"]
    assert "suite" not in subtitle(figure).partition(";")[0]
    assert "in 3 suites" in subtitle(conventions.draw_figure([large]))


def test_curves_are_over_the_suites_of_all_models(large: Run, small: Run) -> None:
    figure = learning_curve.draw_figure([large, small], words="1000,2000")
    assert figure.table["value"].to_list() == [accuracy(large, "b"), accuracy(small, "b")]
    assert "Without suites a, c, which not all models of known size have." in subtitle(figure)
    [line] = learning_curve.slopes(figure.table).iter_rows(named=True)
    assert line["slope"] == pytest.approx(2 / 3 - 1 / 2)
    # A model of unknown size is in no curve.
    assert "Without" not in subtitle(learning_curve.draw_figure([small, small, large], words="1000,2000,-"))


def test_an_item_is_drawn_with_one_text(large: Run, small: Run, tmp_path: Path) -> None:
    # The first items are the same, the second of a suite of the same name are not.
    other = toy_run(tmp_path / "other", pairs("b", DOG, BIRD))
    assert len(words.draw_figure([large, small], "b").table["model"].unique()) == 2
    with pytest.raises(UsageError, match=r"item b-1 with other sentences in some of the runs"):
        words.draw_figure([large, other], "b", "b-1")
    # Without an item, the first of the first run is that of all.
    turned = toy_run(tmp_path / "turned", Suite("b", pairs("b", DOG, CAT).items[::-1], (FULL,), ISLANDS))
    assert set(words.draw_figure([turned, large], "b").table["item"]) == {"b-1"}


def asked(folder: Path, suites: Sequence[Suite]) -> Run:
    """Twelve people, of whom more prefer the bad sentence the later the item of a suite is; in suite `c`, the earlier."""
    plan = planned(suites, "forced-choice", 12)
    given = []
    for number in range(12):
        for place, _ in plan.lists[number % len(plan.lists)]:
            trial = plan.trials[place]
            item = int(re.sub(r"\D", "", trial.item) or 0) % 4
            bad = number % 5 < (4 - item if trial.suite == "c" else item)
            given.append(
                Answer(f"p{number:02}", number % len(plan.lists), trial.id, "bad" if bad else "good", ms=1000.0)
            )
    return people.run_of(plan, "0" * 16, given, Audit(), "study", folder)[0]


def test_the_ceiling_beside_a_model_is_that_of_its_suites(tmp_path: Path) -> None:
    made = of_words(items=4)
    suites = [Suite(name, made.items, made.predictions, made.tags) for name in "abc"]
    runs = [run_suites(load("random?seed=2"), chosen, tmp_path / str(len(chosen))) for chosen in (suites, suites[:2])]
    table = rows(ceiling.make_table([asked(tmp_path / "people", suites), *runs], splits=20))
    found = {row["suite"]: row for row in table if "suites" in row["suite"]}
    assert [(name, row["items"]) for name, row in found.items()] == [("all 3 suites", 12), ("2 of 3 suites", 8)]
    # As if people had been asked no other suites.
    fewer = rows(ceiling.make_table([asked(tmp_path / "fewer", suites[:2]), runs[1]], splits=20))[-1]
    assert fewer["suite"] == "all 2 suites"
    assert found["2 of 3 suites"]["reliability"] == fewer["reliability"] != found["all 3 suites"]["reliability"]
    assert found["2 of 3 suites"]["share"] == fewer["share"]


def test_correlations_are_over_shared_suites(large: Run, small: Run) -> None:
    with pytest.raises(UsageError, match="0 suites"):
        correlation.draw_figure([large, small])
    assert set(correlation.draw_figure([large, large]).table["n"]) == {3}


def test_the_numbers_of_figures_are_those_of_results(large: Run, small: Run) -> None:
    figure = scores.draw_figure([large, small])
    by_hand = {"a": accuracy(large, "a"), "c": accuracy(large, "c")}
    named = dict(figure.table.filter(pl.col("suite").is_in(list(by_hand))).select("suite", "value").iter_rows())
    assert named == by_hand
    assert len({title for title in figure.table["suite"] if title.startswith("b @")}) == 2


def test_the_figures_of_hu2020_are_of_the_suites_of_each_model(large: Run, small: Run, harder: Run) -> None:
    made = study.of_runs([large, small, harder])
    assert made.counted == "1 to 3 suites, each model's own"
    figure = figures.figure1(made)
    numbers = [(row["n"], round(row["chance"], 9)) for row in figure.table.iter_rows(named=True)]
    assert sorted(numbers) == [(1, round(1 / 3, 9)), (1, 0.5), (3, 0.5)]
    assert "mean of 1 to 3 suites, each model's own" in subtitle(figure)
    [b] = [row for row in rows(tables.suites(made)) if row["suite"] == "b"]
    assert b["items"] == "2 to 3"
    assert any("0.5000" in note and "0.3333" in note for note in tables.classes(made).notes)
    same = study.of_runs([large, large])
    assert (same.counted, same.levels) == ("3 suites", 0.5)


def test_the_pages_of_a_report_say_how_many_suites_each_model_has(large: Run, small: Run, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    assert main(["report", str(large.place), str(small.place), "-o", f"{folder}/"]) == 0
    page = sg.write_report([large, small], tmp_path / "one.html")
    for path in (page, folder / "index.html"):
        assert "not all on all of them: toy:12-sentences (large) 3, toy:12-sentences (small) 1" in path.read_text()
