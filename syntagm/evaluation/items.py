"""Slices of items, and their judgement by measures, for the tasks that score whole sentences."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import AlignmentError, InputError
from syntagm.evaluation.alignment import Batch, Reading
from syntagm.evaluation.measure import Judgement, Measure
from syntagm.evaluation.result import Result
from syntagm.evaluation.task import RESULTS, Judged, Schema, Unit
from syntagm.models import Answers, Surprisals
from syntagm.suites import Item, Suite, public_tags

MAX_SENTENCES = 8192
VERSION = 1


def suite_hash(suite: Suite) -> str:
    """Return the hash of a suite's content: items, formulas and public tags."""
    return slices(suite, "")[0]


def slices(suite: Suite, identity: str) -> tuple[str, list[Unit]]:
    """Return the hash of a suite's content and its units."""
    # A unit has at most `MAX_SENTENCES` sentences (unless a single item has more). No item is divided between units.
    head = _head(suite)
    suite_digest = hashlib.sha256(head.encode())
    units: list[Unit] = []
    first, count, unit_digest = 0, 0, hashlib.sha256()

    def close(last: int) -> None:
        name = hashlib.sha256(f"{head}\0{identity}\0{first}\0{unit_digest.hexdigest()}".encode()).hexdigest()[:32]
        units.append(Unit(name, suite.name, first, last, count))

    for index, item in enumerate(suite.items):
        if count and count + len(item.sentences) > MAX_SENTENCES:
            close(index)
            first, count, unit_digest = index, 0, hashlib.sha256()
        content = _content(item)
        unit_digest.update(content)
        suite_digest.update(content)
        count += len(item.sentences)
    if suite.items:
        close(len(suite.items))
    return suite_digest.hexdigest()[:32], units


def _head(suite: Suite) -> str:
    formulas = [[prediction.name, prediction.formula.text] for prediction in suite.predictions]
    return json.dumps([VERSION, suite.name, suite.aggregate, formulas])


def _content(item: Item) -> bytes:
    sentences = [
        [condition, sentence.text, [[region.name, region.start, region.end] for region in sentence.regions]]
        for condition, sentence in item.sentences.items()
    ]
    return json.dumps([item.id, sentences, public_tags(item.tags)]).encode()


REGIONS_SCHEMA = {
    "item": pl.String, "condition": pl.String, "region": pl.String, "place": pl.Int64, "content": pl.String,
    "empty": pl.Boolean, "bits": pl.Float64,
}  # fmt: skip
_BLANKS = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())


def regions(sentences: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Return the value of each region of each sentence: one row per region, with the columns of `REGIONS_SCHEMA`."""
    # `place` is the index of the region in its sentence, from 0. `empty` is true if a region is empty or contains only
    # white space. Bits are nan where a token crosses a region border.
    table = sentences.filter(pl.col("region_names").list.len() > 0)
    if not len(table):
        return pl.DataFrame(schema=REGIONS_SCHEMA)
    batch, bits = _batch(table)
    sentence = np.arange(len(table)).repeat(batch.regions)
    columns = {
        "item": table["item"].gather(sentence),
        "condition": table["condition"].gather(sentence),
        "region": table["region_names"].explode(),
        "place": np.arange(len(sentence)) - (batch.regions.cumsum() - batch.regions).repeat(batch.regions),
        "content": table["text"].gather(sentence),
        "bits": reading.all_regions(batch, bits),
    }
    content = pl.col("content").str.slice(pl.Series(batch.low), pl.Series(batch.high - batch.low))
    rows = pl.DataFrame(columns).with_columns(content)
    empty = pl.col("content").str.strip_chars(_BLANKS) == ""
    return rows.with_columns(empty.alias("empty")).select(
        pl.col(name).cast(kind) for name, kind in REGIONS_SCHEMA.items()
    )


def whole_sentences(sentences: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """Return the value of each whole sentence, which is `*` in formulas. The columns are item, condition and bits."""
    batch, bits = _batch(sentences)
    return sentences.select("item", "condition", bits=pl.Series(reading.all_sentences(batch, bits)))


def _batch(sentences: pl.DataFrame) -> tuple[Batch, NDArray[np.float64]]:
    regions, tokens = (sentences[name].list.len().to_numpy().astype(np.int64) for name in ("region_names", "starts"))
    low, high, starts = (
        sentences[name].explode().drop_nulls().to_numpy().astype(np.int64)
        for name in ("region_starts", "region_ends", "starts")
    )
    batch = Batch(sentences["text"].to_list(), regions, low, high, tokens, starts)
    return batch, sentences["bits"].explode().drop_nulls().to_numpy()


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

    model: str
    suite: str
    items: Sequence[Item]
    measures: Sequence[Measure]
    reading: Reading
    reduces: bool = False  # whether answers have reductions


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


def sentence_columns(chosen: Sequence[Item]) -> dict[str, list[Any]]:
    """Return the columns of `SENTENCES` that items have without answers, with a row for each sentence."""
    rows = [(item, condition, sentence) for item in chosen for condition, sentence in item.sentences.items()]
    return {
        "item": [item.id for item, _, _ in rows],
        "condition": [condition for _, condition, _ in rows],
        "text": [sentence.text for _, _, sentence in rows],
        "tags": [json.dumps(public_tags(item.tags)) for item, _, _ in rows],
        "region_names": [[region.name for region in sentence.regions] for _, _, sentence in rows],
        "region_starts": [[region.start for region in sentence.regions] for _, _, sentence in rows],
        "region_ends": [[region.end for region in sentence.regions] for _, _, sentence in rows],
    }


def _sentences(content: Slice, answers: Answers) -> pl.DataFrame:
    columns_of_items = sentence_columns(content.items)
    row_answers = [answers[text] for text in columns_of_items["text"]]
    columns = columns_of_items | {
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
