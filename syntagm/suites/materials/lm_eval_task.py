"""Tasks of lm-evaluation-harness (0.4.13) from suites: a YAML file and JSON lines for each suite of pairs, and a group.

A task has an empty context and two choices, the better and the worse sentence, without the blank that the harness puts before
a choice by default. So its log-likelihoods are those of the whole sentences, as `full_sentence` compares them. The harness
counts a tie as a hit, since the good sentence comes first.

The path of the data in a YAML file is relative to the folder in which the harness runs: run it in the folder of the tasks.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from syntagm.core import InputError
from syntagm.suites.formula import compared
from syntagm.suites.suite import Suite, public_tags

NAME = "lm-eval-task"


def task_name(name: str) -> str:
    """Return the name of a task, which no task of the harness has.

    >>> task_name("passive 1")
    'syntagm_passive_1'
    """
    return "syntagm_" + re.sub(r"[^\w.-]+", "_", name)


def files(suites: Sequence[Suite], group: str) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    names: list[str] = []
    for suite in suites:
        name = task_name(suite.name)
        if name in names:
            raise InputError(f"suite {suite.name}", f"the task name {name} of another suite", "distinct names")
        names.append(name)
        contents[f"{name}.jsonl"] = "".join(_lines(suite)).encode()
        contents[f"{name}.yaml"] = _yaml(_task(name, suite))
    if len(names) > 1:
        metric = [{"metric": "acc", "aggregation": "mean", "weight_by_size": False}]
        together = {"group": task_name(group), "task": names, "aggregate_metric_list": metric}
        contents[f"{task_name(group)}.yaml"] = _yaml(together)
    return contents


def _lines(suite: Suite) -> Iterator[str]:
    found = ((each.name, compared(each.formula)) for each in suite.predictions)
    pair = next((pair for _, pair in found if pair), None)
    if pair is None or suite.aggregate != "sum":
        expected = "a prediction that compares the sums of two whole sentences, (*;%a%) < (*;%b%)"
        raise InputError(f"suite {suite.name}", "nothing that a task of lm-eval can ask", expected)
    better, worse = pair
    for item in suite.items:
        missing = [condition for condition in pair if condition not in item.sentences]
        if missing:
            raise InputError(f"suite {suite.name}, item {item.id}", f"no condition {missing[0]}", "both conditions")
        texts = {"sentence_good": item.sentences[better].text, "sentence_bad": item.sentences[worse].text}
        row = {**texts, "item": item.id, "suite": suite.name, **public_tags(item.tags), **texts}
        yield json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"


def _task(name: str, suite: Suite) -> dict[str, object]:
    return {
        "task": name,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"train": f"{name}.jsonl"}},
        "output_type": "multiple_choice",
        "validation_split": "train",
        "doc_to_text": "",
        "doc_to_target": 0,
        "doc_to_choice": "{{[sentence_good, sentence_bad]}}",
        "target_delimiter": "",
        "num_fewshot": 0,
        "metric_list": [
            {"metric": metric, "aggregation": "mean", "higher_is_better": True}
            for metric in ("acc", "acc_norm", "acc_bytes")
        ],
        "metadata": {"version": 1.0, "suite": suite.name},
    }


def _yaml(entries: Mapping[str, object]) -> bytes:
    """Write entries as YAML, whose values are written as JSON, which YAML contains."""
    lines = (f"{key}: {json.dumps(value, ensure_ascii=True)}\n" for key, value in entries.items())
    return (
        b"# Written by syntagm convert; run lm_eval in this folder, with --include_path .\n" + "".join(lines).encode()
    )
