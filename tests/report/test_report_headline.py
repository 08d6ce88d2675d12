"""What the overview says in words and figures: above chance, better or worse, effects, trajectories."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from report_examples import written
from toy_runs import agreement, pairs, toy_run

from syntagm.evaluation import against_chance
from syntagm.report import chapter_of, report
from syntagm.report.predictions import model_pairs, scores
from syntagm.report.predictions.words import explain_headlines
from syntagm.runs import Run
from syntagm.suites import Prediction, Suite, parse

# The toy model has seen "dog barks" and no other of these pairs.
LIKED = ("the dog barks", "the dog bark")


def many(name: str, good: int, bad: int) -> Suite:
    """Pairs of which the toy model prefers the good sentence in `good`, and the bad one in `bad`."""
    texts = [(f"{LIKED[0]} x{k}", f"{LIKED[1]} x{k}") for k in range(good)]
    texts += [(f"{LIKED[1]} y{k}", f"{LIKED[0]} y{k}") for k in range(bad)]
    return pairs(name, *texts)


def test_the_exact_test_by_hand() -> None:
    assert against_chance(8, 8, 0.5) == pytest.approx(2 / 2**8)
    assert against_chance(0, 8, 0.5) == pytest.approx(2 / 2**8)
    assert against_chance(4, 8, 0.5) == 1.0
    assert against_chance(3, 4, 0.25) == pytest.approx(2 * (4 * 0.25**3 * 0.75 + 0.25**4))


def lines(runs: list[Run]) -> list[model_pairs.Headline]:
    chapter = chapter_of(runs)
    return model_pairs.headlines(
        chapter.columns, chapter.subjects, model_pairs.compare(chapter.columns, chapter.subjects)
    )


def test_suites_above_and_below_chance_are_counted_after_adjustment(tmp_path: Path) -> None:
    # Two-sided p: 2/2**10 for `all` and `none`, 2/2**6 for `few`. Holm multiplies the two smallest by 4 and 3, and that of
    # `few`, .03125, by 2.
    suites = [many("all", 10, 0), many("none", 0, 10), many("few", 6, 0), many("half", 5, 5)]
    [line] = lines([toy_run(tmp_path, *suites)])
    assert (line.above, line.below, line.suites, line.untested, line.versus) == (1, 1, 4, 0, ())
    [line] = lines([toy_run(tmp_path / "two", *suites[:2])])
    assert (line.above, line.below, line.suites) == (1, 1, 2)


@pytest.mark.slow
def test_models_are_counted_against_each_other_and_many_only_against_the_first(tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("the dog bark\nthe dog bark\nthe dog bark\n")
    # On `half`, each model gets right what the other gets wrong.
    suites = [many("all", 10, 0), many("half", 5, 5)]
    names = ("toy", f"toy:{tmp_path / 'other.txt'}")
    runs = [toy_run(tmp_path / f"run{k}", *suites, model=name) for k, name in enumerate(names)]
    first, second = lines(runs)
    assert [(versus.other, versus.better, versus.worse, versus.suites) for versus in first.versus] == [
        (second.name, 1, 0, 2)
    ]
    assert [(versus.better, versus.worse) for versus in second.versus] == [(0, 1)]
    text = written(tmp_path, *runs).text
    # Accuracies: 1 and .5 under the first model, 0 and .5 under the second.
    assert f"{first.name}: mean accuracy 0.750; above chance on 1 of 2 suites; 0.500 " in text
    assert f" above {second.name} on average, better on 1, worse on 0." in text
    assert " below toy:12-sentences on average, better on 0, worse on 1." in text
    assert [(versus.difference, versus.possible) for line in (first, second) for versus in line.versus] == [
        (0.5, True), (-0.5, True),
    ]  # fmt: skip
    (other,), (own,) = first.versus, second.versus
    assert (other.low, other.high) == (-own.high, -own.low)
    assert "No suite can" not in text
    many_models = lines([*runs, *runs])
    assert [len(line.versus) for line in many_models] == [0, 1, 1, 1]


@pytest.mark.slow
def test_where_no_suite_can_be_significant_the_page_says_so(tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("the dog bark\nthe dog bark\nthe dog bark\n")
    # With three items, p of McNemar's test is at least .08, and that of the binomial test .25.
    names = ("toy", f"toy:{tmp_path / 'other.txt'}")
    runs = [toy_run(tmp_path / f"run{k}", many("all", 3, 0), model=name) for k, name in enumerate(names)]
    assert [(line.possible, line.versus[0].possible) for line in lines(runs)] == [(False, False)] * 2
    text = written(tmp_path, *runs).text
    assert "No suite can be significantly above or below chance" in text
    assert "No suite can show a significant difference between models" in text


@pytest.mark.slow
def test_what_can_not_be_tested_is_counted(tmp_path: Path) -> None:
    offset = Prediction("offset", parse("(2;%good%) < (2;%bad%) + 1"))
    run = toy_run(tmp_path, agreement(), replace(agreement("other"), predictions=(offset,)))
    [line] = lines([run])
    assert (line.suites, line.untested) == (1, 1)
    assert "Not tested against chance: 1 suite whose" in written(tmp_path, run).text
    # Each number of suites is that of the model.
    runs = [toy_run(tmp_path / "two", agreement(), run_suite := replace(agreement("other"), predictions=(offset,))),
            toy_run(tmp_path / "three", agreement(), run_suite, replace(run_suite, name="third"))]  # fmt: skip
    said = explain_headlines(lines(runs), True)
    assert re.search(r"1 suite under .*two.*, 2 suites under .*three", said)


@pytest.mark.slow
def test_suites_are_grouped_and_sorted(tmp_path: Path) -> None:
    suites = [
        replace(many("low", 1, 3), tags={"circuit": "A"}),
        replace(many("high", 3, 1), tags={"circuit": "A"}),
        replace(many("top", 4, 0), tags={"circuit": "B"}),
    ]
    chapter = chapter_of([toy_run(tmp_path, *suites)])
    tag, groups = scores.group_subjects(chapter.columns, chapter.subjects)
    assert tag == "circuit"
    assert {group: [subject.name for subject in members] for group, members in groups.items()} == {
        "B": ["top"], "A": ["high", "low"],
    }  # fmt: skip
    content = report([toy_run(tmp_path / "page", *suites)], tmp_path / "report.html").read_text("utf-8")
    places = [content.index(f'<bdi>{name}</bdi></a><small class="group unseen">') for name in ("top", "high", "low")]
    assert places == sorted(places)


@pytest.mark.slow
def test_effects_and_names_of_predictions_are_on_the_page(tmp_path: Path) -> None:
    page = written(tmp_path, toy_run(tmp_path, agreement(), many("pairs", 2, 1)))
    assert "effect in bits" in page.text
    assert re.search(r"2: bad − goodverb0\.19 \[-\d\.\d\d, \d\.\d\d\]d=0\.15, n=3", page.text.replace("\n", ""))
    assert "the good sentence is more probable than the bad one" in page.text
    assert any(attributes.get("id") == "effects" for tag, attributes in page.elements if tag == "section")
    # Whole sentences are compared: a histogram, whose bars are labelled.
    assert "items between" in page.text


@pytest.mark.slow
def test_checkpoints_make_a_section(tmp_path: Path) -> None:
    runs = [toy_run(tmp_path / f"gpt-step{step}", agreement(), model=f"random:?seed={step}") for step in (1, 10, 100)]
    assert "Trajectories" in written(tmp_path, *runs).text
    assert "Trajectories" not in written(tmp_path, *runs[:2]).text
    names = [name for name, _ in chapter_of(runs).figures()]
    assert names == ["scores", "effects", "trajectories", "comparison", "01-agreement"]
