"""Export of verdicts to Every Eval Ever (schema 0.3.0): a record in JSON, and a JSON line for each item and prediction.

The record has the accuracy of each suite and prediction, with its interval and its signature; `FILE_samples.jsonl`, beside
FILE.json, has the items. What the schema asks for and no run knows is `unknown` or `other`, and has to be filled in by
whoever submits the record: the organization, its relationship to the model, and whether the weights are open. A datastore
wants data/COLLECTION/DEVELOPER/MODEL/UUID.json; the path of the items follows a FILE in such a place.

1.  A task of the schema asks a question and gets a text. Of a pair of sentences, the input is empty, both are choices, and
    the output is the preferred sentence, or "" for a tie that is a failure. Of other predictions, the input has the sentences
    with their conditions, and the output is "holds" or "fails".
2.  Undefined items have no line, since a line needs a score; they are counted in the record.
3.  Values that are not verdicts have no bounds that the schema could state, and are not exported.
"""

import hashlib
import json
import math
import re
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, final

from syntagm.core import InputError, RunError, UsageError, atomic
from syntagm.evaluation import DEFAULT, FULL, Estimate, Kind, People, SuiteRecord
from syntagm.runs import Run, convention_of_suite, items, judging, open_run, unit, whole
from syntagm.views import estimates
from syntagm.views.export import Export, Outcome, unfinished

SCHEMA = "0.3.0"
FILL_IN = (
    "Fill in before you submit: source_metadata (source_organization_name, evaluator_relationship), model_info (id, developer, "
    "model_availability)."
)
_PLACE = ("data", 5)
_HUB = re.compile(r"[\w.\-]+/[\w.\-]+")


@final
class EveryEvalEver(Export):
    """The export of the verdicts of a run as a record of Every Eval Ever."""

    marks = ('"source_name": "Syntagm"',)

    def write(self, source: str, output: Path | None) -> Outcome:
        if not output or output.suffix != ".json":
            found = "standard output" if not output else str(output)
            raise UsageError("-o", found, "a file name that ends in .json: the items are written beside it")
        run = open_run(source)
        missing, notes = write(run, output)
        return Outcome((*unfinished(run), *missing), notes)


