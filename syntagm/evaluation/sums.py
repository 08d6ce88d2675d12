"""The task `sums`: pairs of sentences that another tool has scored or judged; there are sums of sentences, and no tokens.

Each pair has two verdicts. `full_sentence` is this package's: the good sentence has fewer bits, and a tie does not hold.
`as_reported` is the tool's own, which may count ties as hits. Where a tool reports verdicts alone, both are the same and the
margin is nan.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import polars as pl

from syntagm.core import InputError, Shape
from syntagm.evaluation import items
from syntagm.evaluation.items import slices
from syntagm.evaluation.result import Kind, Result
from syntagm.evaluation.task import RESULTS, Judged, Options, Plan, Schema, Task, Unit, suite_record
from syntagm.models import Fill, LanguageModel, Query, Surprisals
from syntagm.suites import Item, Suite, public_tags

SUMS: Schema = {"item": pl.String(), "good": pl.Float64(), "bad": pl.Float64(), "reported": pl.Float64()}
TABLE = "sums.parquet"
FULL, REPORTED = "full_sentence", "as_reported"


@dataclass(frozen=True, slots=True)
class Sum:
    """What a tool says of a pair."""

    good: float  # `good`, `bad`: bits of the sentences; nan if the tool does not say them
    bad: float
    reported: float  # 1.0 if the tool counts the pair as right, 0.0 if not, nan if it does not say so


@dataclass(frozen=True, slots=True)
class Slice:
    """Items of a suite with what the tool says of them, in the same order."""

    model: str
    suite: str
    items: Sequence[Item]
    sums: Sequence[Sum]
    tolerance: float


@dataclass(frozen=True, slots=True)
class Sums(Task[Slice]):
    """Judge pairs by what another tool says of them."""

    name: ClassVar[str] = "sums"
    needs: ClassVar[Literal["score", "fill"]] = "score"
    portion: ClassVar[int] = items.PORTION
    conjoins: ClassVar[bool] = False
    surprisals: ClassVar[bool] = False
    recorded: ClassVar[Mapping[str, Shape]] = {"options": {"tolerance": float, "tool": str}}

    tool: str  # the name of the tool
    sums: Mapping[str, Sequence[Sum]]  # suite -> what the tool says of each item, in the order of the items

    @property
    def queries(self) -> tuple[Query, ...]:
        """Nothing: the tool has answered already."""
        return ()

    def options(self, model: LanguageModel, tolerance: float, recorded: Options) -> dict[str, Any]:
        return {"tolerance": tolerance, "tool": self.tool}

    def plan(self, suites: Iterable[Suite], model: LanguageModel, options: Options) -> Plan:
        records, units = [], []
        for suite in suites:
            own = self.sums[suite.name]
            if len(own) != len(suite.items):
                raise InputError(
                    f"suite {suite.name}", f"{len(own)} answers to {len(suite.items)} items", "one for each"
                )
            content = hashlib.sha256(repr(list(own)).encode()).hexdigest()
            digest, suite_units = slices(suite, json.dumps([model.fingerprint, options, content]))
            formulas = {FULL: "(*;%good%) < (*;%bad%)", REPORTED: ""}
            records.append(suite_record(suite, digest, formulas, suite_units))
            units += suite_units
        return Plan(tuple(records), tuple(units))

    def contents(
        self, suite: Suite, units: Sequence[Unit], plan: Plan, model: LanguageModel, options: Options
    ) -> Iterator[tuple[Unit, Slice]]:
        for unit in units:
            own = self.sums[suite.name][unit.first : unit.last]
            yield unit, Slice(model.name, suite.name, suite.items[unit.first : unit.last], own, options["tolerance"])

    def ask(self, content: Slice) -> list[str]:
        """Return nothing: the tool has answered already."""
        return []

    def judge(self, content: Slice, answers: Iterator[Surprisals] | Iterator[Fill]) -> Judged:
        """Judge every pair by its sums, and record the tool's own verdict."""
        undefined: Counter[str] = Counter()
        results = []
        for item, own in zip(content.items, content.sums, strict=True):
            # Two impossible sentences are a tie, too.
            margin = 0.0 if own.good == own.bad else own.bad - own.good
            value = own.reported if math.isnan(margin) else float(margin > content.tolerance)
            for name, verdict in ((FULL, value), (REPORTED, own.reported)):
                if math.isnan(verdict):
                    items.count_reason(undefined, "the tool gives no number", partial(_place, item, content))
                results.append(Result(content.model, content.suite, item.id, name, verdict, 0, margin))
        rows = [
            (item.id, own.good, own.bad, own.reported) for item, own in zip(content.items, content.sums, strict=True)
        ]
        tables = {
            "parquet": _sentences(content.items),
            "results.parquet": items.results_table(results),
            TABLE: pl.DataFrame(rows, schema=SUMS, orient="row"),
        }
        return Judged(tables, undefined)

    @classmethod
    def tables(cls, options: Options) -> Mapping[str, Schema]:
        return {"parquet": items.SENTENCES, "results.parquet": RESULTS, TABLE: SUMS}

    @classmethod
    def signature_parts(cls, options: Options) -> tuple[str, ...]:
        return (f"tool:{options['tool']}",)

    @classmethod
    def kind(cls, measure: str, options: Options) -> Kind:
        return Kind.VERDICT


def _place(item: Item, content: Slice) -> str:
    return f"item {item.id} of {content.suite}"


def _sentences(chosen: Sequence[Item]) -> pl.DataFrame:
    """Return the table of sentences, for their texts and tags; there is one token of nan bits."""
    rows = [(item, condition, sentence) for item in chosen for condition, sentence in item.sentences.items()]
    columns = {
        "item": [item.id for item, _, _ in rows],
        "condition": [condition for _, condition, _ in rows],
        "text": [sentence.text for _, _, sentence in rows],
        "tags": [json.dumps(public_tags(item.tags)) for item, _, _ in rows],
        "region_names": [[] for _ in rows],
        "region_starts": [[] for _ in rows],
        "region_ends": [[] for _ in rows],
        "starts": [[0] for _ in rows],
        "bits": [[math.nan] for _ in rows],
        "known": [[True] for _ in rows],
    }
    return pl.DataFrame(columns, schema=items.SENTENCES)
