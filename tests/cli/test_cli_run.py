"""`syntagm run` and `syntagm score`, as a user meets them."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from syntagm.cli import main
from syntagm.runs import open_run

PAIRS = "id\tgood\tbad\n1\tThe dog barks.\tThe dog bark.\n2\tThe dogs bark.\tThe dogs barks.\n"


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "agreement.tsv"
    path.write_text(PAIRS)
    return path


def test_a_run_from_suites_to_the_page(pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    assert main(["run", "toy", "--suite", str(pairs), "hu2020/mvrr", "-o", str(folder)]) == 0
    shown = capsys.readouterr()
    assert "agreement" in shown.out
    assert "full_sentence" in shown.out
    assert "Garden-Path Effects" in shown.out
    assert f"report: {folder / 'report.html'}" in shown.out
    assert "2 suites, 116 sentences" in shown.err
    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    with (folder / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["model", "suite", "item", "measure", "value", "margin"]
    # (2 + 1)/(5 + 24) against (0 + 1)/(5 + 24) after dog, and the stop after a known verb has the same count of 0.
    first = rows[0]
    assert (first["suite"], first["item"], first["measure"], first["value"]) == ("agreement", "1", "full_sentence", "1")


@pytest.mark.slow
def test_few_units_are_said_below_the_table(pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An interval from few suites or items is no more than a hint; the report and the other tables say so, too."""
    line = ["run", "toy", "random", "--suite", str(pairs), "hu2020/mvrr", "-o", str(tmp_path / "runs"), "--no-report"]
    assert main(line) == 0
    assert "\ntoy, random: only 2 suites.\n" in capsys.readouterr().out
    line[1:3] = ["toy"]
    line[line.index("-o") + 1] = str(tmp_path / "run")
    assert main(line) == 0
    shown = capsys.readouterr().out
    assert "\nagreement: only 2 items.\nall suites: only 2 suites.\n" in shown
    assert "Intervals don't know kinds of suites that are absent: " in shown
    measured = [*line[:-3], "-o", str(tmp_path / "bits"), "--no-report", "--measure", "surprisal(condition=good)"]
    measured.remove("hu2020/mvrr")
    assert main(measured) == 0
    assert "agreement, all suites: only 2 items.\n" in capsys.readouterr().out


@pytest.mark.slow
def test_the_same_line_again_shows_the_results_and_computes_nothing(
    pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["run", "demo", "--suite", str(pairs), "-o", str(tmp_path / "run"), "--no-report"]
    assert main(line) == 0
    first = capsys.readouterr()
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("*.parquet")}
    assert main(line) == 0
    second = capsys.readouterr()
    assert second.out == first.out
    assert "4 of them already finished" in second.err
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("*.parquet")} == before


@pytest.mark.slow
def test_the_cache_serves_a_second_run(pairs: Path, tmp_path: Path) -> None:
    cache = ["--cache", str(tmp_path / "cache.sqlite"), "--no-report"]
    for folder in ("one", "two"):
        assert main(["run", "demo", "--suite", str(pairs), "-o", str(tmp_path / folder), *cache]) == 0
    entries = [json.loads((tmp_path / folder / "ledger.jsonl").read_text()) for folder in ("one", "two")]
    assert [entry["cached"] for entry in entries] == [0, 4]
    one, two = (open_run(tmp_path / folder) for folder in ("one", "two"))
    assert one.results().equals(two.results())
    assert one.tokens("agreement").equals(two.tokens("agreement"))


def test_a_dry_run_writes_nothing(pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "toy", "--suite", str(pairs), "-o", str(tmp_path / "run"), "--dry-run"]) == 0
    assert "1 suite, 2 items, 4 sentences, 4 of them distinct" in capsys.readouterr().out
    assert not (tmp_path / "run").exists()


