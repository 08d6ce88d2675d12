"""The option -o: refused before any work if nothing can be written there."""

import argparse
from collections.abc import Iterator
from pathlib import Path

import pytest

from syntagm import cli
from syntagm.cli import main
from syntagm.core import UsageError


def outputs(parser: argparse.ArgumentParser, command: str = "") -> Iterator[tuple[str, argparse.Action]]:
    """The option -o of each command and subcommand."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from outputs(inner, f"{command} {name}")
        elif action.dest == "output":
            yield command, action


@pytest.mark.parametrize(("command", "action"), list(outputs(cli._parser())), ids=lambda value: str(value)[:20])
def test_an_empty_path_is_refused_by_every_command(command: str, action: argparse.Action) -> None:
    assert callable(action.type), f"{command}: declare -o by cli._files.add_output"
    for text in ("", " "):
        with pytest.raises(UsageError, match="-o: an empty path"):
            action.type(text)


LINES = [
    ["train", "ngram", "--corpus", "nothing.txt", "-o"],
    ["train", "gpt2", "--corpus", "nothing.txt", "--valid", "nothing.txt", "-o"],
    ["run", "nothing", "--suite", "nothing", "-o"],
    ["report", "nothing", "-o"],
    ["report", "nothing", "--figures"],
    ["export", "nothing", "--as", "tokens", "-o"],
    ["table", "scores", "nothing", "-o"],
    ["make", "nothing", "-o"],
]


@pytest.mark.parametrize("line", LINES, ids=lambda line: " ".join(line[:2] + line[-1:]))
def test_a_place_that_cannot_be_written_is_refused_before_anything_is_read(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything else in these lines is wrong, too: what is said first was looked at first."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    for place, message in (
        ("/proc/here", "can't be written"),
        ("file/x", "file is not a folder"),
        ("", "an empty path"),
    ):
        assert main([*line, place]) == 2
        assert message in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_report_is_written_beside_its_run_or_refused_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "/proc"]) == 2
    assert "/proc/report.html: can't be written" in capsys.readouterr().err
    assert main(["report", "nowhere"]) == 2
    assert "nowhere: no run.json" in capsys.readouterr().err


@pytest.mark.slow
def test_missing_folders_are_made_for_what_is_written_and_left_alone_otherwise(tmp_path: Path) -> None:
    suite, new = str(Path(__file__).parent.parent / "data" / "syntaxgym" / "lanterns.json"), tmp_path / "new"
    assert main(["report", "nothing", "-o", str(new / "deeper" / "page.html")]) == 2
    assert main(["convert", "nothing", str(new / "deeper" / "lanterns.csv")]) == 2
    assert not new.exists()
    assert main(["convert", suite, str(new / "deeper" / "lanterns.json")]) == 0
    assert main(["run", "toy", "--suite", suite, "-o", str(tmp_path / "run"), "--no-report"]) == 0
    for folder, line in (
        ("exported", ["export", str(tmp_path / "run"), "--as", "results"]),
        ("reported", ["report", str(tmp_path / "run")]),
        ("described", ["describe", suite]),
        ("scored", ["score", "toy", "The dog barks."]),
    ):
        target = tmp_path / folder / ("file.md" if folder == "described" else "file.csv")
        assert main([*line, "-o", str(target)]) == 0
        assert target.exists(), folder
