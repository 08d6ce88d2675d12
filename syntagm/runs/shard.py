"""A shard: a slice of one suite, the unit of durable work. What it is called, and how it stands on disk."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO

import polars as pl

from syntagm.answers import Answers
from syntagm.result import Result
from syntagm.suite import Item, Suite

MAX_SENTENCES = 8192
VERSION = 1
KINDS = ("parquet", "results.parquet")

SENTENCES: dict[str, pl.DataType] = {
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
RESULTS: dict[str, pl.DataType] = {
    "model": pl.String(),
    "suite": pl.String(),
    "item": pl.String(),
    "measure": pl.String(),
    "value": pl.Float64(),
    "margin": pl.Float64(),
    "n": pl.Int32(),
}


@dataclass(frozen=True, slots=True)
class Shard:
    """Items `first` up to, not including, `last` of a suite; `name` is the hash of content, model and options."""

    name: str
    suite: str
    first: int
    last: int
    sentences: int


def public_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """The tags that say something, without those that only serve a format's round trip."""
    return {key: value for key, value in tags.items() if not key.startswith("json:")}


def plan(suite: Suite, identity: str) -> tuple[str, list[Shard]]:
    """The hash of a suite's content, and the shards it is cut into.

    Arguments:
        identity: what else the numbers depend on: the model's fingerprint and the options.
    """
    head = [VERSION, suite.name, suite.aggregate, [[p.name, p.formula.text] for p in suite.predictions]]
    whole = hashlib.sha256(json.dumps(head).encode())
    shards: list[Shard] = []
    first, sentences, part = 0, 0, hashlib.sha256()

    def close(last: int) -> None:
        name = hashlib.sha256(f"{json.dumps(head)}\0{identity}\0{first}\0{part.hexdigest()}".encode()).hexdigest()[:32]
        shards.append(Shard(name, suite.name, first, last, sentences))

    for index, item in enumerate(suite.items):
        if sentences and sentences + len(item.sentences) > MAX_SENTENCES:
            close(index)
            first, sentences, part = index, 0, hashlib.sha256()
        content = _content(item)
        part.update(content)
        whole.update(content)
        sentences += len(item.sentences)
    if suite.items:
        close(len(suite.items))
    return whole.hexdigest()[:32], shards


def _content(item: Item) -> bytes:
    sentences = [
        [condition, sentence.text, [[region.name, region.start, region.end] for region in sentence.regions]]
        for condition, sentence in item.sentences.items()
    ]
    return json.dumps([item.id, sentences, public_tags(item.tags)]).encode()


def sentences_table(items: Sequence[Item], answers: Answers) -> bytes:
    """A Parquet file with a row a sentence, as `SENTENCES` says."""
    rows = [(item, condition, sentence) for item in items for condition, sentence in item.sentences.items()]
    found = [answers[sentence.text] for _, _, sentence in rows]
    columns = {
        "item": [item.id for item, _, _ in rows],
        "condition": [condition for _, condition, _ in rows],
        "text": [sentence.text for _, _, sentence in rows],
        "tags": [json.dumps(public_tags(item.tags)) for item, _, _ in rows],
        "region_names": [[region.name for region in sentence.regions] for _, _, sentence in rows],
        "region_starts": [[region.start for region in sentence.regions] for _, _, sentence in rows],
        "region_ends": [[region.end for region in sentence.regions] for _, _, sentence in rows],
        "starts": [answer.starts.tolist() for answer in found],
        "bits": [answer.bits.tolist() for answer in found],
        "known": [answer.known.tolist() for answer in found],
    }
    return parquet(pl.DataFrame(columns, schema=SENTENCES))


def results_table(results: Sequence[Result]) -> bytes:
    """A Parquet file with a row a result, as `RESULTS` says."""
    columns = {name: [getattr(result, name) for result in results] for name in RESULTS}
    return parquet(pl.DataFrame(columns, schema=RESULTS))


def parquet(table: pl.DataFrame) -> bytes:
    """A table as the bytes of a Parquet file."""
    buffer = BytesIO()
    table.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()
