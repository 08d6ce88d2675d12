"""Experiments, reading times, exposures and runs of format 4 that earlier versions wrote give the same numbers."""

import csv
import json
import re
import shlex
import shutil
from itertools import chain
from pathlib import Path

import pytest

import syntagm as sg
from syntagm.cli import main

OLD = Path(__file__).parent / "data" / "old"
FOLDERS = sorted(path.name for path in OLD.glob("*-formats"))
LINES = [
    pytest.param(folder, line, id=f"{folder}-{' '.join(line.split()[:2])} {line.split()[-1]}")
    for folder in FOLDERS
    for line in re.findall(r"^    syntagm (.*)$", (OLD / folder / "README.md").read_text("utf-8"), re.MULTILINE)
]
RUNS = [path.parent.relative_to(OLD).as_posix() for path in sorted(OLD.glob("*-formats/runs/*/run.json"))]
# What says when or where it was written.
PLAIN = ("exposure.csv", "answers.csv", "reading/table.csv")


@pytest.fixture
def place(tmp_path: Path, folder: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a folder, which is the current directory."""
    shutil.copytree(OLD / folder, tmp_path / "old")
    monkeypatch.chdir(tmp_path / "old")
    return OLD / folder


def rows(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return [*csv.reader(file)]


def assert_fitted_alike(found: list[list[str]], expected: list[list[str]]) -> None:
    """Compare tables whose fractions were fitted: processors sum in different orders, so their last digits differ."""
    assert [len(row) for row in found] == [len(row) for row in expected]
    for cell, wanted in zip(chain(*found), chain(*expected), strict=True):
        if re.fullmatch(r"-?\d+\.\d+(e[-+]?\d+)?", wanted):
            assert float(cell) == pytest.approx(float(wanted), rel=1e-9, abs=1e-9)
        else:
            assert cell == wanted


def test_there_is_data() -> None:
    assert [run.split("/")[-1] for run in RUNS] == ["convention", "people", "toy"] * len(FOLDERS)
    assert FOLDERS


@pytest.mark.parametrize("run", RUNS)
def test_a_run_has_its_numbers(run: str) -> None:
    opened, recorded = sg.open_run(OLD / run), rows(OLD / run / "results.csv")
    assert opened.done
    assert json.loads((OLD / run / "run.json").read_text("utf-8"))["format"] == 4
    column = recorded[0].index("value")
    assert [float(row[column]) for row in recorded[1:]] == opened.results()["value"].to_list()


@pytest.mark.parametrize(("folder", "line"), LINES)
def test_a_command_gives_the_same_again(place: Path, line: str) -> None:
    """Each is given what the old version wrote: an experiment, its answers, a table for regressions."""
    # The words of a table are counted as those of a text: a table is no text any more.
    Path("texts/times.txt").write_text(Path("texts/times.csv").read_text().replace(",", " "))
    words = shlex.split(line.replace("--corpus texts/times.csv", "--corpus texts/times.txt"))
    out = Path(words[-1] if "-o" not in words else words[words.index("-o") + 1])
    shutil.rmtree(out) if out.is_dir() else out.unlink()
    assert main(words) == 0
    if out.as_posix() == "reading/gains.csv":
        assert_fitted_alike(rows(out), rows(place / out))
    elif out.as_posix() in PLAIN:
        assert rows(out) == rows(place / out)
    elif (out / "results.csv").exists():
        assert rows(out / "results.csv") == rows(place / out / "results.csv")
    else:
        assert {path.name for path in out.iterdir()} >= {"plan.json", "study.toml", "texts"}


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS)
def test_all_of_it_is_whole_and_shown(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["integrity", ".", "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    whole = {finding["folder"] for finding in findings if finding["state"] == "whole"}
    assert whole == {"run", "human experiment", "the record of an analysis of reading times"}
    for line in (
        "table scores runs/toy runs/people",
        "table people runs/people",
        "table conventions runs/convention",
        "table gain reading/gains.csv",
        "experiment status answered",
    ):
        assert main(line.split()) == 0, line
        assert capsys.readouterr().out
