"""Surprisals under a maximum of context, from the command line and against texts that are cut by hand."""

import csv
from pathlib import Path

import pytest

from syntagm.cli import main
from syntagm.evaluation import score_text
from syntagm.models import load

LINES = ("The dog that barks chased a cat.", "It ran away from the old house.", "Nobody saw it again.")


def scored(tmp_path: Path, *options: str, model: str = "demo") -> list[dict[str, str]]:
    (tmp_path / "story.txt").write_text("\n".join(LINES) + "\n")
    output = tmp_path / "words.csv"
    line = [
        "score",
        model,
        "--file",
        str(tmp_path / "story.txt"),
        "--by",
        "word",
        "-o",
        str(output),
        "--force",
        *options,
    ]
    assert main(line) == 0
    return list(csv.DictReader(output.read_text().splitlines()))


def bits(rows: list[dict[str, str]]) -> list[float]:
    return [float(row["bits"]) for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["demo", "demo?boundary=word"])
def test_a_maximum_that_nothing_reaches_changes_nothing(model: str, tmp_path: Path) -> None:
    whole = scored(tmp_path, "--context", "document", model=model)
    for option in (("--context-tokens", "500"), ("--context-sentences", "5")):
        limited = scored(tmp_path, "--context", "document", *option, model=model)
        assert [{**row, "bits": ""} for row in limited] == [{**row, "bits": ""} for row in whole]
        assert bits(limited) == pytest.approx(bits(whole), abs=1e-4)


@pytest.mark.slow
def test_no_sentences_of_context_are_separate_lines(tmp_path: Path) -> None:
    lines = scored(tmp_path)
    assert bits(scored(tmp_path, "--context", "document", "--context-sentences", "0")) == pytest.approx(
        bits(lines), abs=1e-4
    )
    one = scored(tmp_path, "--context", "document", "--context-sentences", "1")
    second = score_text(load("demo"), f"{LINES[1]} {LINES[2]}", by="word")["bits"].to_list()
    assert bits(one)[-4:] == pytest.approx(second[-4:], abs=1e-4)


def test_one_token_of_context_is_all_that_a_bigram_model_needs(tmp_path: Path) -> None:
    assert bits(scored(tmp_path, "--context-tokens", "1", model="toy")) == pytest.approx(
        bits(scored(tmp_path, model="toy"))
    )


@pytest.mark.slow
def test_tokens_of_context(tmp_path: Path) -> None:
    """The last word of the last line is scored as at the end of the text that begins two tokens before it."""
    rows = scored(tmp_path, "--context-tokens", "2")
    assert max(int(row["context"]) for row in rows) == 2
    tokens = score_text(load("demo"), LINES[2])
    word = LINES[2].rindex(" again.")
    first = tokens["start"].to_list().index(word)
    begin = tokens["start"][first - 2]
    expected = score_text(load("demo"), [LINES[2][begin:]], by="word")["bits"].to_list()[-1]
    assert bits(rows)[-1] == pytest.approx(expected, abs=1e-4)


def test_several_models_share_a_table(tmp_path: Path) -> None:
    both = scored(tmp_path, "--model", "random", model="toy")
    assert list(both[0])[:2] == ["model", "text"]
    assert [row["model"] for row in both] == ["toy:12-sentences"] * 18 + [load("random").name] * 18
    assert bits(both[18:]) == bits(scored(tmp_path, model="random"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--context-tokens", "2", "--context-sentences", "1"], "another rule of context"),
        (["--context-sentences", "1"], "--context document"),
        (["--context-tokens", "-1"], "a number from 0"),
        (["--model", "toy"], "twice"),
    ],
)
def test_what_does_not_go_together(
    options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "story.txt").write_text(LINES[0])
    line = ["score", "toy", "--file", str(tmp_path / "story.txt"), "-o", str(tmp_path / "out.csv"), *options]
    assert main(line) == 2
    assert said in capsys.readouterr().err