def test_the_first_prediction_the_second_and_the_conjunction(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = {
        "meta": {"name": "two", "metric": "sum"},
        "region_meta": {"1": "subject", "2": "verb"},
        "predictions": [
            {"type": "formula", "formula": "(2;%good%) < (2;%bad%)"},
            {"type": "formula", "formula": "(2;%good%) > (2;%bad%)"},
        ],
        "items": [
            {
                "item_number": 1,
                "conditions": [
                    {
                        "condition_name": name,
                        "regions": [
                            {"region_number": 1, "content": "The dog"},
                            {"region_number": 2, "content": verb},
                        ],
                    }
                    for name, verb in (("good", "barks"), ("bad", "bark"))
                ],
            }
        ],
    }
    path = tmp_path / "two.json"
    path.write_text(json.dumps(suite))
    assert main(["run", "toy", "--suite", str(path), "-o", str(tmp_path / "run"), "--no-report"]) == 0
    rows = [
        [cell.strip() for cell in line.strip("│").split("│")]
        for line in capsys.readouterr().out.splitlines()
        if "│ " in line
    ]
    assert [row[1:3] for row in rows if row[0] == "two"] == [["0", "1.000"], ["1", "0.000"], ["all", "0.000"]]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "nothing:here", "--suite", "hu2020/mvrr", "-o", "DIR"], "no family 'nothing'"),
        (["run", "toy?eso=yes", "--suite", "hu2020/mvrr", "-o", "DIR"], "no such option: 'eso'"),
        (["run", "toy?eos", "--suite", "hu2020/mvrr", "-o", "DIR"], "expected option=value"),
        (["run", "demo?bos=maybe", "--suite", "hu2020/mvrr", "-o", "DIR"], "expected one of auto, yes, no"),
        (["run", "demo?dtype=f31", "--suite", "hu2020/mvrr", "-o", "DIR"], "f31"),
        (["run", "demo?device=abacus", "--suite", "hu2020/mvrr", "-o", "DIR"], "abacus"),
        (["run", "demo?batch=0", "--suite", "hu2020/mvrr", "-o", "DIR"], "a whole number from 1"),
        (["run", "causal:./nowhere", "--suite", "hu2020/mvrr", "-o", "DIR"], "no such folder"),
        (["run", "toy", "--suite", "hu2021", "-o", "DIR"], "hu2021"),
        (["run", "toy", "--suite", "../etc", "-o", "DIR"], "no such file, folder or collection"),
        (["run", "toy", "--suite", "passive_1", "-o", "DIR"], "Did you mean warstadt2020/passive_1?"),
        (
            ["run", "toy", "--suite", "blimp", "-o", "DIR"],
            "A data set of the Hub is written with its organisation: hf:",
        ),
        (["score", "recorded:nowhere.csv", "a"], "nowhere.csv"),
        (["score", "toy", "bad \udcff bytes"], "not UTF-8"),
        (["score", "demo", "a <|endoftext|> inside"], "special symbol"),
    ],
)
def test_what_cannot_be_done_is_said_with_exit_code_2(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([argument.replace("DIR", str(tmp_path / "run")) for argument in arguments]) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert "Traceback" not in shown.err
    assert not shown.out


def test_a_run_that_is_mostly_undefined_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from syntagm.models import Toy

    whole = Toy.score

    def broken(self: Toy, texts: list[str], done: object = None) -> object:
        for answer in whole(self, texts):
            answer.bits[1 if "barks" in answer.text else 2 :] = float("nan")
            yield answer

    monkeypatch.setattr(Toy, "score", broken)
    for number, code in ((1, 1), (3, 0)):
        rows = [f"{row}\tThe dog\tThe dogs" for row in range(2, 2 + number)]
        path = tmp_path / f"{number}.tsv"
        path.write_text("\n".join(["id\tgood\tbad", "0\tThe dog barks\tThe dog bark", "1\tIt barks\tIt bark", *rows]))
        folder = str(tmp_path / f"run{number}")
        assert main(["run", "toy", "--suite", str(path), "-o", folder, "--no-report", "--no-cache"]) == code
        shown = capsys.readouterr().err
        assert ("2 of 3 results are undefined; the reasons are above" in shown) == bool(code)
        assert "2 results undefined: a text is longer than the model's positions, or" in shown


def test_score_prints_tokens_and_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "toy", "The dog barks", "--json"]) == 0
    line = json.loads(capsys.readouterr().out)
    assert [token["token"] for token in line["tokens"]] == ["The", " dog", " barks"]
    assert [word["word"] for word in line["words"]] == ["The", "dog", "barks"]
    assert line["bits"] == pytest.approx(sum(token["bits"] for token in line["tokens"]))
    assert main(["score", "toy", "The dog barks"]) == 0
    assert "8.236 bits, 3 tokens" in capsys.readouterr().out  # 2 + 2.963 + 3.273


