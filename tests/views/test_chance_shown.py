"""Chance beside scores, wherever scores stand."""

import csv
import json
from pathlib import Path

import pytest
from toy_runs import agreement, edit_record, pairs, toy_run

from syntagm.cli import main
from syntagm.report import numbers, report
from syntagm.report.predictions import figures, scores
from syntagm.runs import Run, open_run
from syntagm.suites import Prediction, Suite, parse
from syntagm.views import estimates

# "Is above 3 bits" has no chance level; the other is one comparison.
ODD = (Prediction("0", parse("(2;%good%) < (2;%bad%)")), Prediction("1", parse("(2;%bad%) > 3")))


def odd() -> Suite:
    return Suite("odd", agreement().items, ODD, {"circuit": "Odd", "chance": "0.99"})


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return toy_run(tmp_path / "run", pairs("pairs", ("the dog barks", "the dog bark")), odd())


def test_of_suites_and_of_scores(run: Run) -> None:
    groups = {one.group: estimates.chance_of(run, one) for one in estimates.estimates(run)}
    found = {
        tuple(filter(None, (group.suite, group.measure, group.rule, *dict(group.labels).values()))): one
        for group, one in groups.items()
    }
    assert {key: str(one) for key, one in found.items()} == {
        ("pairs", "full_sentence"): "1/2",
        ("odd", "0"): "1/2",
        ("odd", "1"): "",
        ("first",): "1/2",
        ("first", "Odd"): "1/2",
    }
    assert "a comparison with a number" in found["odd", "1"].method
    [together] = estimates.scores(run, "all")
    assert estimates.chance_of(run, together).method == found["odd", "1"].method


def test_a_suite_without_the_prediction_and_a_formula_that_is_none(run: Run) -> None:
    one = run.suite("odd")
    assert "odd has no prediction 7" in estimates.chance_of_suite(one, "7").method
    suites = [suite | {"predictions": {"0": "(2;%good%) <"}} for suite in run.record["suites"]]
    edit_record(run.folder, suites=suites)
    broken = open_run(run.folder)
    assert "no chance level: formula, character 13" in estimates.chance_of_suite(broken.suite("odd"), "first").method
    report([broken], run.folder / "report.html")


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = {
        "meta": {"name": "two", "metric": "sum"},
        "region_meta": {"1": "subject", "2": "verb"},
        "predictions": [{"type": "formula", "formula": one.formula.text} for one in ODD],
        "items": [
            {
                "item_number": 1,
                "conditions": [
                    {"condition_name": name, "regions": [{"region_number": 1, "content": "the dog"}, verb]}
                    for name, verb in (
                        ("good", {"region_number": 2, "content": "barks"}),
                        ("bad", {"region_number": 2, "content": "bark"}),
                    )
                ],
            }
        ],
    }
    (tmp_path / "two.json").write_text(json.dumps(rows))
    assert main(["run", "toy", "--suite", str(tmp_path / "two.json"), "-o", str(tmp_path / "run"), "--no-report"]) == 0
    shown = capsys.readouterr()
    lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.out.splitlines() if "│" in line]
    assert [(line[1], line[4]) for line in lines] == [
        ("0", "0.500"),
        ("1", ""),
        ("all", ""),
        ("mean accuracy", "0.500"),
    ]
    assert "no chance level: a comparison with a number" in shown.err
    assert shown.err.rstrip().endswith("(two, two)")


@pytest.mark.slow
def test_on_the_page_and_in_the_figure(run: Run) -> None:
    page = report([run], run.folder / "report.html").read_text(encoding="utf-8")
    assert 'data-value="0.5" title="1/2, any continuous distribution">0.500</td>' in page
    assert 'data-value="" title="no chance level: a comparison with a number' in page
    # The tag is shown as a tag.
    assert '<dt><bdi>chance</bdi></dt><dd dir="auto">0.99</dd>' in page
    figure = figures.accuracies(numbers.subjects(scores.columns([run])), {})
    assert figure.table["chance"].to_list() == [0.5, 0.5]


def test_in_the_export_of_scores(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(run.folder), "--as", "scores", "-o", str(tmp_path / "scores.csv")]) == 0
    rows = list(csv.DictReader((tmp_path / "scores.csv").read_text(encoding="utf-8").splitlines()))
    found = [(row["of"], row["name"], row["measure"], row["value"], row["chance"]) for row in rows]
    # Of barks and bark, one of three items holds: log2 3 bits, -1 bit, a tie.
    third = repr(1 / 3)
    assert found[:2] == [("suite", "pairs", "full_sentence", "1", "0.5"), ("suite", "odd", "0", third, "0.5")]
    assert [one[:3] + one[4:] for one in found[2:]] == [
        ("suite", "odd", "1", "nan"),
        ("all suites", "", "first", "0.5"),
        ("circuit", "Odd", "first", "0.5"),
        ("suite", "odd", "all", "nan"),
        ("all suites", "", "all", "nan"),
    ]
    assert rows[0]["signature"] == str(run.signature("pairs", "full_sentence"))
    assert rows[0]["chance_method"] == "any continuous distribution"
    assert rows[3]["signature"] == ""
