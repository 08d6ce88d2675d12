"""Files of folders that no format recognises are named, in Python as on the command line."""

from pathlib import Path

import pytest

import syntagm as sg
from syntagm.cli import main


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "pairs.tsv").write_text("good\tbad\nThe dog barks.\tThe dog bark.\n")
    for number in range(6):
        (tmp_path / "data" / f"counts{number}.tsv").write_text("word\tcount\nthe\t4021\nof\t2760\n")
    return tmp_path / "data"


def test_in_python(folder: Path) -> None:
    with pytest.warns(UserWarning, match=r"skipped: .*counts0.tsv: no format claims it: .*\(and 1 more\)") as warned:
        [suite] = sg.read_suites(folder)
    assert suite.name == "pairs"
    assert warned[0].filename == __file__
    with pytest.warns(UserWarning, match="skipped: "):
        sg.evaluate(sg.load_model("toy"), str(folder))


def test_on_the_command_line(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", str(folder), str(tmp_path / "tasks"), "--as", "lm-eval-task"]) == 0
    assert capsys.readouterr().err.count("skipped: ") == 6
