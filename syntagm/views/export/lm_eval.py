"""Export of minimal pairs to lm-evaluation-harness: a results file in JSON, and the samples of each task as JSON lines.

A task is a suite of minimal pairs with the prediction `full_sentence`; a BLiMP paradigm is called `blimp_<UID>`, and
any other suite has its own name. Deliberate differences from the harness (0.4.13), also stated in the `config` of the
file:

1.  `acc` is the verdict of this package: a tie is not correct (in the harness the first choice, the good sentence, wins), and
    an undefined item is excluded from `acc` and from the effective `n-samples` (its `acc` is null).
2.  The sentence is scored unchanged; the harness puts a space before the sentences of BLiMP.
3.  Whether a sentence is the greedy continuation is unknown: the file has "None" there.

The metric is named by the convention of the run (`METRICS`), as the harness computes the same number under that name; a
suite that is judged by any other is not exported.

Log-likelihoods are in nats. `acc_stderr` is the sample standard deviation / sqrt(n), as in the harness.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, final

import numpy as np

from syntagm.core import InputError, UsageError, atomic, finite, hashing
from syntagm.evaluation import Reading, SuiteRecord
from syntagm.runs import Run, by_suite, open_run, tie_value
from syntagm.suites import parse
from syntagm.views.export import Export, Outcome, unfinished

MEASURE = "full_sentence"
_FORMULAS = {str(parse("(*;%good%) < (*;%bad%)")), str(parse("(*;%bad%) > (*;%good%)"))}
NOTE = (
    "{metric} is the verdict of syntagm: a tie is {tie}, undefined items are excluded; "
    "sentences are scored unchanged, without a space before them; whether a sentence is greedy is not known"
)
# Convention, without what ties count as -> the harness's name of the accuracy by it.
METRICS = {"bits": "acc", "mean_character": "acc_norm", "mean_byte": "acc_bytes"}
_HITS = "+ties_as_hits"


@dataclass(slots=True)
class _Task:
    """A task, with the name of its metric, and the data collected about it while its samples are written."""

    name: str
    suite: SuiteRecord
    metric: str
    values: list[float] = field(default_factory=list)
    hashes: Any = field(default_factory=hashlib.sha256)


@final
class LmEval(Export):
    """The export of suites of minimal pairs as results and samples of lm-evaluation-harness."""

    marks = ('"model_source": "syntagm"',)

    def write(self, source: str, output: Path | None) -> Outcome:
        """Write the files; raise InputError if the run has no suite of minimal pairs."""
        if not output:
            raise UsageError("-o", "standard output", "a file name: lm-eval writes one more file per task")
        run = open_run(source)
        return Outcome((*unfinished(run), *write(run, output)), _tied(run))


def write(run: Run, path: Path) -> list[str]:
    """Write the results JSON to `path`, and the samples next to it."""
    tasks, skipped = _tasks(run)
    if not tasks:
        raise InputError(
            run.place, "no suite that lm-eval can express", "minimal pairs with a full_sentence prediction",
            "; ".join(skipped),
        )  # fmt: skip
    stamp = f"{_when(run):%Y-%m-%dT%H-%M-%S}-{run.record['model']['fingerprint'][:8]}"
    for task in tasks:
        samples = (_line(sample) for sample in _samples(run, task))
        atomic.write_parts(path.with_name(f"samples_{task.name}_{stamp}.jsonl"), samples)
    content = json.dumps(_results(run, tasks), indent=2, ensure_ascii=False, allow_nan=False)
    atomic.write(path, content.encode())
    return skipped


def _tied(run: Run) -> tuple[str, ...]:
    """Return a sentence about the ties that count as failures, and as hits in the harness; none if there are no ties."""
    conventions = by_suite(run)
    failing = [task.suite.name for task in _tasks(run)[0] if not tie_value(conventions[task.suite.name])]
    tallied = run.tally(MEASURE)
    ties = int(tallied.filter(tallied["suite"].is_in(failing))["ties"].sum())
    if not ties:
        return ()
    return (
        f"ties: {ties:,}, which are not correct here and are correct in lm-eval; `syntagm run --convention "
        "CONVENTION+ties_as_hits` counts them as lm-eval does",
    )


def task_name(suite: SuiteRecord) -> str:
    """Return the name of a task: `blimp_<UID>` for a paradigm of BLiMP, else the suite's name, made safe for file names."""
    # Suites that are generated in the style of BLiMP share names with it, not items; they name an author, it doesn't.
    published = "UID" in suite.tags and "linguistics_term" in suite.tags and "author" not in suite.tags
    return re.sub(r"[^\w.-]+", "_", f"blimp_{suite.tags['UID']}" if published else suite.name)


def _tasks(run: Run) -> tuple[list[_Task], list[str]]:
    tasks: dict[str, _Task] = {}
    skipped = []
    conventions = by_suite(run)
    for suite in run.suites:
        name, convention = task_name(suite), conventions[suite.name].removesuffix(_HITS)
        reason = f"suite {tasks[name].suite.name} is also called {name}" if name in tasks else _obstacle(suite)
        if not reason and convention not in METRICS:
            reason = f"it is judged by {convention}, which is no metric of lm-eval ({', '.join(METRICS)} are)"
        if reason:
            skipped.append(f"suite {suite.name} is skipped: {reason}")
        else:
            tasks[name] = _Task(name, suite, METRICS[convention])
    return list(tasks.values()), skipped


