"""Results of other tools as runs: their sums, both verdicts, and files that are not theirs."""

import json
import math
from pathlib import Path

import pytest
from toy_runs import pairs

import syntagm as sg
from syntagm.cli import main
from syntagm.core import InputError, RunError, UsageError
from syntagm.runs import import_results, open_run

NAME = "samples_syntagm_two_2026-11-27T23-25-37.191721.jsonl"


def sample(
    number: int, good: str, bad: str, nats: tuple[float, float], acc: float = 1.0, **more: object
) -> dict[str, object]:
    arguments = {f"gen_args_{k}": {"arg_0": "", "arg_1": text} for k, text in enumerate((good, bad))}
    answers = [[repr(number), "False"] for number in nats]
    doc = {"sentence_good": good, "sentence_bad": bad, "item": f"i{number}"}
    return {
        "doc_id": number,
        "doc": doc,
        "target": "0",
        "arguments": arguments,
        "filtered_resps": answers,
        "acc": acc,
    } | more


def written(folder: Path, *rows: dict[str, object], name: str = NAME) -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_samples_of_lm_eval_by_pencil(tmp_path: Path) -> None:
    """A tie is a hit in the harness, and none here; bits are nats by log 2, and rows come in the order of documents."""
    path = written(tmp_path, sample(1, "c", "d", (-2.0, -2.0)), sample(0, " a", " b", (-math.log(2), -math.log(8))))
    run = import_results("lm-eval", [path], tmp_path / "run", "org/gpt2")
    rows = run.results("two").select("item", "measure", "value", "margin").rows()
    assert rows == [
        ("i0", "full_sentence", 1.0, pytest.approx(2)), ("i0", "as_reported", 1.0, pytest.approx(2)),
        ("i1", "full_sentence", 0.0, 0.0), ("i1", "as_reported", 1.0, 0.0),
    ]  # fmt: skip
    assert run.model == "lm-eval:org/gpt2"
    assert run.sentences("two")["text"].to_list() == ["a", "b", "c", "d"]
    assert open_run(tmp_path / "run").results().equals(run.results())
    with pytest.raises(RunError, match="no surprisals"):
        sg.table("conventions", run)


def test_a_run_of_the_same_suite_can_be_compared(tmp_path: Path) -> None:
    suite = pairs("two", ("The dog barks", "The dog bark"))
    path = written(tmp_path, sample(0, "The dog barks", "The dog bark", (-1.0, -2.0)))
    run = import_results("lm-eval", [path], None, "m", [suite])
    assert run.suites[0].hash == sg.evaluate(sg.load_model("toy"), [suite]).suites[0].hash
    with pytest.raises(InputError, match="pairs of other sentences"):
        import_results("lm-eval", [path], None, "m", [pairs("two", ("a", "b"))])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"arguments": {}}, "no sample of two choices"),
        ({"filtered_resps": [["-1", "False"]]}, "other than two choices"),
        (
            {"arguments": {f"gen_args_{k}": {"arg_0": "Who?", "arg_1": "a"} for k in range(2)}},
            "a sample with a context",
        ),
        ({"filtered_resps": [["many", "False"], ["-1", "False"]]}, "no sample of two choices"),
        ({"target": "5"}, "other than two choices"),
    ],
)
def test_other_samples_are_refused(tmp_path: Path, change: dict[str, object], said: str) -> None:
    path = written(tmp_path, sample(0, "a", "b", (-1.0, -2.0)) | change)
    with pytest.raises(InputError, match=said):
        import_results("lm-eval", [path], None, "m")


def test_other_names_and_tools(tmp_path: Path) -> None:
    path = written(tmp_path, sample(0, "a", "b", (-1.0, -2.0)), name="two.jsonl")
    with pytest.raises(InputError, match="samples_TASK_DATE"):
        import_results("lm-eval", [path], None, "m")
    with pytest.raises(UsageError, match="one of babylm, lm-eval, minicons"):
        import_results("syntaxgym", [path], None, "m")
    with pytest.raises(UsageError, match="letters, digits"):
        import_results("lm-eval", [path], None, "a b")
    empty = written(tmp_path)
    with pytest.raises(InputError, match="no pairs"):
        import_results("lm-eval", [empty], None, "m")


def test_minicons_as_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("good,bad,score_good,score_bad,reported\na,b,-1.5,-3,1\nc,d,-2,-2,1\n")
    assert main(["import-results", "minicons", str(path), "--label", "gpt2", "-o", str(tmp_path / "run")]) == 0
    shown = capsys.readouterr().out
    assert "full_sentence: 0.5000 of 2 pairs, 1 ties" in shown
    assert "as_reported: 1.0000 of 2 pairs, 1 ties" in shown
    for command in (["table", "scores"], ["report"], ["integrity"]):
        assert main([*command, str(tmp_path / "run")]) == 0
    path.write_text("good,bad,score_good,score_bad\na,b,1.5,-3\n")
    with pytest.raises(InputError, match=r"line 2, score_good: '1\.5'; expected a sum of log-probabilities"):
        import_results("minicons", [path], None, "m")


def test_choices_of_babylm(tmp_path: Path) -> None:
    suite = pairs("two", ("The dog barks", "The dog bark"), ("a", "b"))
    path = tmp_path / "predictions.json"
    chosen = [{"id": "two_0", "pred": " The dog barks"}, {"id": "two_1", "pred": "b"}]
    path.write_text(json.dumps({"blimp": {"two": {"predictions": chosen}}}))
    run = import_results("babylm", [path], None, "m", [suite])
    assert run.results("two").filter(measure="as_reported")["value"].to_list() == [1.0, 0.0]
    assert run.results("two")["margin"].is_nan().all()
    with pytest.raises(InputError, match="no suite of this name"):
        import_results("babylm", [path], None, "m")
    path.write_text(json.dumps({"two": {"predictions": [*chosen[:1], {"pred": "c"}]}}))
    with pytest.raises(InputError, match="item two-1: 'c'"):
        import_results("babylm", [path], None, "m", [suite])


def test_numbers_that_are_none_are_refused_and_impossible_sentences_tie(tmp_path: Path) -> None:
    """Of two impossible sentences neither is better, whatever the harness takes first."""
    path = written(tmp_path, sample(0, "a", "b", (-math.inf, -math.inf)), sample(1, "c", "d", (-1.0, -math.inf)))
    rows = import_results("lm-eval", [path], None, "m").results("two").filter(measure="full_sentence")
    assert rows["value"].to_list() == [0, 1]
    assert rows["margin"].to_list() == [0, math.inf]
    path = written(tmp_path, sample(0, "a", "b", (math.nan, -1.0)))
    with pytest.raises(InputError, match="not a number"):
        import_results("lm-eval", [path], None, "m")


def test_a_verdict_that_the_tool_does_not_report_is_no_accuracy_of_0(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = sample(0, "a", "b", (-1.0, -2.0))
    del row["acc"]
    path = written(tmp_path, row)
    assert main(["import-results", "lm-eval", str(path), "-o", str(tmp_path / "run")]) == 0
    assert "as_reported: no verdict on 1 pairs" in capsys.readouterr().out
