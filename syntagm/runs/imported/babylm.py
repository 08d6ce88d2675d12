"""BabyLM's evaluation pipeline: `predictions.json`, which has the sentence that was chosen of each pair, and no scores.

    {"UID": {"predictions": [{"id": "UID_0", "pred": " The dog barks."}, ...]}, ...}

The pairs are those of the suites, which must be given in the order of the pipeline's data. Until April 2026 the official
script gave ties to the good sentence, since then it breaks them by chance; without scores, these can't be told from other
choices. Score the same pairs with `syntagm run`, whose ties are counted, to see how many there are.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from syntagm.core import InputError, json as strict_json
from syntagm.evaluation import Sum
from syntagm.runs.imported.pairs import Pair
from syntagm.suites import Suite


def read(files: Sequence[Path], suites: Sequence[Suite] = ()) -> Iterator[Pair]:
    """Read the choices, and find the pairs in the suites."""
    by_name = {suite.name: suite for suite in suites}
    for file in files:
        content = strict_json.read(file)
        for name, entry in _entries(content, file):
            if name not in by_name:
                cure = "Name the data of the pipeline with --suite."
                raise InputError(f"{file}, {name}", "no suite of this name", "the suite with its sentences", cure)
            yield from _pairs(by_name[name], entry, f"{file}, {name}")


def _entries(content: Any, file: Path) -> Iterator[tuple[str, list[Any]]]:
    """Yield each UID with its predictions; files of several tasks have one more level."""
    if not isinstance(content, dict):
        raise InputError(str(file), "no object", "an object with a UID and its predictions")
    for name, entry in content.items():
        if isinstance(entry, dict) and isinstance(entry.get("predictions"), list):
            yield name, entry["predictions"]
        elif isinstance(entry, dict):
            yield from _entries(entry, file)
        else:
            raise InputError(f"{file}, {name}", "no predictions", '{"predictions": [{"id": ..., "pred": ...}]}')


def _pairs(suite: Suite, predictions: list[Any], place: str) -> Iterator[Pair]:
    if len(predictions) != len(suite.items):
        raise InputError(place, f"{len(predictions)} predictions for {len(suite.items)} items", "one for each")
    for item, prediction in zip(suite.items, predictions, strict=True):
        chosen = prediction.get("pred") if isinstance(prediction, dict) else None
        texts = {name: sentence.text for name, sentence in item.sentences.items()}
        if not {"good", "bad"} <= texts.keys():
            raise InputError(f"suite {suite.name}", "no conditions good and bad", "minimal pairs")
        # Of equal sentences, the choice is taken for the good one.
        right = isinstance(chosen, str) and chosen.strip() == texts["good"].strip()
        if not right and not (isinstance(chosen, str) and chosen.strip() == texts["bad"].strip()):
            raise InputError(
                f"{place}, item {item.id}", repr(chosen)[:100], "the good or the bad sentence of this item"
            )
        yield Pair(suite.name, item.id, texts["good"], texts["bad"], Sum(math.nan, math.nan, float(right)))
