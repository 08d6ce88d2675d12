"""Fill runs that keep the most probable entries of each gap: what is kept, resumed and refused, and the table."""

import json
from pathlib import Path

import polars as pl
import pytest
from executor_for_tests import Here
from toy_runs import interrupt, pairs

import syntagm as sg
from syntagm.cli import main
from syntagm.core import Interrupted, ModelError, Progress, RunError, UsageError
from syntagm.evaluation import Gaps
from syntagm.evaluation.gaps.tables import Rows
from syntagm.models import Entry, load
from syntagm.runs import Job, Run, fill, open_run
from syntagm.runs.computing import Work
from syntagm.runs.driver import drive
from syntagm.suites import Suite, WordList, WordRow
from syntagm.views import gaps

FORMS = [("barks", "bark"), ("sleeps", "sleep"), ("thinks", "think")]
WORDS = WordList("three", ("singular", "plural"), tuple(WordRow(two[1], two) for two in FORMS))
SIMPLE = pairs("simple", ("The dog barks.", "The dog bark."), ("The cats sleep.", "The cats sleeps."))
# Its first context is that of `simple`, with the other label.
OTHER = pairs("other", ("The dog bark.", "The dog barks."), ("She thinks that.", "She think that."))
# p = (count + 1) / (count of the word before + 24): after `dog`, barks 3 of 29, then near, ever, saw, ... 2 of 29.
AFTER_DOG = [("barks", 3 / 29), ("ever", 2 / 29), ("near", 2 / 29)]


def filled(folder: Path | None, *suites: Suite, most: int = 3, model: str = "toy") -> Run:
    return fill(load(model), suites or (SIMPLE, OTHER), WORDS, folder, most_probable=most)


def test_what_is_kept_by_pencil(tmp_path: Path) -> None:
    run = filled(tmp_path)
    rows = gaps.top_words(run, "simple").select("left", "rank", "entry", "bits", "lemma", "form_label").rows()
    assert [row[:3] for row in rows[:3]] == [("The dog ", rank, word) for rank, (word, _) in enumerate(AFTER_DOG, 1)]
    assert [2.0 ** -row[3] for row in rows[:3]] == pytest.approx([p for _, p in AFTER_DOG])
    assert [row[4:] for row in rows[:3]] == [("bark", "singular"), (None, None), (None, None)]
    assert rows[3][:3] == ("The cats ", 1, "sleep")
    assert rows[3][4:] == ("sleep", "plural")
    # The label of the context is that of the suite, the label of the entry that of the list.
    [guest] = gaps.top_words(run, "other").filter(left="The dog ", rank=1).select("label", "form_label").rows()
    assert guest == ("plural", "singular")
    assert gaps.top_words(run, "other")["left"].to_list() == ["The dog "] * 3 + ["She "] * 3


def test_no_other_number_and_no_name_of_a_unit_depends_on_it(tmp_path: Path) -> None:
    plain, listed = filled(tmp_path / "plain", most=0), filled(tmp_path / "listed")
    for ending in plain.tables:
        assert plain.table(ending).equals(listed.table(ending))
    assert listed.tables.keys() - plain.tables.keys() == {"top_words.parquet"}
    assert "most_probable" not in plain.record["options"]
    assert listed.record["options"]["most_probable"] == 3
    assert plain.suites[0].shards != listed.suites[0].shards
    assert plain.signature("simple", "tse") == listed.signature("simple", "tse")


def test_another_number_of_entries_is_another_run(tmp_path: Path) -> None:
    filled(tmp_path / "three")
    for most in (0, 4):
        with pytest.raises(RunError, match=f"a run with most_probable = 3; expected most_probable = {most}"):
            filled(tmp_path / "three", most=most)
    filled(tmp_path / "none", most=0)
    with pytest.raises(RunError, match="most_probable"):
        filled(tmp_path / "none", most=3)


def test_an_interrupted_run_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    whole = filled(tmp_path / "whole")

    class Stop(Progress):
        def answered(self, suite: str, sentences: int) -> None:
            if suite == "other":
                raise Interrupted

    with pytest.raises(Interrupted):
        fill(load("toy"), (SIMPLE, OTHER), WORDS, tmp_path / "cut", most_probable=3, progress=Stop())
    assert len(gaps.top_words(open_run(tmp_path / "cut"), "other")) == 3  # that of the shared context
    run = filled(tmp_path / "cut")
    interrupt(tmp_path / "cut", 1)
    run = filled(tmp_path / "cut")
    for suite in ("simple", "other"):
        assert gaps.top_words(run, suite).equals(gaps.top_words(whole, suite))
    written = [
        {path.name: path.read_bytes() for path in (tmp_path / name / "shards").iterdir()} for name in ("whole", "cut")
    ]
    assert written[0] == written[1]


