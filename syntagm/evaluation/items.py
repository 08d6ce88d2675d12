"""Slices of items, and their judgement by measures, for the tasks that score whole sentences."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from syntagm.core import AlignmentError, InputError
from syntagm.evaluation.measure import Judgement, Measure
from syntagm.evaluation.reading import Reading
from syntagm.evaluation.result import Result
from syntagm.evaluation.task import RESULTS, Judged, Schema, Unit
from syntagm.models import Answers, Surprisals
from syntagm.suites import Item, Suite, public_tags

PORTION = 2048
SENTENCES: Schema = {
    "item": pl.String(),
    "condition": pl.String(),
    "text": pl.String(),
    "tags": pl.String(),
    "region_names": pl.List(pl.String),
    "region_starts": pl.List(pl.Int32),
    "region_ends": pl.List(pl.Int32),
    "starts": pl.List(pl.Int32),
    "bits": pl.List(pl.Float64),
    "known": pl.List(pl.Boolean),
}
# The further columns of sentences if a measure asks for reductions.
REDUCED: Schema = {"entropy": pl.List(pl.Float64), "rank": pl.List(pl.Float64)}
# File ending -> columns: one row per sentence, and one row per result.
TABLES: Mapping[str, Schema] = {"parquet": SENTENCES, "results.parquet": RESULTS}
REDUCED_TABLES: Mapping[str, Schema] = {**TABLES, "parquet": SENTENCES | REDUCED}


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice of a suite: items, the measures that judge them, and the rules for region values."""

    # `reduces` is that of the task.

    model: str
    suite: str
    items: Sequence[Item]
    measures: Sequence[Measure]
    reading: Reading
    reduces: bool = False


def slices_of(
    suite: Suite,
    units: Sequence[Unit],
    model: str,
    measures: Sequence[Measure],
    reading: Reading,
    reduces: bool = False,
) -> Iterator[tuple[Unit, Slice]]:
    for unit in units:
        yield unit, Slice(model, suite.name, suite.items[unit.first : unit.last], measures, reading, reduces)


def texts(content: Slice) -> list[str]:
    """Return the distinct sentences, sorted so that neighbours share prefixes."""
    return sorted({sentence.text for item in content.items for sentence in item.sentences.values()})


def judge(content: Slice, answers: Iterator[Surprisals]) -> Judged:
    """Judge every item by every measure. The tables also contain the surprisals of all sentences."""
    by_text = {answer.text: answer for answer in answers}
    undefined: Counter[str] = Counter()
    results = [
        _result(content, item, measure, by_text, undefined) for item in content.items for measure in content.measures
    ]
    tables = {"parquet": _sentences(content, by_text), "results.parquet": results_table(results)}
    return Judged(tables, undefined)


def results_table(results: Sequence[Result]) -> pl.DataFrame:
    """Return results as a table with the columns of `RESULTS`."""
    columns = {name: [getattr(result, name) for result in results] for name in RESULTS}
    return pl.DataFrame(columns, schema=RESULTS)


def count_reason(undefined: Counter[str], reason: str, example: Callable[[], str]) -> None:
    """Count a reason why a result is undefined, and keep an example of its first occurrence."""
    counted = next((key for key in undefined if key.startswith(reason)), None)
    undefined[counted or f"{reason}, for example in {example()}"[:400]] += 1


def _result(content: Slice, item: Item, measure: Measure, answers: Answers, undefined: Counter[str]) -> Result:
    try:
        judgement = measure.judge(item, answers, content.reading)
        if np.isnan(judgement.value):
            reason = _reason(item, answers, content.reading)
            count_reason(undefined, reason, lambda: f"item {item.id} of {content.suite}")
    except AlignmentError as error:
        message = str(error)
        count_reason(undefined, "a token crosses a region border", lambda: message)
        judgement = Judgement(np.nan, 0, np.nan)
    except KeyError as error:
        example = f"item {item.id} of {content.suite}: no {error}"
        count_reason(undefined, f"{measure}: an item lacks a region or condition", lambda: example)
        judgement = Judgement(np.nan, 0, np.nan)
    if not measure.kind.allows(judgement.value):
        place = f"measure {measure}, item {item.id} of {content.suite}"
        expected = f"{measure.kind.described}, as the measure declares"
        raise InputError(place, f"the value {judgement.value:g}", expected, "Correct the measure, or its `kind`.")
    return Result(content.model, content.suite, item.id, str(measure), judgement.value, judgement.n, judgement.margin)


def _reason(item: Item, answers: Answers, reading: Reading) -> str:
    """Return the reason why a value of an item is not a number."""
    for sentence in item.sentences.values():
        missing = np.isnan(reading.bits(answers[sentence.text])) if sentence.text in answers else np.empty(0, bool)
        if missing.any():
            if missing.all():
                return "a text has no surprisals: the model's answers are not numbers (or, under a masked model, it is too long)"
            if missing[missing.argmax() :].all():
                return "a text is longer than the model's positions, or its beam search did not reach the next word"
            return "some of the model's answers are not numbers"
    return "a region has no tokens, or a measure has no value"


def _sentences(content: Slice, answers: Answers) -> pl.DataFrame:
    rows = [(item, condition, sentence) for item in content.items for condition, sentence in item.sentences.items()]
    row_answers = [answers[sentence.text] for _, _, sentence in rows]
    columns: dict[str, list[Any]] = {
        "item": [item.id for item, _, _ in rows],
        "condition": [condition for _, condition, _ in rows],
        "text": [sentence.text for _, _, sentence in rows],
        "tags": [json.dumps(public_tags(item.tags)) for item, _, _ in rows],
        "region_names": [[region.name for region in sentence.regions] for _, _, sentence in rows],
        "region_starts": [[region.start for region in sentence.regions] for _, _, sentence in rows],
        "region_ends": [[region.end for region in sentence.regions] for _, _, sentence in rows],
        "starts": [answer.starts.tolist() for answer in row_answers],
        "bits": [answer.bits.tolist() for answer in row_answers],
        "known": [answer.in_vocabulary.tolist() for answer in row_answers],
    }
    if not content.reduces:
        return pl.DataFrame(columns, schema=SENTENCES)
    reductions = [answer.reductions for answer in row_answers]
    for name in REDUCED:
        columns[name] = [getattr(reduced, name).tolist() for reduced in reductions]
    return pl.DataFrame(columns, schema=SENTENCES | REDUCED)
