"""The command make: one file a suite, whole or not at all."""

import os
from collections import Counter
from pathlib import Path

import pytest
from grammar_for_tests import CROSS, SAMPLE, TABLE, one

from syntagm.cli import main
from syntagm.suites import expand, read_suite_file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("table", TABLE), ("cross", CROSS), ("sample", SAMPLE)):
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    return tmp_path


def make(*arguments: object) -> int:
    return main(["make", *map(str, arguments)])


def test_a_folder_of_templates(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert make(folder, "-o", folder / "out") == 0
    out = folder / "out"
    assert capsys.readouterr().out == (
        f"{out / 'cross.json'}: 24 items\n{out / 'sample.json'}: 10 items\n{out / 'table.json'}: 2 items\n"
        "3 of 3 suites, 36 items\n"
    )
    assert sorted(path.name for path in out.iterdir()) == ["cross.json", "sample.json", "table.json"]


@pytest.mark.parametrize(("format", "ending"), [("blimp", ".jsonl"), ("tsv", ".tsv")])
def test_pairs_keep_sentences_and_tags(format: str, ending: str, folder: Path) -> None:
    assert make(folder / "cross.toml", "-o", folder, "--as", format) == 0
    [suite] = read_suite_file(folder / f"cross{ending}")
    expected = one(CROSS).items
    assert [item.sentences for item in suite.items] == [item.sentences for item in expected]
    assert [item.id for item in suite.items] == [item.id for item in expected]
    assert Counter(item.tags["number"] for item in suite.items) == {"sg": 12, "pl": 12}


def test_syntaxgym_numbers_regions_and_keeps_their_names(folder: Path) -> None:
    assert make(folder / "table.toml", "-o", folder) == 0
    [suite] = read_suite_file(folder / "table.json")
    assert [region.name for region in suite.items[0].sentences["good"].regions] == ["1", "2", "3"]
    assert suite.tags["region.2"] == "verb"
    assert suite.tags["prediction.0"] == "main"
    assert str(suite.predictions[0].formula) == "(2;%good%) < (2;%bad%)"


def test_the_same_command_gives_the_same_bytes(folder: Path) -> None:
    for name in ("one", "two"):
        assert make(folder / "sample.toml", "-o", folder / name, "--seed", 3, "-n", 20) == 0
    assert make(folder / "sample.toml", "-o", folder / "three", "--seed", 4, "-n", 20) == 0
    one, two, three = ((folder / name / "sample.json").read_bytes() for name in ("one", "two", "three"))
    assert one == two != three


def test_what_a_format_cannot_hold_is_left_out_and_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert make(folder, "-o", folder / "out", "--as", "tsv") == 1
    shown = capsys.readouterr()
    assert "skipped, because tsv can't store it: suite table: the predictions main" in shown.err
    assert shown.out.endswith("2 of 3 suites, 34 items\n")
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["cross.tsv", "sample.tsv"]


def test_fewer_items_than_asked_for_are_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert make(folder / "cross.toml", folder / "table.toml", "-o", folder, "-n", 100) == 0
    shown = capsys.readouterr().out
    assert "cross.json: 24 items (all that exist; 100 requested)\n" in shown
    assert "table.json: 2 items (all that exist; 100 requested)\n" in shown
    assert make(folder / "sample.toml", "-o", folder, "-n", 100) == 2
    assert "24 different items and then none in 2,000 draws" in capsys.readouterr().err
    assert not (folder / "sample.json").exists()


def test_an_existing_file_is_kept_unless_forced(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = folder / "table.json"
    target.write_text("mine")
    assert make(folder / "table.toml", "-o", folder) == 2
    assert "this file exists" in capsys.readouterr().err
    assert target.read_text() == "mine"
    assert make(folder / "table.toml", "-o", folder, "--force") == 0
    assert target.read_text() != "mine"
    assert make(folder / "table.toml", "-o", folder) == 0, "the same content may be written again"


def test_a_full_disk_leaves_nothing_behind(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    out = folder / "out"
    out.mkdir()
    (out / "table.json").write_text("mine")
    monkeypatch.setattr(os, "fsync", full)
    assert make(folder / "table.toml", "-o", out, "--force") == 2
    assert "table.json: no space for" in capsys.readouterr().err
    assert [path.name for path in out.iterdir()] == ["table.json"]
    assert (out / "table.json").read_text() == "mine"


def test_a_stop_leaves_nothing_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(number: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", stop)
    assert make(folder / "table.toml", "-o", folder / "out") == 130
    assert list((folder / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.toml"], "no such file, folder or collection"),
        (["table.toml", "table.toml?n=1"], "suite table: two suites have this name"),
        (["table.toml", "-n", "0"], "n: '0'; expected a whole number from 1"),
        (["table.toml", "-n", "5&seed=x"], "seed: 'x'"),
        (["table.toml", "--seed", "x"], "seed: 'x'; expected a whole number from 0"),
        (["hostile.json"], "suite '../../up': a name that can't be used as a file name"),
        (["hostile.json", "-n", "3"], "no option 'n' in syntaxgym"),
    ],
)
def test_refusals(arguments: list[str], said: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert make(folder / "table.toml", "-o", folder) == 0
    content = (folder / "table.json").read_text(encoding="utf-8")
    (folder / "hostile.json").write_text(content.replace('"name": "table"', '"name": "../../up"'), encoding="utf-8")
    paths = [str(folder / one) if "." in one else one for one in arguments]
    assert make(*paths, "-o", folder / "out") == 2
    assert said in capsys.readouterr().err
    assert not list(folder.parent.rglob("up.json"))


def test_file_names_escape_the_slash_of_a_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert make(folder / "table.toml", "-o", folder) == 0
    content = (folder / "table.json").read_text(encoding="utf-8")
    for number, name in enumerate(("control/raising", "control%2Fraising")):
        (folder / f"{number}.json").write_text(
            content.replace('"name": "table"', f'"name": "{name}"'), encoding="utf-8"
        )
    assert make(folder / "0.json", "-o", folder / "out") == 0
    assert [path.name for path in (folder / "out").iterdir()] == ["control%2Fraising.json"]
    assert read_suite_file(folder / "out" / "control%2Fraising.json")[0].name == "control/raising"
    # Another suite with the same file name doesn't replace it, even with --force.
    assert make(folder / "0.json", folder / "1.json", "-o", folder / "out", "--force") == 2
    assert "suite control%2Fraising: two suites have this name" in capsys.readouterr().err


def test_the_output_is_no_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert make(folder / "table.toml", "-o", folder / "cross.toml") == 2
    assert "cross.toml: not a folder; expected a folder" in capsys.readouterr().err


@pytest.mark.slow
def test_bundled_collections(tmp_path: Path) -> None:
    assert make("warstadt2020/causative", "-o", tmp_path, "--as", "blimp", "-n", 3, "--seed", 7) == 0
    [suite] = read_suite_file(tmp_path / "causative.jsonl")
    assert len(suite.items) == 3


@pytest.mark.slow
def test_a_suite_that_syntaxgym_cannot_store_is_a_spreadsheet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No space precedes its last region, a question mark."""
    line = ["make", "warstadt2020/left_branch_island_echo_question", "-n", "2", "-o", str(tmp_path)]
    assert main(line) == 0
    assert "written as spreadsheet, because syntaxgym can't store it: suite left_branch" in capsys.readouterr().err
    [made] = read_suite_file(str(tmp_path / "left_branch_island_echo_question.tsv"))
    [generated] = read_suite_file(*expand([f"{line[1]}?n=2"]))
    assert made.items == generated.items
    assert main([*line, "--as", "syntaxgym"]) == 1