def _obstacle(suite: SuiteRecord) -> str:
    """Return the reason why the suite can't be a task of lm-eval; "" if it can."""
    if set(suite.conditions) != {"good", "bad"}:
        return f"its conditions are {', '.join(suite.conditions) or 'none'}, not good and bad"
    if suite.sentences != 2 * suite.items:
        return "an item has other conditions than the first item"
    if MEASURE not in suite.predictions:
        return f"it has no prediction {MEASURE}"
    if str(parse(suite.predictions[MEASURE])) not in _FORMULAS or suite.aggregate != "sum":
        return f"its {MEASURE} does not compare the sums of whole sentences"
    return ""


def _samples(run: Run, task: _Task) -> Iterator[dict[str, Any]]:
    reading = Reading(first_scored=run.record["model"]["start"] is not None)
    results = run.results(task.suite.name)
    verdicts = results.filter(results["measure"] == MEASURE)["value"].to_list()
    tags = run.sentences(task.suite.name)["tags"].to_list()
    answers = run.answers(task.suite.name)
    # The two sentences of an item follow each other.
    pairs = zip(answers, answers, verdicts, tags[::2], strict=True)
    for index, ((item, condition_a, _, answer_a), (_, condition_b, _, answer_b), value, item_tags) in enumerate(pairs):
        by_condition = {condition_a: answer_a, condition_b: answer_b}
        texts = {f"sentence_{name}": by_condition[name].text for name in ("good", "bad")}
        doc = texts | dict(task.suite.tags) | json.loads(item_tags) | texts | {"pairID": item}
        nats = [-float(reading.bits(by_condition[name]).sum()) * math.log(2) for name in ("good", "bad")]
        sample = _sample(index, doc, nats, value, task.metric)
        task.values.append(value)
        task.hashes.update((sample["doc_hash"] + sample["prompt_hash"] + sample["target_hash"]).encode())
        yield sample


def _sample(index: int, doc: Mapping[str, str], nats: list[float], value: float, metric: str) -> dict[str, Any]:
    texts = (doc["sentence_good"], doc["sentence_bad"])
    # The harness writes numbers as strings.
    answers = [[repr(number), "None"] for number in nats]
    return {
        "doc_id": index,
        "doc": doc,
        "target": "0",
        "arguments": {f"gen_args_{k}": {"arg_0": "", "arg_1": text} for k, text in enumerate(texts)},
        "resps": [[answer] for answer in answers],
        "filtered_resps": answers,
        "filter": "none",
        "metrics": [metric],
        "doc_hash": hashing.of_text(json.dumps(doc, indent=2, ensure_ascii=False)),
        "prompt_hash": hashing.of_text(""),
        "target_hash": hashing.of_text("0"),
        metric: finite(value),
    }


def _results(run: Run, tasks: list[_Task]) -> dict[str, Any]:
    defined = {task.name: [value for value in task.values if not math.isnan(value)] for task in tasks}
    return {
        "results": {task.name: _accuracy(task, defined[task.name]) for task in tasks},
        "group_subtasks": {task.name: [] for task in tasks},
        "configs": {task.name: _task_config(task) for task in tasks},
        "versions": {task.name: task.suite.hash for task in tasks},
        "n-shot": {task.name: 0 for task in tasks},
        "higher_is_better": {task.name: {task.metric: True} for task in tasks},
        "n-samples": {
            task.name: {"original": len(task.values), "effective": len(defined[task.name])} for task in tasks
        },
        "config": _config(run, tasks),
        "git_hash": None,
        "date": _when(run).timestamp(),
        "task_hashes": {task.name: task.hashes.hexdigest() for task in tasks},
        "model_source": "syntagm",
        "model_name": run.model,
        "model_name_sanitized": re.sub(r"[\"<>:/|\\?*\[\]]+", "__", run.model),
        "system_instruction": None,
        "system_instruction_sha": None,
        "fewshot_as_multiturn": None,
        "chat_template": None,
        "chat_template_sha": None,
    }


def _accuracy(task: _Task, values: list[float]) -> dict[str, Any]:
    value = float(np.mean(values)) if values else math.nan
    error = float(np.std(values, ddof=1) / math.sqrt(len(values))) if len(values) > 1 else "N/A"
    return {"alias": task.name, f"{task.metric},none": finite(value), f"{task.metric}_stderr,none": error}


def _task_config(task: _Task) -> dict[str, Any]:
    return {
        "task": task.name,
        "output_type": "multiple_choice",
        "num_fewshot": 0,
        "target_delimiter": "",
        "metric_list": [{"metric": task.metric, "aggregation": "mean", "higher_is_better": True}],
        "metadata": {"suite": task.suite.name, "version": task.suite.hash},
    }


def _config(run: Run, tasks: list[_Task]) -> dict[str, Any]:
    conventions = by_suite(run)
    ties = {tie_value(conventions[task.suite.name]) for task in tasks}
    # Others are no task of lm-eval.
    kinds = {1.0: "correct, as in lm-eval", 0.0: "not correct (lm-eval counts it as correct)"}
    tie = " or ".join(kinds[value] for value in sorted(ties))
    metric = " or ".join(dict.fromkeys(task.metric for task in tasks))
    return {
        "model": "syntagm",
        "model_args": run.model,
        "model_dtype": run.record["model"]["policies"].get("dtype"),
        "batch_size": None,
        "device": None,
        "limit": None,
        "bootstrap_iters": 0,
        "gen_kwargs": None,
        "note": NOTE.format(metric=metric, tie=tie),
        "syntagm": {"versions": run.record["versions"], "model": run.record["model"], "options": run.record["options"]},
    }


def _when(run: Run) -> datetime:
    return datetime.fromisoformat(run.record["finished"] or run.record["started"])


def _line(sample: Mapping[str, Any]) -> bytes:
    return (json.dumps(sample, ensure_ascii=False, allow_nan=False) + "\n").encode()


EXPORT = LmEval()
