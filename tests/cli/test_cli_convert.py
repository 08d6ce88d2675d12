"""The command convert: exact where it can be, and never a silent loss."""

import os
from pathlib import Path

import pytest

from syntagm.cli import main

DATA = Path(__file__).parents[1] / "data"
LANTERNS = DATA / "syntaxgym" / "lanterns.json"
AGREEMENT = DATA / "blimp" / "lantern_agreement.jsonl"


def test_to_the_same_format_byte_for_byte(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", str(LANTERNS), str(tmp_path / "out.json")]) == 0
    assert (tmp_path / "out.json").read_bytes() == LANTERNS.read_bytes()
    assert capsys.readouterr().out == f"{tmp_path / 'out.json'}: 1 suite, 2 items\n"
    # Nothing else was left behind.
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_pairs_to_blimp_and_back(tmp_path: Path) -> None:
    first, second, third = (tmp_path / name for name in ("a.tsv", "b.jsonl", "c.tsv"))
    assert main(["convert", str(AGREEMENT), str(first)]) == 0
    assert main(["convert", str(first), str(second)]) == 0
    assert main(["convert", str(second), str(third)]) == 0
    assert third.read_text() == first.read_text()


def test_a_loss_is_listed_and_nothing_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "lanterns.csv"
    command = ["convert", str(LANTERNS), str(target), "--as", "syntaxgym_csv"]
    assert main(command) == 2
    error = capsys.readouterr().err
    assert "syntaxgym_csv can't store everything" in error
    assert "\n  predictions 0, 1\n  tag comment\n" in error
    assert list(tmp_path.iterdir()) == []
    assert main([*command, "--lossy"]) == 0
    assert capsys.readouterr().out == f"lost: predictions 0, 1\nlost: tag comment\n{target}: 1 suite, 2 items\n"
    assert target.read_bytes() == LANTERNS.with_suffix(".csv").read_bytes()


def test_a_format_that_loses_nothing_is_preferred(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options in ([], ["--lossy", "--force"]):
        assert main(["convert", str(LANTERNS), str(tmp_path / "out.csv"), *options]) == 0
        assert "lost" not in capsys.readouterr().out
        assert (tmp_path / "out.csv").read_text().startswith("item,condition,")


def test_a_suite_that_no_format_of_the_ending_can_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", str(LANTERNS), str(tmp_path / "out.jsonl")]) == 2
    refused = capsys.readouterr().err
    assert (
        "blimp can't store it: suite lanterns: the predictions 0, 1; expected the predictions of minimal pairs"
        in refused
    )
    # The names that are needed.
    assert "full_sentence = (*;%good%) < (*;%bad%), alone or followed by one_prefix or two_prefix = " in refused
    assert main(["convert", str(AGREEMENT), str(tmp_path / "out.json")]) == 2
    lost = capsys.readouterr().err
    assert "syntaxgym can't store everything" in lost
    assert "predictions full_sentence, one_prefix" in lost
    assert list(tmp_path.iterdir()) == []


def test_names_that_syntaxgym_replaces_by_numbers_are_a_loss(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", "hu2020/number_prep", str(tmp_path / "out.json")]) == 2
    # The sentences are the same; what stands in the file are regions 1, 2, 3 ... and the prediction 0.
    assert capsys.readouterr().err.endswith(
        "without the following:\n  predictions paper\n  the conditions, or regions and their names\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_csv_is_whichever_can_hold_the_suite(tmp_path: Path) -> None:
    assert main(["convert", str(AGREEMENT), str(tmp_path / "pairs.csv")]) == 0
    assert (tmp_path / "pairs.csv").read_text().startswith("suite,id,good,bad,")


def test_an_existing_file_is_kept_unless_forced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "out.json"
    target.write_text("mine")
    assert main(["convert", str(LANTERNS), str(target)]) == 2
    assert "this file exists" in capsys.readouterr().err
    assert target.read_text() == "mine"
    # A failure leaves the old file in its place even then.
    assert main(["convert", "--force", str(AGREEMENT), str(target)]) == 2
    assert target.read_text() == "mine"
    assert main(["convert", "--force", str(LANTERNS), str(target)]) == 0
    assert target.read_bytes() == LANTERNS.read_bytes()
    assert main(["convert", str(LANTERNS), str(target)]) == 0, "the same content may be written again"
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["IN", "OUT/out.xml"], "the extension '.xml'; expected one of ."),
        (
            ["--as", "clams", "IN", "OUT/out.tsv"],
            "--as: 'clams'; expected one of ",
        ),
        (["--as", "yes-now", "IN", "OUT/out"], "lm-eval-task, in-template, yes-no. Did you mean yes-no?"),
        (["DATA/blimp", "OUT/out.jsonl"], "files; expected one"),
        (["--force", "IN", "OUT"], "is a folder; expected the name of a file"),
        (["--force", "IN", "OUT/out"], "the extension ''"),
        (["--force", "--as", "syntaxgym", "IN", "OUT"], "is a folder; expected the name of a file"),
        (["nothing_here", "OUT/out.json"], "no such file, folder or collection"),
    ],
)
def test_refusals(arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "here").mkdir()
    names = {"IN": str(LANTERNS), "OUT": str(tmp_path / "here"), "DATA": str(DATA)}
    filled = [names.get(head, head) + slash + rest for head, slash, rest in (part.partition("/") for part in arguments)]
    assert main(["convert", *filled]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tmp_path.chmod(0o500)
    assert main(["convert", str(LANTERNS), str(tmp_path / "out.json")]) == 2
    assert "can't be written (Permission denied)" in capsys.readouterr().err


def test_a_full_disk_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert main(["convert", str(LANTERNS), str(tmp_path / "out.json")]) == 2
    assert "out.json: no space for" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
