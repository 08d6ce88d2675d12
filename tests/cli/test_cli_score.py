"""`syntagm score` on files: tables in four formats, what is printed beside them, and what is refused."""

import csv
import io
import json
from pathlib import Path

import polars as pl
import pytest

from syntagm.cli import main

LINES = "The dog barks\n\nThe cats sleep, \n"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "sents.txt"
    path.write_text(LINES)
    return path


def test_the_four_formats_hold_the_same_table(text: Path, tmp_path: Path) -> None:
    frames = []
    for ending in ("csv", "tsv", "parquet", "jsonl"):
        path = tmp_path / f"words.{ending}"
        for _ in range(2):  # a table that this command wrote is replaced
            assert main(["score", "toy", "--file", str(text), "--by", "word", "-o", str(path)]) == 0
        match ending:
            case "parquet":
                frames.append(pl.read_parquet(path))
            case "jsonl":
                frames.append(pl.read_ndjson(path))
            case _:
                separator = {"csv": ",", "tsv": "\t"}[ending]
                frames.append(pl.read_csv(path, separator=separator, schema_overrides={"bits": pl.Float64}))
    first = frames[0].with_columns(pl.col("known").cast(pl.Boolean))
    assert first["word"].to_list() == ["The", "dog", "barks", "The", "cats", "sleep,"]
    assert first["line"].to_list() == [1, 1, 1, 3, 3, 3]
    for frame in frames[1:]:
        assert frame.with_columns(pl.col("known").cast(pl.Boolean)).equals(first)


def test_a_table_on_standard_output(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["score", "toy", "The dog", "a\tb", "-o", "-"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["token"] for row in rows] == ["The", " dog", "a", "\tb"]
    assert list(rows[0]) == ["text", "line", "index", "start", "end", "token", "bits", "known", "context"]
    assert rows[0]["bits"] == "2"
    monkeypatch.setattr("sys.stdin", io.StringIO("The dog\nbarks\n"))
    assert main(["score", "toy", "-", "--context", "document", "-o", "-"]) == 0
    shown = capsys.readouterr()
    assert [row["line"] for row in csv.DictReader(io.StringIO(shown.out))] == ["1", "1", "2"]
    assert "note: line ends of the document read as spaces: 1 " in shown.err


@pytest.mark.slow
def test_a_text_beyond_the_window_has_all_its_bits_and_that_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    long = " ".join(["The keys to the cabinet are here."] * 40)
    assert main(["score", "demo", "--json", "The dog", long]) == 0
    shown = capsys.readouterr()
    _, line = (json.loads(line) for line in shown.out.splitlines())
    assert len(line["tokens"]) > 256
    assert all(token["bits"] is not None for token in line["tokens"])
    assert max(token["context"] for token in line["tokens"]) == 255
    assert line["bits"] == pytest.approx(sum(word["bits"] for word in line["words"]))
    assert "note: 1 of 2 texts longer than the model's window, scored in 3 windows" in shown.err


@pytest.mark.slow
def test_the_parts_of_a_character_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "demo?eos=yes", "café 雪 😀"]) == 0
    shown = capsys.readouterr().out
    assert [shown.count(f"part of '{character}'") for character in "é雪😀"] == [1, 2, 3]
    assert shown.count("end-of-text symbol, ") == 1


@pytest.mark.slow
def test_bits_that_the_option_excludes_are_said_and_no_failure(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "demo?bos=no", "--file", str(text), "-o", "-"]) == 0
    shown = capsys.readouterr()
    assert shown.out.count(",nan,") == 2
    assert "note: 2 tokens without bits, since nothing precedes the first token of a text (bos=no)" in shown.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sents.txt"], "a text that looks like the name of a file"),
        (["unknown.csv"], "a text that looks like the name of a file"),
        ([], "no text"),
        (["The dog", "--file", "FILE"], "TEXT and --file"),
        (["The dog", "--context", "document"], "texts on the command line"),
        (["--file", "FILE", "--by", "word"], "no table to write"),
        (["--file", "FILE", "-o", "words.xlsx"], "one of .csv, .tsv, .parquet, .jsonl"),
        (["--file", "FILE", "-o", "FILE"], "one of .csv"),
        (["--file", "FILE", "--json", "-o", "-"], "-o as well"),
        (["--file", "FILE", "--stride", "-1", "-o", "-"], "a whole number from 0"),
        (["--file", "FILE", "--stride", "5", "-o", "-"], "expected no stride"),
        (["--file", "missing.txt", "-o", "-"], "no such file"),
        (["--file", "FILE", "--punctuation", "apart", "-o", "-"], "rows of words"),
    ],
)
def test_what_is_refused(
    arguments: list[str],
    said: str,
    text: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(text.parent)
    assert main(["score", "toy", *(argument.replace("FILE", "sents.txt") for argument in arguments)]) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert not shown.out
    assert text.read_text() == LINES


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl"])
def test_a_file_of_somebody_else_is_kept(ending: str, text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path := text.with_suffix(f".{ending}")).write_text("somebody's notes\n")
    line = ["score", "toy", "--file", str(text), "-o", str(path)]
    assert main(line) == 2
    assert "--force" in capsys.readouterr().err
    assert path.read_text() == "somebody's notes\n"
    assert main([*line, "--force"]) == 0


def test_words_that_share_a_token_have_no_bits_and_the_exit_code_is_1(
    text: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from syntagm.models import Toy

    whole = Toy.score

    def joined(self: Toy, texts: list[str], done: object = None) -> object:
        for answer in whole(self, texts):
            yield type(answer)(answer.text, answer.starts[:1], answer.bits[:1], answer.in_vocabulary[:1])

    monkeypatch.setattr(Toy, "score", joined)
    assert main(["score", "toy", "--file", str(text), "--by", "word", "-o", "-"]) == 1
    shown = capsys.readouterr()
    assert (
        "syntagm: 6 of 6 words without bits: a token belongs to several words, for example 'The dog barks'" in shown.err
    )