@pytest.mark.slow
def test_an_unscored_first_token_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "demo?bos=no", "The dog", "--json"]) == 0
    line = json.loads(capsys.readouterr().out)
    assert line["tokens"][0]["bits"] is None
    assert [word["bits"] is None for word in line["words"]] == [True, False]
    assert line["bits"] == line["words"][1]["bits"]
    assert main(["score", "demo?bos=no", "The dog"]) == 0
    assert "not scored: the text begins here" in capsys.readouterr().out


def test_texts_come_from_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO("The dog barks\nThe cat sleeps\n"))
    assert main(["score", "toy", "-", "--json"]) == 0
    assert [json.loads(line)["text"] for line in capsys.readouterr().out.splitlines()] == [
        "The dog barks",
        "The cat sleeps",
    ]


def test_score_answers_line_by_line_empty_lines_included(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "toy", "--json", "The dog barks", ""]) == 0
    full, empty = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert len(full["tokens"]) == 3
    assert empty == {"model": full["model"], "text": "", "bits": 0.0, "tokens": [], "words": []}
    assert main(["score", "toy", ""]) == 0
    assert "0.000 bits, 0 tokens" in capsys.readouterr().out


def test_score_says_which_token_is_the_end_symbol(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "toy?eos=yes", "The dog barks"]) == 0
    assert capsys.readouterr().out.count("end-of-text symbol, not part of a word") == 1


def test_score_takes_the_permissions_that_run_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    (tmp_path / "pytorch_model.bin").write_bytes(b"no pickle")
    assert main(["score", str(tmp_path), "The dog"]) == 2
    assert "only pickled weights" in capsys.readouterr().err
    assert main(["score", str(tmp_path), "The dog", "--allow-pickle"]) == 2
    assert "only pickled weights" not in capsys.readouterr().err


@pytest.mark.slow
def test_output_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.is_char_device():
        pytest.skip("no /dev/full here")
    for arguments in (["score", "toy", "x"], ["score", "toy", "--json", "x"], ["--version"]):
        with full.open("w") as output:
            command = [sys.executable, "-m", "syntagm", *arguments]
            done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 2, arguments
        assert done.stderr == "syntagm: output: No space left on device; expected to read or write it\n"


def test_one_item_has_no_interval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "one.tsv"
    path.write_text("good\tbad\nThe dog barks.\tThe dog bark.\n")
    for measure in ([], ["--measure", "surprisal(condition=good)"]):
        folder = str(tmp_path / f"run{len(measure)}")
        assert main(["run", "toy", "--suite", str(path), "-o", folder, "--no-report", *measure]) == 0
        shown = capsys.readouterr().out
        assert "no interval" in shown
        assert "nan" not in shown


def test_a_suite_with_errors_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "named.tsv"
    path.write_text("suite\tgood\tbad\n../up\tThe dog barks.\tThe dog bark.\n")
    assert main(["run", "toy", "--suite", str(path), "-o", str(tmp_path / "run")]) == 2
    shown = capsys.readouterr().err
    assert "suite ../up: errors: 1; expected no errors. The first: ../up: E102 " in shown
    assert shown.endswith(". Run `syntagm check` to list all of them.\n")


def test_what_is_read_differently_than_one_may_think_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "suites"
    folder.mkdir()
    for name in ("a", "b"):
        rows = "".join(
            f"control/raising\tThe {noun} barks at {name}.\tThe {noun} bark at {name}.\t{mark}\n"
            for noun, mark in (("dog", ""), ("cat", "1"))
        )
        (folder / f"{name}.tsv").write_text(f"suite\tgood\tbad\tdiscard\n{rows}")
    (folder / "words.tsv").write_text("the\t12\nof\t3\n")
    command = ["run", "toy", "--suite", str(folder), "-o", str(tmp_path / "run")]
    assert main([*command, "--no-report"]) == 0
    captured = capsys.readouterr()
    said = [
        f"skipped: {folder / 'words.tsv'}: no format claims it: its first row is 'the', '12'; in its two columns, 0 of 2",
        f"note: {folder / 'a.tsv'} and 1 more file: columns that are not scored: discard\n",
        "warning: a/control/raising: W209 items that a tag marks as left out by the authors of the data: 1 of 2, by",
        "(W209 in 1 more suite.)",
    ]
    assert [text for text in said if text not in captured.err] == []
    run = open_run(tmp_path / "run")
    assert [suite.name for suite in run.suites] == ["a/control/raising", "b/control/raising"]
    assert run.results("b/control/raising").height == 2
    assert main(["export", str(tmp_path / "run"), "--as", "lm-eval", "-o", str(tmp_path / "results.json")]) == 0
    assert len(list(tmp_path.glob("samples_[ab]_control_raising_*.jsonl"))) == 2
    # The same, without what only informs.
    assert main([*command[:-1], str(tmp_path / "quiet"), "--no-report", "-q"]) == 0
    assert [line[:18] for line in capsys.readouterr().err.splitlines()] == ["warning: a/control"]


