"""The command check: what it prints, and its exit codes."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from syntagm.cli import main
from syntagm.suites import read_suite_file

DATA = Path(__file__).parents[1] / "data"
CHECK = DATA / "check"


def test_a_suite_without_faults(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(CHECK / "fine-0.json")]) == 0
    assert capsys.readouterr().out == "1 file, 1 suite, 2 items: 0 errors, 0 warnings\n"


def test_warnings_are_shown_and_do_not_fail(capsys: pytest.CaptureFixture[str]) -> None:
    path = CHECK / "W203-0.json"
    assert main(["check", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{path}, item 2, condition b, region 2: W203 a compared region is empty")
    assert lines[1] == "1 file, 1 suite, 2 items: 0 errors, 1 warning"
    assert main(["check", "--no-warnings", str(path)]) == 0
    assert capsys.readouterr().out == "1 file, 1 suite, 2 items: 0 errors, 1 warning\n"


def test_an_unreadable_file_is_an_error_and_the_others_are_still_checked(capsys: pytest.CaptureFixture[str]) -> None:
    broken, good = CHECK / "E001-0.json", CHECK / "fine-0.json"
    assert main(["check", str(broken), str(good)]) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"{broken}: E001 prediction 0, formula, character 11: a region that can't be read")
    # The caret stands under the place.
    assert "\n  (2;%a%) < (2;%b%\n            ^\n" in out
    assert out.endswith("2 files, 1 suite, 2 items: 1 error, 0 warnings\n")


def test_one_name_in_two_files(capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(CHECK / f"E103-{number}.tsv") for number in (0, 1)]
    assert main(["check", *files]) == 0
    captured = capsys.readouterr()
    for number in (0, 1):
        note = f"note: {files[number]}: the suite kites is called E103-{number}/kites, because another file has a suite"
        assert note in captured.err
    # One file with two options can't be told apart.
    assert main(["check", files[0], f"{files[0]}?quote=none"]) == 1
    assert "E103-0.tsv?quote=none: E103 a second suite called 'kites', the first is in " in capsys.readouterr().out


def test_columns_that_are_not_scored_are_named_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(f"{name},good,bad,context,id\n1,Ida sings.,Ida sing.,Yesterday.,x\n")
    (tmp_path / "c.csv").write_text("a,good,bad,context\n1,Ida hums.,Ida hum.,Yesterday.\n")
    assert main(["check", str(tmp_path)]) == 0
    assert capsys.readouterr().err.splitlines() == [
        f"note: {tmp_path / 'a.csv'} and 2 more files: read as pairs: good: good, bad: bad, suite: the file",
        f"note: {tmp_path / 'a.csv'} and 1 more file: columns that are not scored: a, context",
        f"note: {tmp_path / 'b.csv'}: columns that are not scored: b, context",
    ]


def test_what_is_assumed_of_a_table_without_a_header_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bare.tsv").write_text("The kite is high.\tThe kite are high.\n")
    assert main(["check", str(tmp_path)]) == 0
    note = "no header; the first column is taken as the good sentence, the second as the bad one"
    assert capsys.readouterr().err.splitlines() == [f"note: {tmp_path / 'bare.tsv'}: read as pairs: {note}"]


def test_a_folder_and_what_is_left_out_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Two suites of CLiMP's layout, one of SyntaxGym in two files, and one whose format must be named.
    for name in ("syntaxgym", "climp", "zorro"):
        shutil.copytree(DATA / name, tmp_path / name)
    assert main(["check", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    assert "lanterns.csv: its suite is in lanterns.json" in captured.err
    assert "agreement-across_pp.txt: no format claims it" in captured.err
    assert captured.out.splitlines()[-1].startswith("2 files, 3 suites,")


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (
            "nothing_here.json",
            "nothing_here.json: no such file, folder or collection; expected a file, a folder, a pattern or a bundled collection",
        ),
        (f"{CHECK / 'fine-0.json'}?joined=tight", "main or hub"),
        (f"{CHECK / 'fine-0.json'}?colour=red", "no option 'colour'"),
    ],
)
def test_arguments_that_mean_nothing(argument: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", argument]) == 2
    assert message in capsys.readouterr().err


def test_ten_findings_a_code_unless_all_are_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "blanks.tsv"
    path.write_text("good\tbad\n" + "".join(f'" The kites {number}."\tThe kite {number}.\n' for number in range(13)))
    assert main(["check", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    # 10 shown, 1 line about the other 3, 1 line of counts.
    assert (len(lines), lines[10]) == (12, f"{path}: 3 more findings of W302; --all shows them")
    assert main(["check", "--all", str(path)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 14


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = json.loads((CHECK / "fine-0.json").read_text())
    whole["items"][0]["conditions"][0]["condition_name"] = "\x1b[2Jred"
    whole["items"][0]["item_number"] = "\x9b31m"
    (tmp_path / "hostile.json").write_text(json.dumps(whole))
    assert main(["check", str(tmp_path / "hostile.json")]) == 1
    out = capsys.readouterr().out
    assert "\\x1b[2Jred" in out
    assert all(character.isprintable() or character == "\n" for character in out)


def test_it_loads_no_heavy_library() -> None:
    code = (
        "import sys; from syntagm.cli import main; main(['check', sys.argv[1]]); "
        "print([name for name in ('torch', 'transformers', 'polars', 'altair', 'scipy') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(CHECK / "fine-0.json")], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_suites_about_which_a_model_is_not_asked_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words, pairs = str(CHECK / "fine-0.json"), tmp_path / "pairs.tsv"
    pairs.write_text("good\tbad\n" + "".join(f"The dog{n} barks\tThe dog{n} bark\n" for n in range(10)))
    assert main(["check", words, "--model", "no/such-model"]) == 2
    assert "--model: no suite of pairs; expected items with the conditions good and bad" in capsys.readouterr().err
    assert main(["check", words, str(pairs), "--model", "toy"]) == 0
    assert "note: not scored by --model, as not all items are pairs: 1 suite: " in capsys.readouterr().err
    assert main(["check", str(pairs), "--model", "toy"]) == 0
    assert "not scored" not in capsys.readouterr().err
    assert main(["check", str(CHECK / "E001-0.json"), "--model", "toy"]) == 1


def test_findings_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("good\tbad\nIda  sings well.\tIda sing well.\nBo hums a tune.\tBo hums a tune.\n")
    assert main(["check", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(each["code"], each["path"], each["item"]) for each in found["findings"]] == [
        ("W204", str(path), "1"), ("W301", str(path), "0"),
    ]  # fmt: skip
    assert found["summary"] == {"files": 1, "suites": 1, "items": 2, "counts": {"W204": 1, "W301": 1}}


def test_what_is_mechanical_is_mended_and_the_rest_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, fixed, excluded = (tmp_path / name for name in ("pairs.tsv", "clean.tsv", "bad.csv"))
    path.write_text(
        'good\tbad\tdiscard\n" Ida  sings well."\tIda sing well.\t\n'
        "Bo hums a tune.\tBo hums a tune.\t\n"
        "Les Ã©lÃ¨ves dorment.\tLes e\u0301lèves dort.\t\nAda sees it.\tAda see it.\ttypo\n",
        encoding="utf-8",
    )
    arguments = ["check", str(path), "--fix", str(fixed), "--exclude-list", str(excluded)]
    assert main(arguments) == 0
    assert "3 sentences mended" in capsys.readouterr().out
    [suite] = read_suite_file(fixed)
    assert [suite.items[0].sentences["good"].text, *(each.text for each in suite.items[2].sentences.values())] == [
        "Ida sings well.", "Les élèves dorment.", "Les élèves dort.",
    ]  # fmt: skip
    log = (tmp_path / "clean.tsv.log.csv").read_text(encoding="utf-8").splitlines()
    assert log[:2] == [
        "suite,item,condition,codes,before,after",
        "pairs,0,good,W301 W302, Ida  sings well.,Ida sings well.",
    ]
    assert [line.split(",")[3] for line in log[2:]] == ["W306", "W303"]
    assert excluded.read_text() == "suite,item\npairs,1\npairs,3\n"
    assert main(arguments) == 2  # the mended file is there
    assert "this file exists" in capsys.readouterr().err


def test_a_test_sentence_that_is_in_the_training_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, verb in (("train", "sings"), ("test", "hums")):
        (tmp_path / f"{name}.tsv").write_text(f"good\tbad\nThe cook {verb} well.\tThe cook {verb}s good.\n")
    assert main(["check", str(tmp_path)]) == 0
    assert "item 0, condition good: W106 nearly the same sentence in training data" in capsys.readouterr().out


@pytest.mark.slow
def test_frequency_is_that_of_the_language(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("wordfreq")
    path = tmp_path / "pairs.tsv"
    path.write_text("good\tbad\n" + "Die Frau schläft gern.\tDie Frau zirpt gern.\n" * 1, encoding="utf-8")
    assert main(["check", str(path), "--language", "de", "--baselines"]) == 0
    assert "chance 0.500; frequency 1.000 (0 ties)" in capsys.readouterr().out
    assert main(["check", str(path), "--baselines"]) == 0
    printed = capsys.readouterr().out
    assert "no baseline of frequency: its language is not said" in printed
    assert "frequency 1.000" not in printed


def test_words_are_those_of_the_language_in_a_text_of_the_user_and_without_a_list(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (text := tmp_path / "text.txt").write_text("Un élève dort.\n", encoding="utf-8")
    (french := tmp_path / "fr.tsv").write_text("good\tbad\nL'élève dort.\tL'élève dorment.\n", encoding="utf-8")
    assert main(["check", f"{french}?language=fr", "--baselines", "--unigrams", str(text)]) == 0
    assert "fr: 2 words without a count in text.txt: L, dorment" in capsys.readouterr().out
    (lao := tmp_path / "lo.tsv").write_text("good\tbad\nຂ້ອຍກິນເຂົ້າ\tຂ້ອຍເຂົ້າກິນ\n", encoding="utf-8")
    assert main(["check", f"{lao}?language=lo", "--baselines"]) == 0
    printed = capsys.readouterr().out
    assert "lo: words by " in printed, "characters count as words, unless ICU is installed"
    assert "; no baseline of frequency: " in printed


def test_both_items_of_a_contested_sentence_are_excluded(tmp_path: Path) -> None:
    path, excluded = tmp_path / "pairs.tsv", tmp_path / "out.csv"
    path.write_text("good\tbad\nIda sings well.\tIda sing well.\nIda sing well.\tIda sung well.\nHe hums.\tHe hum.\n")
    assert main(["check", str(path), "--exclude-list", str(excluded)]) == 0
    assert sorted(excluded.read_text().split()) == ["pairs,0", "pairs,1", "suite,item"]
