"""Measures that are plugged in: their names, and a whole run with them."""

import math
import os
import subprocess
import sys
from math import log2
from pathlib import Path

import polars as pl
import pytest
from toy_runs import agreement

import syntagm as sg
from syntagm.cli import main
from syntagm.errors import RunError, UsageError
from syntagm.result import Kind
from syntagm.runs.evaluate import run_suites as run
from syntagm.tasks import measures

LONGEST = '''
"""The surprisal of the most surprising token."""

from dataclasses import dataclass

from syntagm.tasks.measure import Judgement, Measure


@dataclass(frozen=True, slots=True)
class Longest(Measure):
    """In one condition, less a number of bits."""

    condition: str
    less: float = 0.0

    def __str__(self):
        return f"longest(condition={self.condition},less={self.less})"

    def asks(self, item):
        return [item.sentences[self.condition].text]

    def judge(self, item, answers, reading):
        bits = answers[item.sentences[self.condition].text].bits
        return Judgement(float(bits.max()) - self.less, len(bits), float("nan"))
'''


def test_a_whole_run_by_pencil(tmp_path: Path) -> None:
    """`barks` after a noun and a verb of twelve sentences: the toy's bits of region 2, item by item."""
    suite = agreement()
    judged = [measures.parse("surprisal(condition=good,region=2)"), measures.parse("surprisal(condition=bad)")]
    made = run(sg.load_model("toy"), [suite], tmp_path, measures=judged)
    regions = made.regions("agreement").filter((pl.col("condition") == "good") & (pl.col("region") == "2"))
    rows = made.results().filter(pl.col("measure") == str(judged[0]))
    assert rows["value"].to_list() == regions["bits"].to_list()
    whole = made.tokens("agreement").filter(pl.col("condition") == "bad").group_by("item", maintain_order=True)
    sums = whole.agg(pl.col("bits").sum())["bits"].to_list()
    assert made.results().filter(pl.col("measure") == str(judged[1]))["value"].to_list() == pytest.approx(sums)
    assert made.results()["margin"].is_nan().all()
    # The toy knows 29 words and marks: log2 of its counts are what stands in the tokens, never a verdict of 0 or 1.
    assert log2(29 / 3) < max(sums)
    assert made.kind(str(judged[0])) is Kind.BITS
    assert next(estimate.value for estimate in sg.estimate(made) if estimate.group.suite) == pytest.approx(
        float(rows["value"].mean())  # type: ignore[arg-type]
    )


def test_the_same_measures_go_on_and_others_are_refused(tmp_path: Path) -> None:
    model, one = sg.load_model("toy"), measures.parse("surprisal(condition=good)")
    first = run(model, [agreement()], tmp_path, measures=[one]).results()
    assert run(model, [agreement()], tmp_path, measures=[one]).results().equals(first)
    with pytest.raises(RunError, match=r"a run with measures\.surprisal"):
        run(model, [agreement()], tmp_path, measures=[measures.parse("surprisal(condition=bad)")])
    with pytest.raises(RunError, match="a run of the task measures; expected a run of the task predictions"):
        run(model, [agreement()], tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("slor", "no such name: 'slor'; expected one of surprisal"),
        ("surprisal", "no condition=; expected condition=VALUE"),
        ("surprisal(cond=good)", "no option 'cond'; expected one of condition=, region="),
        ("surprisal(condition=good,condition=bad)", "each option once"),
        ("surprisal(good)", "option=value"),
        ("surprisal(", "NAME or NAME"),
    ],
)
def test_names_that_mean_nothing(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        measures.parse(text)


def test_what_an_item_lacks_is_said_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no 'ugly' in item 1 of agreement; expected one of good, bad"):
        run(sg.load_model("toy"), [agreement()], tmp_path, measures=[measures.parse("surprisal(condition=ugly)")])
    made = run(
        sg.load_model("toy"), [agreement()], tmp_path, measures=[measures.parse("surprisal(condition=good,region=9)")]
    )
    assert all(math.isnan(value) for value in made.results()["value"])
    [(reason, count)] = made.undefined.items()
    assert "an item lacks a region or condition, for example in item 1 of agreement: no '9'" in reason
    assert count == len(agreement().items)


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spelled = "surprisal(condition=good, region=critical)"
    options = ["--suite", "marvin2018/simple_agrmt", "-n", "4", "--no-cache"]
    assert main(["run", "toy", *options, "--measure", spelled, "-o", str(tmp_path / "run")]) == 0
    shown = capsys.readouterr()
    assert "surprisal(condition=good,region=critical)" in shown.out
    assert (tmp_path / "run" / "report.html").exists()
    assert main(["table", "scores", str(tmp_path / "run")]) == 0


def test_a_measure_of_another_distribution(tmp_path: Path) -> None:
    """An entry point of the group `syntagm.measures` is a measure like ours."""
    (tmp_path / "longest_token.py").write_text(LONGEST)
    (about := tmp_path / "longest_token-1.0.dist-info").mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: longest-token\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[syntagm.measures]\nlongest = longest_token\n")
    line = ["run", "toy", "--suite", "marvin2018/simple_agrmt", "-n", "2", "--no-cache", "--no-report"]
    line += ["--measure", "longest(condition=good, less=1)", "-o", str(tmp_path / "run")]
    path = os.pathsep.join(part for part in (str(tmp_path), os.environ.get("PYTHONPATH", "")) if part)
    done = subprocess.run(
        [sys.executable, "-m", "syntagm", *line],
        env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    made = sg.open_run(tmp_path / "run")
    tokens = made.tokens("simple_agrmt").filter(pl.col("condition") == "good").group_by("item", maintain_order=True)
    expected = [value - 1 for value in tokens.agg(pl.col("bits").max())["bits"]]
    assert made.results()["value"].to_list() == pytest.approx(expected)
