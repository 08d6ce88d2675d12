"""Fill runs: names of folders and of columns that look like something else, and tags of suites that change."""

import dataclasses
from pathlib import Path

import pytest
from fill_for_tests import Drawn
from test_fill_run import CLASH, SIMPLE, VOCABULARY, WORDS, filled
from toy_runs import pairs

from syntagm.cli import main
from syntagm.core import RunError, UsageError
from syntagm.runs import fill
from syntagm.views import gaps


@pytest.mark.slow
def test_a_folder_may_be_named_like_a_model_with_its_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [tmp_path / f"gpt2?bos={bos}" for bos in ("no", "yes")]
    runs = [filled(folder) for folder in folders]
    assert gaps.words(runs[0]).hash == WORDS.hash
    assert gaps.lemma_table(runs[0]).equals(gaps.lemma_table(runs[1]))
    assert main(["compare", *map(str, folders), "--measure", "equal_weight"]) == 0
    assert main(["report", *map(str, folders), "-o", str(tmp_path / "report.html")]) == 0
    capsys.readouterr()


@pytest.mark.parametrize("numbers", [("", "pl"), ("sg", "pl"), ("pl", "")])
def test_the_number_of_a_suite_may_not_change_where_it_says_labels(tmp_path: Path, numbers: tuple[str, str]) -> None:
    # `purrs` and `purr` are not in the list, so only the number says their label; with either there are as many contexts.
    texts = ("The dogs bark.", "The dogs barks."), ("The cats purr.", "The cats purrs.")
    before, after = (pairs("same", *texts, tags={"number": one} if one else {}) for one in numbers)
    assert before.tags != after.tags
    filled(tmp_path, before)
    kept = {name: (tmp_path / name).read_bytes() for name in ("run.json", "results.csv", "words.csv", "ledger.jsonl")}
    of_old, of_new = (f"same.number = {one or None!r}" for one in numbers)
    with pytest.raises(RunError, match=f"a run with {of_old}; expected {of_new}"):
        filled(tmp_path, after)
    assert {name: (tmp_path / name).read_bytes() for name in kept} == kept
    assert filled(tmp_path, before).record["status"] == "done"


def test_the_number_of_a_suite_may_change_where_the_list_says_all_labels(tmp_path: Path) -> None:
    before = pairs("same", ("The dogs bark.", "The dogs barks."), tags={"number": "pl"})
    after = dataclasses.replace(before, tags={"number": "sg"})
    assert filled(tmp_path, before).record["contexts"]["same"]["contradicted"] == 0
    model = Drawn(VOCABULARY)
    run = filled(tmp_path, after, model=model)
    assert (model.asked, run.suites[0].tags) == ([], {"number": "sg"})
    # The record tells what was asked now.
    assert run.record["contexts"]["same"]["contradicted"] == 1


def test_columns_of_a_list_may_be_called_like_those_of_the_table(tmp_path: Path) -> None:
    named = ["row", "right", "won", "label", "model", "measure", "band", "tag:right"]
    words = dataclasses.replace(
        WORDS, rows=tuple(dataclasses.replace(row, tags={name: f"{name} of {k}" for name in named})
                          for k, row in enumerate(WORDS.rows))
    )  # fmt: skip
    run = fill(Drawn(VOCABULARY), (SIMPLE, CLASH), words, tmp_path)
    plain = gaps.lemma_table(filled(tmp_path / "plain"))
    found = gaps.lemma_table(run)
    assert found.select(plain.columns).equals(plain)
    assert found.columns[len(plain.columns) :] == [
        "tag:row", "tag:right", "tag:won", "tag:label", "tag:model", "tag:measure", "band", "tag:tag:right",
    ]  # fmt: skip
    assert found["tag:right"].to_list() == [f"right of {row}" for row in found["row"]]
    for name, column in (("right", "tag:right"), ("model", "tag:model"), ("measure", "tag:measure"), ("band", "band")):
        shown = gaps.by_tag(run, name)
        assert {one.group[column] for one in shown} == {f"{name} of {row}" for row in plain["row"].unique()}
        assert {one.group.model for one in shown} == {run.model}
        assert {one.group.measure for one in shown} == {"equal_weight", "model_weight"}
    # What the table has beside the tags is none of them.
    with pytest.raises(
        UsageError, match="no tag 'lemma'; expected row, right, won, label, model, measure, band, tag:right"
    ):
        gaps.by_tag(run, "lemma")
