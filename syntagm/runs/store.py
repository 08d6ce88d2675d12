"""The run directory, read: what was run, every token's bits, every result. Looking never computes with a model.

run.json             the record: what was run, on what, with which policies
ledger.jsonl         a line for each finished shard, with the hashes of its files
shards/*.parquet     token-level answers, and results, of each shard
results.parquet/.csv all results, when the run is done
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from syntagm.answers import Surprisals
from syntagm.errors import RunError
from syntagm.runs import shard
from syntagm.suite import Aggregate, Region, Sentence
from syntagm.tasks.predictions.align import Rule
from syntagm.tasks.predictions.prediction import Reading
from syntagm.tasks.predictions.regions import regions

VERSION = 1
REGION_COLUMNS = ("model", "suite", "item", "condition", "region", "content", "bits")
TOKEN_COLUMNS = ("model", "suite", "item", "condition", "index", "start", "token", "bits", "known")


@dataclass(frozen=True, slots=True)
class SuiteRecord:
    """What a run knows of a suite without its items.

    Arguments:
        hash: of the suite's content.
        predictions: name -> formula, in order.
        conditions: in the order of the first item.
        region_labels: region name -> what to call it before readers.
        shards: the names of its shards, in order.
        left_out: the names of predictions that were not computed; see `tasks.predictions.evaluate.left_out`.
        first_left_out: is the suite's first prediction one of them?
        asked: is there anything to ask? Not so of a suite without a context in a fill run.
    """

    name: str
    hash: str
    aggregate: Aggregate
    predictions: Mapping[str, str]
    conditions: tuple[str, ...]
    region_labels: Mapping[str, str]
    tags: Mapping[str, str]
    items: int
    sentences: int
    shards: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    first_left_out: bool = False
    asked: bool = True

    def taken(self, rule: str) -> tuple[str, ...]:
        """The predictions that a rule takes; none if one of them was not computed: others would be another verdict.

        None either if nothing was asked.

        Arguments:
            rule: "first", "all", the name of a prediction, or "" for all that were computed; see `stats.score`.
        """
        if not self.asked:
            return ()
        if rule == "first":
            return () if self.first_left_out else tuple(self.predictions)[:1]
        if rule == "all":
            return () if self.left_out else tuple(self.predictions)
        return tuple(name for name in self.predictions if rule in ("", name))


class Run:
    """A run directory, finished or not; see `open_run`."""

    def __init__(self, folder: Path, record: dict[str, Any], ledger: dict[str, dict[str, Any]]) -> None:
        self.folder, self.record, self._ledger = folder, record, ledger
        self.model: str = record["model"]["name"]
        self.tolerance: float = record["options"]["tolerance"]
        self.rule: Rule = record["options"].get("align", "strict")
        # A ledger that lost lines is unfinished, whatever the record says: the same command computes what is missing.
        recorded = {name for suite in record["suites"] for name in suite["shards"]}
        self.done: bool = record["status"] == "done" and recorded <= ledger.keys()

    @cached_property
    def suites(self) -> tuple[SuiteRecord, ...]:
        """What was run on, in order."""
        return tuple(
            SuiteRecord(
                **suite | {key: tuple(suite[key]) for key in ("conditions", "shards", "left_out") if key in suite}
            )
            for suite in self.record["suites"]
        )

    def suite(self, name: str) -> SuiteRecord:
        """The record of one suite; RunError if it is not in the run."""
        for suite in self.suites:
            if suite.name == name:
                return suite
        raise RunError(
            str(self.folder), f"no suite {name!r}", "one of " + ", ".join(suite.name for suite in self.suites)
        )

    @property
    def undefined(self) -> dict[str, int]:
        """Why results are undefined, and how many for each reason; a reason keeps its first example."""
        shards = [self._ledger.get(name, {}) for suite in self.suites for name in suite.shards]
        counts: dict[str, int] = {}
        spelled: dict[str, str] = {}
        for reason, count in [pair for one in shards for pair in one.get("undefined", {}).items()]:
            kind = reason.partition(", for example in ")[0]
            spelled.setdefault(kind, reason)
            counts[kind] = counts.get(kind, 0) + count
        return {spelled[kind]: count for kind, count in counts.items()}

    def results(self, suite: str | None = None) -> pl.DataFrame:
        """A row an item and measure: model, suite, item, measure, value, margin, n. Of one suite, or of all."""
        chosen = self.suites if suite is None else (self.suite(suite),)
        tables = [self._table(name, "results.parquet") for one in chosen for name in one.shards if name in self._ledger]
        # A run that was stopped may go on under another spelling of the model's name (`bos=yes` for `bos=auto`).
        return pl.concat([pl.DataFrame(schema=shard.RESULTS), *tables]).with_columns(model=pl.lit(self.model))

    def sentences(self, suite: str) -> pl.DataFrame:
        """A row a sentence of one suite, with text, regions and tokens as lists; columns as in `runs.shard.SENTENCES`."""
        names = [name for name in self.suite(suite).shards if name in self._ledger]
        tables = [self._table(name, "parquet") for name in names]
        return pl.concat(tables) if tables else pl.DataFrame(schema=shard.SENTENCES)

    def tokens(self, suite: str) -> pl.DataFrame:
        """A row a token of one suite; columns as in `TOKEN_COLUMNS`. An end symbol has an empty token."""
        listed = self.sentences(suite).with_row_index("sentence").filter(pl.col("starts").list.len() > 0)
        ends = pl.concat_list(pl.col("starts").list.slice(1), pl.col("text").str.len_chars().cast(pl.Int32))
        listed = listed.with_columns(ends=ends).explode(["starts", "ends", "bits", "known"])
        return listed.select(
            pl.lit(self.model).alias("model"),
            pl.lit(suite).alias("suite"),
            "item",
            "condition",
            pl.int_range(pl.len()).over("sentence").alias("index"),
            pl.col("starts").alias("start"),
            pl.col("text").str.slice(pl.col("starts"), pl.col("ends") - pl.col("starts")).alias("token"),
            "bits",
            "known",
        )

    def regions(self, suite: str) -> pl.DataFrame:
        """A row a region of one suite; columns as in `REGION_COLUMNS`.

        Bits are the suite's aggregate over the region's tokens; nan where a token reaches over a border.
        """
        found = regions(self.sentences(suite), self.reading(suite))
        return found.select(pl.lit(self.model).alias("model"), pl.lit(suite).alias("suite"), *REGION_COLUMNS[2:])

    def reading(self, suite: str) -> Reading:
        """How the answers to one suite are read."""
        return Reading(self.suite(suite).aggregate, self.rule, self.record["model"]["start"] is not None)

    def answers(self, suite: str) -> Iterator[tuple[str, str, Sentence, Surprisals]]:
        """Item, condition, sentence and answer of each sentence of one suite."""
        for row in self.sentences(suite).iter_rows(named=True):
            spans = zip(row["region_names"], row["region_starts"], row["region_ends"], strict=True)
            sentence = Sentence(row["text"], tuple(Region(*span) for span in spans))
            starts, bits = np.array(row["starts"], np.int32), np.array(row["bits"], np.float64)
            yield (
                row["item"],
                row["condition"],
                sentence,
                Surprisals(row["text"], starts, bits, np.array(row["known"], bool)),
            )

    def signature(self, suite: str, measure: str) -> str:
        """What a number of this run rests on, in a line that is enough to repeat it."""
        family, _, path = self.model.partition(":")
        one, policies = self.suite(suite), self.record["model"]["policies"]
        parts = [path.partition("?")[0], family, *(f"{key}:{value}" for key, value in policies.items())]
        if weights := self.record["model"]["record"].get("weights"):
            parts.insert(2, f"weights:{weights[:8]}")
        parts += [f"align:{self.rule}", f"tie:{self.tolerance:g}", f"{suite}@{one.hash[:8]}", measure, one.aggregate]
        return "|".join([*parts, f"syntagm:{self.record['versions']['syntagm']}"])

    def _table(self, name: str, kind: str) -> pl.DataFrame:
        content = read_shard(self.folder, name, kind, self._ledger)
        if content is None:
            path = self.folder / "shards" / f"{name}.{kind}"
            raise RunError(
                str(path), "damaged: its content is not what the ledger says", "the file as it was written",
                "Give the `syntagm run` command again: the shard is then computed anew.",
            )  # fmt: skip
        return pl.read_parquet(BytesIO(content))


def open_run(folder: str | Path) -> Run:
    """Open a run directory for reading.

    Raises:
        RunError: there is none, it can't be read, or another version of the format wrote it.
    """
    folder = Path(folder)
    record = read_record(folder)
    if record is None:
        raise RunError(
            str(folder), "no run.json", "a run directory", "Make one with `syntagm run MODEL --suite ... -o DIR`."
        )
    if record.get("kind", "score") == "fill":
        from syntagm.runs.gap_run import FillRun

        return FillRun(folder, record)
    return Run(folder, record, read_ledger(folder))


def read_record(folder: Path) -> dict[str, Any] | None:
    """The content of run.json, None if there is no such file.

    Raises:
        RunError: it can't be read, or another version of the format wrote it.
    """
    path = folder / "run.json"
    try:
        record = json.loads(path.read_bytes())
        written = record["format"]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(
            str(path), f"can't be read ({type(error).__name__}: {error})", "the record of a run",
            "Move the folder aside and run again; with the cache on, little is computed twice.",
        ) from error  # fmt: skip
    if written != VERSION:
        raise RunError(
            str(path), f"format {written}", f"format {VERSION}", "Open it with the version of syntagm that wrote it."
        )
    return dict(record)


def read_ledger(folder: Path, kinds: Sequence[str] = shard.KINDS) -> dict[str, dict[str, Any]]:
    """The finished shards by name. A line cut short by a kill is no entry.

    Arguments:
        kinds: the files that a shard has.
    """
    path = folder / "ledger.jsonl"
    entries: dict[str, dict[str, Any]] = {}
    for line in path.read_bytes().splitlines() if path.exists() else []:
        try:
            entry = json.loads(line)
            files = {kind: entry["files"][kind] for kind in kinds}
            entries[entry["shard"]] = entry | {"files": files, "undefined": dict(entry["undefined"])}
        except (ValueError, KeyError, TypeError):
            continue
    return entries


def read_shard(folder: Path, name: str, kind: str, ledger: Mapping[str, dict[str, Any]]) -> bytes | None:
    """A file of a finished shard; None if it is not there, or not what the ledger says it was."""
    path = folder / "shards" / f"{name}.{kind}"
    content = path.read_bytes() if path.exists() else b""
    return content if hashlib.sha256(content).hexdigest() == ledger[name]["files"][kind] else None
