"""Tasks of lm-evaluation-harness from suites: what they ask, and that nothing of others is replaced."""

import json
from pathlib import Path

import pytest
from toy_runs import agreement, pairs

import syntagm as sg
from syntagm.cli import main
from syntagm.core import InputError
from syntagm.suites import lm_eval_task


def entries(content: bytes) -> dict[str, object]:
    """The entries of a task: each value is JSON."""
    lines = [line.partition(": ") for line in content.decode().splitlines() if not line.startswith("#")]
    return {key: json.loads(value) for key, _, value in lines}


def test_a_task_asks_for_whole_sentences_without_a_blank() -> None:
    suite = pairs("née 1", ("The dog barks", "The dog bark"), ('"A" b', "雪 b"))
    found = lm_eval_task.files([suite], "group")
    assert list(found) == ["syntagm_née_1.jsonl", "syntagm_née_1.yaml"]
    task = entries(found["syntagm_née_1.yaml"])
    assert (task["target_delimiter"], task["doc_to_text"], task["doc_to_target"]) == ("", "", 0)
    assert task["dataset_kwargs"] == {"data_files": {"train": "syntagm_née_1.jsonl"}}
    rows = [json.loads(line) for line in found["syntagm_née_1.jsonl"].decode().splitlines()]
    assert [(row["sentence_good"], row["sentence_bad"]) for row in rows] == [
        ("The dog barks", "The dog bark"), ('"A" b', "雪 b"),
    ]  # fmt: skip
    assert [row["item"] for row in rows] == [item.id for item in suite.items]


def test_several_tasks_are_a_group_without_weights() -> None:
    found = lm_eval_task.files([agreement(), pairs("two", ("a", "b"))], "all of them")
    group = entries(found["syntagm_all_of_them.yaml"])
    assert group["task"] == ["syntagm_agreement", "syntagm_two"]
    assert group["aggregate_metric_list"] == [{"metric": "acc", "aggregation": "mean", "weight_by_size": False}]


def test_what_no_task_can_ask() -> None:
    with pytest.raises(InputError, match="nothing that a task of lm-eval can ask"):
        lm_eval_task.files(sg.read_suites("hu2020/mvrr"), "group")
    with pytest.raises(InputError, match="the task name syntagm_a_b of another suite"):
        lm_eval_task.files([pairs("a b", ("a", "b")), pairs("a_b", ("a", "b"))], "group")


def test_the_command_replaces_nothing_of_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.tsv").write_text("good\tbad\nThe dog barks\tThe dog bark\n")
    command = ["convert", str(tmp_path / "p.tsv"), str(tmp_path / "tasks"), "--as", "lm-eval-task"]
    assert main(command) == main(command) == 0
    assert "1 task, 1 item" in capsys.readouterr().out
    (tmp_path / "tasks" / "syntagm_p.yaml").write_text("mine")
    assert main(command) == 2
    assert (tmp_path / "tasks" / "syntagm_p.yaml").read_text() == "mine"
    assert main([*command, "--force"]) == 0
    assert main(["convert", str(tmp_path / "p.tsv"), str(tmp_path / "p.tsv"), "--as", "lm-eval-task"]) == 2
