"""lm-evaluation-harness (0.4): `samples_TASK_DATE.jsonl` of tasks with two choices, as `--log_samples` writes them."""

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from syntagm.core import InputError, json as strict_json, utf8
from syntagm.evaluation import Sum
from syntagm.runs.imported.pairs import Pair
from syntagm.suites import Suite

_NAME = re.compile(r"samples_(?P<task>.+)_\d{4}-\d\d-\d\dT[\d\-.]+(?:-[0-9a-f]{8})?\.jsonl")


def read(files: Sequence[Path], suites: Sequence[Suite] = ()) -> Iterator[Pair]:
    """Read the samples of tasks whose context is empty and whose choices are a good and a bad sentence."""
    # The suite is the task, without the `syntagm_` of tasks that `syntagm convert` wrote. Log-likelihoods are turned
    # into bits.
    for file in files:
        if not (match := _NAME.fullmatch(file.name)):
            raise InputError(str(file), "another name", "samples_TASK_DATE.jsonl, as --log_samples writes it")
        suite = match["task"].removeprefix("syntagm_")
        rows = [(row.get("doc_id"), line, row) for line, row in strict_json.objects(utf8.read(file), file)]
        for _, line, row in sorted(rows, key=lambda row: row[0] if isinstance(row[0], int) else -1):
            yield _pair(suite, row, f"{file}, line {line}")


def _pair(suite: str, row: dict[str, Any], place: str) -> Pair:
    try:
        choices = [row["arguments"][f"gen_args_{k}"] for k in range(2)]
        nats = [float(answer[0]) for answer in row["filtered_resps"]]
        texts = [choice["arg_1"] for choice in choices]
        target, contexts = int(row["target"]), {choice["arg_0"] for choice in choices}
        identity = row["doc"].get("item", row["doc"].get("pairID", row["doc_id"]))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        found = f"no sample of two choices ({type(error).__name__}: {error})"
        raise InputError(place, found, "doc_id, doc, target, arguments and filtered_resps of two choices") from None
    if len(nats) != 2 or contexts != {""} or target not in (0, 1) or not all(isinstance(text, str) for text in texts):
        found = "a sample with a context, or with other than two choices"
        raise InputError(place, found, "pairs of sentences with an empty context, such as blimp_*")
    if any(math.isnan(number) for number in nats):
        raise InputError(
            place, "a log-likelihood that is not a number", "two numbers", "Evaluate the task again in float32."
        )
    acc = row.get("acc")
    reported = float(acc) if isinstance(acc, int | float) else math.nan
    good, bad = (-nats[k] / math.log(2) for k in (target, 1 - target))
    # The blank of the target delimiter is part of the choice; it was scored, but is no part of the sentence.
    first, second = (texts[k].removeprefix(" ") for k in (target, 1 - target))
    return Pair(suite, str(identity), first, second, Sum(good, bad, reported))
