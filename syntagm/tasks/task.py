"""A task: a way of asking suites. It plans units of work, says what a model is asked, and judges the answers.

The engine (`syntagm.runs.engine`) plans, resumes, commits and finishes for every task. A unit is a pure function of its
content and the model: nothing in a task writes a file or remembers an earlier unit.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

import polars as pl

from syntagm.answers import Fill, Gap, Surprisals
from syntagm.models.contract import LanguageModel
from syntagm.result import Kind
from syntagm.suite import Aggregate, Suite, public_tags

Schema: TypeAlias = dict[str, pl.DataType]
Options: TypeAlias = Mapping[str, Any]
Questions: TypeAlias = Sequence[str] | Sequence[Gap]

# Every task keeps this table: a row an item, or a context, and measure.
RESULTS: Schema = {
    "model": pl.String(),
    "suite": pl.String(),
    "item": pl.String(),
    "measure": pl.String(),
    "value": pl.Float64(),
    "margin": pl.Float64(),
    "n": pl.Int32(),
}


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of work: the part of a suite that is computed and kept as one.

    Arguments:
        name: a hash of everything that its numbers depend on: content, model, options.
        suite: the name of the suite.
        first, last: items (or contexts) `first` up to, not including, `last`.
        size: how many questions it stands for in what a run shows of its progress.
    """

    name: str
    suite: str
    first: int
    last: int
    size: int


@dataclass(frozen=True, slots=True)
class SuiteRecord:
    """What a run knows of a suite without its items.

    Arguments:
        hash: of the suite's content.
        predictions: measure -> formula, in order; "" for a measure without a formula.
        conditions: in the order of the first item.
        region_labels: region name -> what readers see.
        items, sentences: how many items there are, and how many questions they make.
        shards: the names of its units, in order.
        left_out: the names of predictions that were not computed; see `tasks.predictions`.
        first_left_out: is the suite's first prediction one of them?
        asked: is there anything to ask? Not so of a suite without a context for a word list.
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
        """Return the predictions that a rule takes. Empty if any required prediction was skipped, or nothing was asked.

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


def suite_record(
    suite: Suite, digest: str, predictions: Mapping[str, str], units: Sequence[Unit], left_out: tuple[str, ...] = ()
) -> SuiteRecord:
    """Return what a run keeps of a suite.

    Arguments:
        digest: the hash of its content.
        predictions: measure -> formula, as results call them.
        left_out: the names of its predictions that are not computed.
    """
    tags = public_tags(suite.tags)
    return SuiteRecord(
        suite.name,
        digest,
        suite.aggregate,
        predictions,
        tuple(suite.items[0].sentences) if suite.items else (),
        {key.removeprefix("region."): value for key, value in tags.items() if key.startswith("region.")},
        {key: value for key, value in tags.items() if not key.startswith("region.")},
        len(suite.items),
        sum(unit.size for unit in units),
        tuple(unit.name for unit in units),
        left_out,
        bool(suite.predictions) and suite.predictions[0].name in left_out,
    )


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run is going to do.

    Arguments:
        suites: in order.
        units: of all suites, in order.
        record: what else the record of the run says of the plan.
        files: what stands beside the record: name -> content.
        warnings: what the user should know before the run, a sentence each.
        shared: what the units of several suites have in common; `Task.contents` gets it back.
    """

    suites: tuple[SuiteRecord, ...]
    units: tuple[Unit, ...]
    record: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    shared: Any = None


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of a unit.

    Arguments:
        tables: as `Task.tables` declares them.
        undefined: why results are undefined, and how many for each reason.
        suites: the suites that the rows are about, if not that of the unit alone.
    """

    tables: Mapping[str, pl.DataFrame]
    undefined: Counter[str]
    suites: tuple[str, ...] = ()


Content = TypeVar("Content")


class Task(ABC, Generic[Content]):
    """A way of asking suites.

    Attributes:
        name: as the record of a run has it.
        needs: what the model must be able to do.
        portion: how many questions are asked at a time: what an interrupted run has to ask again, at most.
        conjoins: are its measures predictions of the same items, so that all of an item's can hold together?
    """

    name: ClassVar[str]
    needs: ClassVar[Literal["score", "fill"]]
    portion: ClassVar[int]
    conjoins: ClassVar[bool]

    @abstractmethod
    def options(self, model: LanguageModel, tolerance: float, standing: Options) -> dict[str, Any]:
        """Return everything but the model and the suites that the numbers depend on, for the record.

        Arguments:
            tolerance: margins within it are ties, in bits.
            standing: the options of the run that is continued; empty for a new one.
        """

    @abstractmethod
    def plan(self, suites: Iterable[Suite], model: LanguageModel, options: Options) -> Plan:
        """Go through all suites once, one in memory at a time, and plan their units.

        Raises:
            UsageError, InputError: there is nothing to ask.
        """

    @abstractmethod
    def contents(
        self, suite: Suite, units: Sequence[Unit], plan: Plan, model: LanguageModel, options: Options
    ) -> Iterator[tuple[Unit, Content]]:
        """Give each of some units of a suite its content: all that `ask` and `judge` need."""

    @abstractmethod
    def ask(self, content: Content) -> Questions:
        """Return the questions of a unit, each distinct one once."""

    @abstractmethod
    def judge(self, content: Content, answers: Iterator[Surprisals] | Iterator[Fill]) -> Judged:
        """Judge the answers to the questions of a unit, which come in their order.

        Arguments:
            answers: one is in memory at a time unless the task keeps it.
        """

    @classmethod
    @abstractmethod
    def tables(cls, options: Options) -> Mapping[str, Schema]:
        """Return the tables that a unit keeps, as the endings of its files, with their columns."""

    @classmethod
    @abstractmethod
    def asked(cls, options: Options) -> tuple[str, ...]:
        """Return what a signature says of the options, e.g. ("align:strict",)."""

    @classmethod
    @abstractmethod
    def kind(cls, measure: str, options: Options) -> Kind:
        """Return what the values of a measure are."""
