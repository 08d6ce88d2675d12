"""Names that stand for several models, and folders of several runs."""

from pathlib import Path

import pytest
from toy_runs import agreement, toy_run

from syntagm.cli import main
from syntagm.core import UsageError
from syntagm.models import coarse, label_part, largest, several
from syntagm.runs import run_folders


def test_a_pattern_names_folders_in_natural_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("step10", "step2", "step100", "other"):
        (tmp_path / "ckpt" / name).mkdir(parents=True)
    (tmp_path / "ckpt" / "step.txt").write_text("")
    monkeypatch.chdir(tmp_path)
    assert several("ckpt/step*") == ["ckpt/step2", "ckpt/step10", "ckpt/step100"]
    assert several("masked:ckpt/step1*?bos=no") == ["masked:ckpt/step10?bos=no", "masked:ckpt/step100?bos=no"]
    assert several("ckpt/{other,step2}") == ["ckpt/other", "ckpt/step2"]
    with pytest.raises(UsageError, match="no folder that matches"):
        several("ckpt/epoch*")


def test_ranges_end_at_the_last_number_that_fits_and_are_crossed() -> None:
    assert several("m@step{0..7..3}") == ["m@step0", "m@step3", "m@step6"]
    assert several("m{1..2}-{a,b}") == ["m1-a", "m1-b", "m2-a", "m2-b"]
    assert several("gpt2") == ["gpt2"]


@pytest.mark.parametrize(
    ("text", "model", "expected"),
    [
        ("ckpt/step*", "ckpt/step100", "step100"),
        ("lstm:ckpt//seed*/best/?bos=no", "lstm:ckpt/seed1/best/?bos=no", "seed1/best?bos=no"),
        ("lstm:*/best", "lstm:a/best", "a/best"),
        ("seed[12]/step*", "seed1/step5", "seed1/step5"),
        ("a[1]/{x,y}", "a[1]/x", "x"),
        ("/data/{a/1,b}/best", "/data/a/1/best", "a/1/best"),
        ("../m/{lstm,rnng}-{1..2}", "../m/lstm-1", "lstm-1"),
        ("org/name@step{1..3}", "org/name@step2", "name@step2"),
        ("{lstm,masked}:m/best", "lstm:m/best", "lstm:m/best"),
        ("m/rnng?beam=1,2", "m/rnng?beam=1", "rnng?beam=1"),
        ("m/rnng?tokens={saved,moses}", "m/rnng?tokens=moses", "rnng?tokens=moses"),
        ("python:own.py:Model", "python:own.py:Model", "Model"),
    ],
)
def test_a_label_begins_where_the_pattern_does(text: str, model: str, expected: str) -> None:
    assert label_part(text, model) == expected


def test_the_largest_models_come_first(tmp_path: Path) -> None:
    for name, size in (("small", 10), ("large", 1000), ("middle", 100)):
        (tmp_path / name / "inside").mkdir(parents=True)
        (tmp_path / name / "inside" / "weights").write_bytes(bytes(size))
    models = [f"lstm:{tmp_path}/{name}?bos=no" for name in ("small", "large", "middle")]
    assert largest(["org/on-the-hub", *models, "org/other"]) == [2, 3, 1, 0, 4]


def test_a_coarse_order_has_every_place_once_and_the_ends_first() -> None:
    for count in range(40):
        assert sorted(coarse(count)) == list(range(count))
    assert coarse(17)[:5] == [0, 16, 8, 4, 12]


@pytest.mark.parametrize(
    "text",
    [
        "m{3..1}",
        "m{1..3..0}",
        "m{1..}",
        "m{}",
        "m{a}",
        "m{a,}",
        "m{0..99999}",
        "m{1..200}{1..200}",
        "m{1..9e9}",
        "m{{1..2},3}",
        "m{1..2}}",
        "random?seed=1,",
        "random?seed=,1",
    ],
)
def test_ranges_that_can_not_be_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        several(text)


def test_a_folder_of_runs_is_its_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for step in (10, 9, 100):
        toy_run(tmp_path / "sweep" / f"step{step}", agreement())
    (tmp_path / "sweep" / "notes").mkdir()
    assert [path.name for path in run_folders(tmp_path / "sweep")] == ["step9", "step10", "step100"]
    assert run_folders(tmp_path / "sweep" / "step9") == [tmp_path / "sweep" / "step9"]
    assert main(["table", "trajectory", str(tmp_path / "sweep"), "--format", "csv"]) == 0
    assert main(["table", "scores", str(tmp_path / "sweep" / "notes")]) == 2
    assert "no run.json" in capsys.readouterr().err
