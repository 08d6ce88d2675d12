"""`python -m tools.numbers`: a number that changes on purpose is found, and nothing else is."""

import math
import shutil
from pathlib import Path

import pytest

from tests.golden.step import Step
from tools import numbers

HEADER = "model,suite,item,value,margin\n"


def kept(place: Path, name: str, text: str) -> None:
    path = place / "kept" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_a_difference_is_in_the_table_with_its_size(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for side in (old, new):
        kept(side, "same.csv", HEADER + "toy,a,1,1.0,nan\n")
    kept(old, "exports/one.csv", HEADER + "toy,a,1,1.0,0.5\ntoy,a,2,0.0,-0.25\n")
    kept(new, "exports/one.csv", HEADER + "toy,a,1,1.0,0.5\ntoy,a,2,0.0,-0.375\n")
    kept(old, "rows.csv", HEADER + "toy,a,1,1.0,0.5\n")
    kept(new, "rows.csv", HEADER)
    kept(old, "gone.csv", HEADER)
    rows = {row.name: row for row in numbers.compared(old, new)}
    assert rows["same.csv"].differ == 0
    # Three numbers a row: the item, the value and the margin.
    assert (rows["exports/one.csv"].values, rows["exports/one.csv"].differ) == (6, 1)
    assert rows["exports/one.csv"].largest == 0.125
    assert rows["exports/one.csv"].first == "line 3, margin: -0.25 -> -0.375"
    assert (rows["rows.csv"].differ, rows["gone.csv"].first) == (2, "only before")
    assert math.isnan(rows["rows.csv"].largest)
    said = numbers.table(list(rows.values()), "1.0", "1.1")
    assert "| exports/one.csv | 6 | 1 | 0.125 | line 3, margin: -0.25 -> -0.375 |" in said
    assert "same.csv" not in said


def test_nan_and_other_spellings_of_a_number_are_no_difference(tmp_path: Path) -> None:
    kept(tmp_path / "old", "a.csv", HEADER + "toy,a,1,1.0,nan\n")
    kept(tmp_path / "new", "a.csv", HEADER + "toy,a,1,1,nan\n")
    [row] = numbers.compared(tmp_path / "old", tmp_path / "new")
    assert row.differ == 0


def test_every_step_is_one_of_the_golden_record_or_of_its_own() -> None:
    names = [one.out for one in numbers.STEPS]
    assert len(names) == len(set(names)) == len(numbers._SHARED) + len(numbers._OWN)


@pytest.mark.slow
def test_a_number_changed_on_purpose_is_found(tmp_path: Path) -> None:
    """A copy of the package whose margins are a hundredth larger than they should be."""
    shutil.copytree(numbers.ROOT / "syntagm", tmp_path / "changed" / "syntagm", ignore=shutil.ignore_patterns("_demo"))
    path = tmp_path / "changed" / "syntagm" / "suites" / "formula.py"
    text = path.read_text(encoding="utf-8")
    assert text.count("return right - left") == 1
    path.write_text(text.replace("return right - left", "return right - left + 0.01"), encoding="utf-8")
    steps = [
        Step("runs/random", "run 'random?seed=3' --suite texts/pairs.tsv -o {out} --no-report --no-cache", True),
        Step("exports/random", "export runs/random --as results -o {out}.csv", True),
    ]
    assert numbers.recorded(str(numbers.ROOT), tmp_path / "old", steps) == 0
    assert numbers.recorded(str(tmp_path / "changed"), tmp_path / "new", steps) == 0
    rows = {row.name: row for row in numbers.compared(tmp_path / "old", tmp_path / "new")}
    assert rows["exports/random.csv"].differ
    assert rows["exports/random.csv"].largest == pytest.approx(0.01, abs=1e-9)
    assert list(numbers.compared(tmp_path / "old", tmp_path / "old"))
    assert not any(row.differ for row in numbers.compared(tmp_path / "old", tmp_path / "old"))