def test_symbols_of_other_programs_are_one_warning_with_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in "ab":
        rows = "Kites rise &amp; fall <eos>\tKites rises &amp; fall <eos>\nWe do n't rise .\tWe does n't rise .\n"
        (tmp_path / f"{name}.tsv").write_text(f"good\tbad\n{rows}")
    suites = [str(tmp_path / f"{name}.tsv") for name in "ab"]
    command = ["run", "toy", "--suite", *suites, "--no-report", "-q", "-o"]
    assert main([*command, str(tmp_path / "run")]) == 0
    first, second = [line for line in capsys.readouterr().err.splitlines() if "W3" in line]
    assert "a, item 0, condition good: W309" in first
    assert "in 2 of 4 sentences, here first: '&amp;' 2, '<eos>' 2." in first
    assert first.endswith("(W309 in 1 more suite.)")
    assert 'in 2 of 4 sentences, such as "do n\'t".' in second
    # A model over words knows marks that stand apart, but no symbols.
    lines = [
        "\\data\\",
        "ngram 1=4",
        "",
        "\\1-grams:",
        *(f"-0.5\t{word}" for word in ("<unk>", "<s>", "</s>", "kites")),
        "",
        "\\end\\",
        "",
    ]
    (tmp_path / "words.arpa").write_text("\n".join(lines))
    command[1] = str(tmp_path / "words.arpa")
    assert main([*command, str(tmp_path / "words")]) == 0
    assert [line.partition(": W")[2][:3] for line in capsys.readouterr().err.splitlines() if ": W3" in line] == ["309"]


def test_a_suite_without_predictions_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ["1,a,1,np,The dog", "1,a,2,verb,barks", "1,b,1,np,The dogs", "1,b,2,verb,bark"]
    path = tmp_path / "bare.csv"
    path.write_text("\n".join(["item_number,condition_name,region_number,region_name,content", *rows]) + "\n")
    command = ["run", "toy", "--suite", str(path), "-o", str(tmp_path / "run"), "--no-report"]
    assert main(command) == 2
    error = capsys.readouterr().err
    assert "suite bare: no predictions; expected at least one, or nothing is tested. Add one to the file" in error
    # The cure works as it is printed.
    measure = re.search(r"--measure '([^']+)'", error)
    assert measure
    assert main([*command, "--measure", measure[1]]) == 0
    assert open_run(tmp_path / "run").regions("bare")["content"].to_list() == ["The dog", "barks", "The dogs", "bark"]


def test_templates_are_drawn_from_and_styled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["-n", "4", "--seed", "2", "--style", "published", "--no-report"]
    assert main(["run", "random", "--suite", "marvin2018/sent_comp", "-o", str(tmp_path / "run"), *options]) == 0
    run = open_run(tmp_path / "run")
    [suite] = run.suites
    assert (suite.tags["seed"], suite.tags["style"]) == ("2", "published")
    texts = run.sentences("sent_comp")["text"].to_list()
    assert len(texts) == 8
    assert all(text == text.lower() and "." not in text for text in texts)
    assert len(run.results()) == 4 * 2
    capsys.readouterr()
    assert main(["run", "random", "--suite", str(pairs_file(tmp_path)), "-n", "4", "-o", str(tmp_path / "other")]) == 2
    found = f"-n: given for {tmp_path / 'few.tsv'}, whose items are not generated; expected templates and bundled"
    assert found in capsys.readouterr().err


def pairs_file(folder: Path) -> Path:
    (path := folder / "few.tsv").write_text(PAIRS)
    return path
