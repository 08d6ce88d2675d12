from dataclasses import replace
from math import nan
from pathlib import Path

from report_examples import gaps
from toy_runs import agreement, interrupt, pairs, toy_run

from syntagm.evaluation import Estimate, Group
from syntagm.report import numbers
from syntagm.report.predictions import scores
from syntagm.suites import Prediction, parse

PLAIN = pairs("plain", ("the dog barks", "the dog bark"), ("the cats sleep", "the cats sleeps"))


def test_overall_scores_by_rule(tmp_path: Path) -> None:
    # agreement: 1 of 3 by "verb", and by both; plain: 2 of 2. full_sentence: 1/3 and 1.
    columns = scores.columns([toy_run(tmp_path, agreement(), PLAIN)])
    lines = {line.label: line for line in scores.overall(columns)}
    assert list(lines) == [scores.RULES["first"], scores.RULES["all"], "full_sentence"]
    assert [line.cells[0].value for line in lines.values()] == [(1 / 3 + 1) / 2] * 3
    assert lines["full_sentence"].counts == [2]


def test_groups_by_tag(tmp_path: Path) -> None:
    tagged = replace(PLAIN, tags={"circuit": "Licensing", "field": "syntax"})
    groups = scores.groups(scores.columns([toy_run(tmp_path, agreement(), tagged)]))
    assert {tag: [(line.label, line.cells[0].value) for line in lines] for tag, lines in groups.items()} == {
        "circuit": [("Licensing", 1.0), ("Agreement", 1 / 3)],  # the highest first
        "field": [("syntax", 1.0)],
    }


def test_a_line_knows_over_which_suites_each_score_is(tmp_path: Path) -> None:
    # One model ran on both suites of the circuit, one on one of them, one on none.
    agreements = agreement(), agreement("again")
    runs = [toy_run(tmp_path / str(k), *suites) for k, suites in enumerate((agreements, agreements[:1], [PLAIN]))]
    columns = scores.columns(runs)
    [line] = scores.groups(columns)["circuit"]
    assert ([len(suites) for suites in line.over], line.counts, line.alike) == ([2, 1, 0], [1, 2], False)
    assert line.cells[2] is None
    [line] = scores.groups([columns[0], columns[2]])["circuit"]
    assert (line.counts, line.alike) == ([2], True)
    # As many suites, but others.
    first, *_ = scores.overall(columns[1:])
    assert (first.counts, first.alike) == ([1], False)


def test_runs_on_different_suites_and_contents(tmp_path: Path) -> None:
    other = agreement(nouns=("dog", "cat"))
    runs = [toy_run(tmp_path / "one", agreement(), PLAIN), toy_run(tmp_path / "two", other, gaps())]
    columns = scores.columns(runs)
    assert [column.name for column in columns] == ["toy:12-sentences (one)", "toy:12-sentences (two)"]
    subjects = numbers.subjects(columns)
    assert [len(subject.columns) for subject in subjects] == [1, 1, 1, 1]
    same = [subject.title for subject in subjects if subject.name == "agreement"]
    assert same == [f"agreement @{run.suite('agreement').hash[:8]}" for run in runs]


def test_shared_suites_have_a_column_each(tmp_path: Path) -> None:
    runs = [toy_run(tmp_path / "a" / "run", PLAIN), toy_run(tmp_path / "b" / "run", PLAIN)]
    columns = scores.columns(runs)
    assert [column.name for column in columns] == ["toy:12-sentences (run) #1", "toy:12-sentences (run) #2"]
    [subject] = numbers.subjects(columns)
    assert len(subject.columns) == 2


def test_missing_items_are_counted(tmp_path: Path) -> None:
    toy_run(tmp_path, agreement(), PLAIN)
    [column] = scores.columns([interrupt(tmp_path, 1)])
    assert (column.missing, column.ties) == (2, 2)


def test_chance_comes_from_the_formulas_and_not_from_a_tag(tmp_path: Path) -> None:
    # agreement: one comparison of verbs; its two predictions hold together in ways that are not known.
    tagged = replace(PLAIN, tags={"chance": "0.99"})
    columns = scores.columns([toy_run(tmp_path, agreement(), tagged)])
    first, second = numbers.subjects(columns)
    assert (str(first.chance("verb")), str(first.chance("first")), str(second.chance("full_sentence"))) == ("1/2",) * 3
    assert "(2;%bad%) beside the whole sentence" in first.chance("all").method
    assert second.other_tags == {"chance": "0.99"}
    lines = scores.overall(columns)
    assert [str(line.chance) for line in lines] == ["1/2", "", "1/2"]
    assert lines[1].chance.method == first.chance("all").method


def test_chance_over_suites_is_the_mean_and_of_one_set_of_suites(tmp_path: Path) -> None:
    both = parse("(1;%good%) < (1;%bad%) & (2;%good%) < (2;%bad%)")
    other = replace(agreement("other"), predictions=(Prediction("both", both),))
    runs = [toy_run(tmp_path / "one", agreement(), other), toy_run(tmp_path / "two", agreement())]
    # (1/2 + 1/4) / 2, and 1/2.
    assert str(scores.overall(scores.columns(runs[:1]))[0].chance) == "3/8"
    assert "ran on different suites" in scores.overall(scores.columns(runs))[0].chance.method
    [line] = scores.groups(scores.columns(runs[:1]))["circuit"]
    assert (line.label, str(line.chance)) == ("Agreement", "3/8")


def test_citations_hold_signature_and_number(tmp_path: Path) -> None:
    run = toy_run(tmp_path, agreement())
    [column] = scores.columns([run])
    one = column.accuracies["agreement", "verb"]
    expected = f"{run.signature('agreement', 'verb')!s} = 0.333 [{one.low:.3f}, {one.high:.3f}] n=3 ties=1 {one.method}"
    assert numbers.citation(column, "agreement", "verb") == expected


def test_no_interval_is_said() -> None:
    assert numbers.interval(Estimate(Group(), 1.0, nan, nan, 1, "")) == "no interval"