def write(run: Run, path: Path) -> tuple[list[str], tuple[str, ...]]:
    """Write the record to `path`, and the items beside it."""
    scores, missing = _scores(run)
    if not scores:
        raise InputError(run.place, "no verdicts", "a run of `syntagm run` with predictions", "; ".join(missing))
    samples = path.with_name(f"{path.stem}_samples.jsonl")
    if samples.exists() and not path.exists():
        raise RunError(
            str(samples), "a file that belongs to no record", f"no such file beside {path.name}", "Name another -o."
        )
    lines = [(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n").encode() for line in _lines(run, scores)]
    detailed = {
        "format": "jsonl",
        "file_path": _reference(samples),
        "hash_algorithm": "sha256",
        "checksum": hashlib.sha256(b"".join(lines)).hexdigest(),
        "total_rows": len(lines),
    }
    record = _record(run, scores) | ({"detailed_evaluation_results": detailed} if lines else {})
    content = json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False).encode()
    atomic.write_all({path: content} | ({samples: b"".join(lines)} if lines else {}))
    place = f"Its place in a datastore: data/COLLECTION/DEVELOPER/MODEL/{_uuid(run)}.json."
    return missing, (FILL_IN, *(() if _at_home(path) else (place,)))


def _at_home(path: Path) -> bool:
    """Return whether a path is that of a datastore: data/COLLECTION/DEVELOPER/MODEL/UUID.json."""
    name, depth = _PLACE
    return len(path.parts) >= depth and path.parts[-depth] == name


def _reference(samples: Path) -> str:
    """Return the path of the items as the record gives it: in a datastore from its root, elsewhere the name."""
    return "/".join(samples.parts[-_PLACE[1] :]) if _at_home(samples) else samples.name


def _uuid(run: Run) -> uuid.UUID:
    """Return an id that is the same for the same run."""
    content = json.dumps([run.record[key] for key in ("model", "options", "started", "finished")], sort_keys=True)
    hashes = [suite.hash for suite in run.suites]
    return uuid.UUID(bytes=hashlib.sha256(f"{content}{hashes}".encode()).digest()[:16], version=4)


def _scores(run: Run) -> tuple[list[Estimate], list[str]]:
    """Return the accuracies that can be exported, and a sentence for each that can't."""
    scores, missing = [], []
    if "parquet" not in run.tables or run.task is People:
        return [], [f"{run.place} is a run of the task {run.task.name}: no model judges sentences"]
    for estimate in estimates.accuracies(run):
        suite, measure = estimate.group.suite, estimate.group.measure
        if run.kind(measure) is not Kind.VERDICT:
            missing.append(f"suite {suite}, {measure}: not exported, as its values are {run.kind(measure).described}")
        elif math.isnan(estimate.value):
            missing.append(f"suite {suite}, {measure}: not exported, as all its items are undefined")
        else:
            scores.append(estimate)
    return scores, missing


def _record(run: Run, scores: list[Estimate]) -> dict[str, Any]:
    record = run.record
    tool = record["options"].get("tool")
    ours = {"name": "syntagm", "version": record["versions"]["syntagm"]}
    library = (
        {"name": tool, "version": "unknown", "additional_details": _texts({"imported by": ours})} if tool else ours
    )
    finished = record["finished"] or record["started"]
    return {
        "schema_version": SCHEMA,
        "evaluation_id": _evaluation(run),
        "evaluation_timestamp": finished,
        "retrieved_timestamp": str(int(datetime.now(UTC).timestamp())),
        "source_metadata": {
            "source_name": "Syntagm",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
            # The command is left out: it may have paths of the user.
            "additional_details": _texts({"exported by": ours}),
        },
        "eval_library": library,
        "model_info": _model(run),
        "evaluation_results": [_result(run, estimate) for estimate in scores],
    }


def _evaluation(run: Run) -> str:
    return f"syntagm/{_model_id(run)}/{_uuid(run)}"


def _model_id(run: Run) -> str:
    """Return ORG/NAME of a model of the hub, or else the name of the model in the run."""
    path = run.model.partition(":")[2] or run.model
    bare = path.partition("?")[0].partition("@")[0]
    return (
        bare if _HUB.fullmatch(bare) and not bare.startswith(".") else re.sub(r"[^\w.\-]+", "_", run.name).strip("._")
    )


def _model(run: Run) -> dict[str, Any]:
    model = run.record["model"]
    details = {
        "family": run.model.partition(":")[0],
        "canonical_name": run.model,
        "fingerprint": model["fingerprint"],
        "sees": model["sees"],
        **{f"scoring_{name}": value for name, value in model["policies"].items()},
        **{name: model["record"][name] for name in ("revision", "weights", "architecture") if name in model["record"]},
    }
    known = {"deployment_type": "unknown", "model_availability": "unknown"}
    return {"name": run.name, "id": _model_id(run), "additional_details": _texts(details) | known}


def _result(run: Run, estimate: Estimate) -> dict[str, Any]:
    suite, measure = estimate.group.suite, estimate.group.measure
    record = run.suite(suite)
    # What another tool reports has no formula, and may be any number of its own.
    formula = record.predictions[measure]
    convention = convention_of_suite(run, suite) if measure in whole(run, suite) else DEFAULT
    ties = judging.TIES[judging.tie_value(convention)]
    rule = (
        {"convention": convention, "ties_count_as": ties, "tolerance_in_bits": run.tolerance_in_bits} if formula else {}
    )
    said = (
        f"The share of items of which the prediction {formula} holds."
        if formula
        else "The share of right pairs, as reported."
    )
    chance = estimates.chance_of(run, estimate)
    number: dict[str, Any] = {"num_samples": estimate.n}
    if math.isfinite(estimate.low) and math.isfinite(estimate.high):
        number["confidence_interval"] = {
            "lower": estimate.low, "upper": estimate.high, "confidence_level": 0.95, "method": estimate.method,
        }  # fmt: skip
    counts = {"ties": estimate.ties, "undefined": estimate.undefined, "signature": str(run.signature(suite, measure))}
    if math.isfinite(chance.value):
        counts["chance"] = chance.value
    return {
        "evaluation_result_id": _result_id(suite, measure),
        "evaluation_name": f"{suite}.{measure}",
        "source_data": {
            "dataset_name": suite,
            "source_type": "other",
            "additional_details": _texts({"content_hash": record.hash, "items": record.items, **_about(record)}),
        },
        "metric_config": {
            "evaluation_description": said,
            "metric_id": "accuracy",
            "metric_name": "Accuracy",
            "metric_kind": "accuracy",
            "metric_unit": "proportion",
            "metric_parameters": rule,
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
        },
        "score_details": {"score": estimate.value, "details": _texts(counts), "uncertainty": number},
    }


def _about(suite: SuiteRecord) -> dict[str, str]:
    return {name: suite.tags[name] for name in ("author", "reference", "license", "sample") if suite.tags.get(name)}


def _result_id(suite: str, measure: str) -> str:
    return f"{suite}/{measure}"


def _lines(run: Run, scores: list[Estimate]) -> Iterator[dict[str, Any]]:
    """Yield a line for each defined verdict."""
    ids = {"evaluation_id": _evaluation(run), "model_id": _model_id(run)}
    for estimate in scores:
        suite, measure = estimate.group.suite, estimate.group.measure
        results = run.results(suite)
        rows = results.filter(results["measure"] == measure).select("value", "margin").rows()
        pairs = whole(run, suite)
        formula, unit_of_margin = run.suite(suite).predictions[measure], unit(run, suite, measure)
        pair = pairs.get(measure) if formula else pairs.get(FULL)
        method = formula or f"as {run.record['options']['tool']} reports it"
        alike = {
            "schema_version": SCHEMA,
            **ids,
            "evaluation_name": f"{suite}.{measure}",
            "evaluation_result_id": _result_id(suite, measure),
            "interaction_type": "single_turn",
            "messages": None,
        }
        for (item, conditions), (value, margin) in zip(_sentences(run, suite), rows, strict=True):
            if not math.isnan(value):
                told = {"margin": margin, "margin_unit": unit_of_margin} if math.isfinite(margin) else {}
                tie = abs(margin) <= run.tolerance
                own = _line(item, conditions, pair, value == 1, tie, method)
                yield {**alike, **own, "metadata": _texts({"suite": suite, **told})}


def _sentences(run: Run, suite: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each item with the text of each condition."""
    if run.task.surprisals:
        for item, conditions in items(run, suite):
            yield item, {name: text for name, (text, _) in conditions.items()}
        return
    last, found = "", dict[str, str]()
    for row in run.sentences(suite).select("item", "condition", "text").iter_rows():
        item, condition, text = map(str, row)
        if found and (item != last or condition in found):
            yield last, found
            found = {}
        last = item
        found[condition] = text
    if found:
        yield last, found


def _line(
    item: str, conditions: Mapping[str, str], pair: tuple[str, str] | None, holds: bool, tie: bool, method: str
) -> dict[str, Any]:
    """Return what a line says of an item alone."""
    if pair:
        good, bad = (conditions[name] for name in pair)
        shown = {"raw": "", "reference": [good], "choices": [good, bad]}
        answer = good if holds else "" if tie else bad
    else:
        texts = "\n".join(f"{name}: {text}" for name, text in conditions.items())
        shown = {"raw": texts, "reference": ["holds"], "choices": ["holds", "fails"]}
        answer = "holds" if holds else "fails"
    hashed = {"raw": shown["raw"], "reference": shown["reference"]}
    attribution = {
        "turn_idx": 0,
        "source": "output.raw",
        "extracted_value": answer,
        "extraction_method": method,
        "is_terminal": True,
    }
    return {
        "sample_id": item,
        "sample_hash": hashlib.sha256(json.dumps(hashed, sort_keys=True, separators=(",", ":")).encode()).hexdigest(),
        "input": shown,
        "output": {"raw": [answer]},
        "answer_attribution": [attribution],
        "evaluation": {"score": float(holds), "is_correct": holds},
    }


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    """Return values as texts, as the schema wants them: what is no text is JSON."""
    return {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, allow_nan=False)
        for name, value in values.items()
    }


EXPORT = EveryEvalEver()