def test_a_damaged_table_is_computed_again(tmp_path: Path) -> None:
    expected = gaps.top_words(filled(tmp_path), "simple")
    damaged = tmp_path / "shards" / f"{open_run(tmp_path).suites[0].shards[0]}.top_words.parquet"
    damaged.write_bytes(b"x")
    with pytest.raises(RunError, match="damaged"):
        gaps.top_words(open_run(tmp_path), "simple")
    assert main(["integrity", str(tmp_path)]) == 1
    assert gaps.top_words(filled(tmp_path), "simple").equals(expected)
    assert main(["integrity", str(tmp_path)]) == 0


def test_workers_keep_the_same(tmp_path: Path) -> None:
    sg.write_suites([SIMPLE], tmp_path / "simple.tsv")
    work = Work(Gaps(WORDS, most_probable=3), [str(tmp_path / "simple.tsv")])
    [(_, run)] = list(drive([Job("toy", "", tmp_path / "run")], work, tmp_path, Here(2), Progress()))
    assert isinstance(run, Run)
    alone = fill(load("toy"), sg.read_suites(tmp_path / "simple.tsv"), WORDS, None, most_probable=3)
    assert gaps.top_words(run, "simple").equals(gaps.top_words(alone, "simple"))


@pytest.mark.parametrize(
    ("left", "begins", "label"), [("Dogs", True, "plural"), ("dogs", True, "plural"), ("Dogs", False, None)]
)
def test_a_form_may_have_a_capital_where_it_begins_a_sentence(left: str, begins: bool, label: str | None) -> None:
    rows = Rows((), WordList("one", ("singular", "plural"), (WordRow("dog", ("dog", "dogs")),)), 1)
    rows.add_best("s", "c", [Entry(left, begins, 1.0), Entry("a\ud800", True, 2.0)], capital=True)
    rows.add_best("s", "d", [Entry("Dogs", True, 1.0)], capital=False)
    assert [row[3] for row in rows.entries] == [left, "a\\ud800", "Dogs"]
    assert [row[-1] for row in rows.entries] == [label, None, None]


def test_models_that_list_nothing_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"random.*this model can't list the most probable entries"):
        filled(tmp_path / "random", model="random")
    assert not (tmp_path / "random").exists()
    with pytest.raises(UsageError, match="--most-probable: -1; expected a number of entries, 0 or more"):
        filled(None, most=-1)


@pytest.fixture
def line(tmp_path: Path) -> list[str]:
    (tmp_path / "list.csv").write_text(WORDS.csv())
    texts = "id\tgood\tbad\n1\tThe dog barks.\tThe dog bark.\n2\tThe cats sleep.\tThe cats sleeps.\n"
    (tmp_path / "simple.tsv").write_text(texts)
    suite, words, run = (str(tmp_path / name) for name in ("simple.tsv", "list.csv", "run"))
    return ["fill", "toy", "--suite", suite, "--words", words, "-o", run, "--no-report"]


def test_from_the_command_to_the_table(line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*line, "--most-probable", "2"]) == 0
    assert main([*line, "--most-probable", "2"]) == 0
    assert json.loads((tmp_path / "run" / "run.json").read_text())["options"]["most_probable"] == 2
    run = str(tmp_path / "run")
    capsys.readouterr()
    assert main(["table", "top_words", run, "limit=1", "-o", str(tmp_path / "top")]) == 0
    table = pl.read_csv(tmp_path / "top.csv")
    assert table.drop("probability").rows() == [
        ("toy:12-sentences", 1, "The dog ", ".", "singular", 1, "barks", "yes", "bark", "correct"),
        ("toy:12-sentences", 1, "The dog ", ".", "singular", 2, "ever", "yes", None, None),
    ]
    assert table["probability"].to_list() == pytest.approx([3 / 29, 2 / 29])
    shown = sg.table("top_words", [open_run(run)], item="2")
    assert [(row[1], row[5]) for row in shown.rows] == [("2", 1), ("2", 2)]
    assert "toy:12-sentences: 1 of 1 contexts are shown." in shown.notes
    capsys.readouterr()
    assert main(["table", "top_words", run, "item=3"]) == 2
    assert "item=3: no context of simple with this first item; expected one of 1, 2" in capsys.readouterr().err
    assert main(["table", "top_words", run, "limit=0"]) == 2
    assert main([*line, "--most-probable", "-1"]) == 2
    assert "--most-probable: -1; expected a number of entries, 0 or more" in capsys.readouterr().err


def test_a_run_without_entries_says_how_to_keep_them(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line) == 0
    capsys.readouterr()
    assert main(["table", "top_words", str(tmp_path / "run")]) == 2
    found = capsys.readouterr().err
    assert (
        "no most probable entries; expected a run that kept them. Make one with `syntagm fill --most-probable K`."
        in found
    )
    evaluated = sg.evaluate(load("toy"), [SIMPLE])
    with pytest.raises(RunError, match="expected a fill run"):
        sg.table("top_words", [evaluated], suite="simple")
