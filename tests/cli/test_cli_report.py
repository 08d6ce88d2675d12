import subprocess
import sys
from pathlib import Path

import pytest
from report_examples import hostile
from toy_runs import agreement, interrupt, pairs, toy_run

from syntagm.cli import main

PLAIN = pairs("plain", ("the dog barks", "the dog bark"))


@pytest.mark.slow
def test_one_run_beside_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    toy_run(tmp_path, agreement())
    assert main(["report", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{tmp_path}/report.html\n"
    assert "agreement" in (tmp_path / "report.html").read_text("utf-8")


@pytest.mark.slow
def test_several_runs_need_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [str(tmp_path / name) for name in ("one", "two")]
    for folder in folders:
        toy_run(Path(folder), PLAIN)
    assert main(["report", *folders]) == 2
    assert "-o FILE" in capsys.readouterr().err
    assert main(["report", *folders, "-o", str(tmp_path / "both.html")]) == 0
    assert "toy:12-sentences (two)" in (tmp_path / "both.html").read_text("utf-8")


@pytest.mark.slow
def test_figures_and_their_numbers(tmp_path: Path) -> None:
    toy_run(tmp_path, agreement(), PLAIN)
    assert main(["report", str(tmp_path), "--figures", str(tmp_path / "figures"), "--format", "svg"]) == 0
    names = sorted(path.name for path in (tmp_path / "figures").iterdir())
    stems = ("01-agreement", "02-plain", "effects", "scores")
    assert names == [f"{stem}.{ending}" for stem in stems for ending in ("csv", "svg")]
    head, *rows = (tmp_path / "figures" / "01-agreement.csv").read_text("utf-8").splitlines()
    assert (
        head
        == "model,suite,condition,region,label,position,bits,low,high,n,undefined,empty,low_within,high_within,remarks"
    )
    assert rows[0].startswith("toy:12-sentences,agreement,good,1,subject,0,")
    assert len(rows) == 4


def test_unknown_formats_are_refused_before_anything_is_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    toy_run(tmp_path, PLAIN)
    assert main(["report", str(tmp_path), "--figures", str(tmp_path / "figures"), "--format", "svg,gif"]) == 2
    assert "'gif'" in capsys.readouterr().err
    for output in ("page.html", "pages/"):
        assert main(["report", str(tmp_path), "-o", str(tmp_path / output), "--format", "gif"]) == 2
        assert "--format: given without --figures" in capsys.readouterr().err
        assert not (tmp_path / output).exists()
    assert not (tmp_path / "figures").exists()
    assert not (tmp_path / "report.html").exists()


@pytest.mark.slow
def test_hostile_suite_names_stay_in_the_folder(tmp_path: Path) -> None:
    hostile(tmp_path / "run")
    figures = tmp_path / "figures"
    assert main(["report", str(tmp_path / "run"), "--figures", str(figures), "--format", "svg"]) == 0
    names = {path.name for path in figures.iterdir()}
    assert "11-etc-passwd.svg" in names
    assert "07-javascript-alert-1.svg" in names
    assert {path.name for path in tmp_path.iterdir()} == {"run", "figures"}


def test_an_unfinished_run_is_reported_with_exit_code_1(tmp_path: Path) -> None:
    run = toy_run(tmp_path, PLAIN)
    interrupt(run.folder)
    assert main(["report", str(tmp_path)]) == 1
    assert "Unfinished" in (tmp_path / "report.html").read_text("utf-8")


def test_no_run_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path)]) == 2
    assert "no run.json" in capsys.readouterr().err


@pytest.mark.slow
def test_help_and_report_load_neither_torch_nor_what_fits_reading_times(tmp_path: Path) -> None:
    toy_run(tmp_path, PLAIN)
    code = (
        "import sys; from syntagm.cli import main; assert main(sys.argv[1:]) == 0; "
        "import syntagm.report.serve.browse, syntagm.report.site.folder; "
        "assert not {'torch', 'transformers', 'syntagm.reading_times.analyses'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, "report", str(tmp_path)], check=True, capture_output=True)
