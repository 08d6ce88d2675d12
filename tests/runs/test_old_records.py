"""Records of format 1, which had two kinds of runs, are read, and such runs go on."""

import json
from pathlib import Path

import pytest
from toy_runs import agreement, toy_run

import syntagm as sg
from syntagm.errors import RunError
from syntagm.runs.evaluate import fill
from syntagm.runs.evaluate import run_suites as run
from syntagm.runs.store import open_run
from syntagm.tasks.gaps.task import Gaps
from syntagm.word_list import WordList, WordRow

WORDS = WordList(
    "two", ("singular", "plural"), (WordRow("bark", ("barks", "bark")), WordRow("sleep", ("sleeps", "sleep")))
)


def as_format_1(folder: Path, kind: str) -> None:
    """Write the record as the first format had it."""
    path = folder / "run.json"
    record = json.loads(path.read_text())
    model = record["model"]
    model["left_to_right"] = model.pop("sees") == "left"
    del model["exact"], record["task"]
    for suite in record["suites"]:
        del suite["asked"]
    path.write_text(json.dumps(record | {"format": 1, "kind": kind}))


def test_a_run_of_predictions_is_read_and_goes_on(tmp_path: Path) -> None:
    made = toy_run(tmp_path, agreement())
    results, signature = made.results(), str(made.signature("agreement", "verb"))
    as_format_1(tmp_path, "score")
    old = open_run(tmp_path)
    assert old.results().equals(results)
    assert (str(old.signature("agreement", "verb")), old.record["model"]["sees"], old.done) == (signature, "left", True)
    ledger = (tmp_path / "ledger.jsonl").read_bytes()
    again = run(sg.load_model("toy"), [agreement()], tmp_path)
    assert again.results().equals(results)
    assert (tmp_path / "ledger.jsonl").read_bytes() == ledger
    assert json.loads((tmp_path / "run.json").read_text())["format"] == 2


def test_a_run_over_gaps_is_read(tmp_path: Path) -> None:
    results = fill(sg.load_model("toy"), [agreement()], WORDS, tmp_path).results()
    as_format_1(tmp_path, "fill")
    old = open_run(tmp_path)
    assert old.task is Gaps
    assert old.results().equals(results)


def test_other_formats_are_refused_with_the_cure(tmp_path: Path) -> None:
    toy_run(tmp_path, agreement())
    record = json.loads((tmp_path / "run.json").read_text())
    (tmp_path / "run.json").write_text(json.dumps(record | {"format": 3}))
    with pytest.raises(
        RunError, match=r"format 3; expected format 2[.] Open it with the version of syntagm that wrote it"
    ):
        open_run(tmp_path)
