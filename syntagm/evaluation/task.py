"""The base class of tasks, which plan units of work, build the questions for a model and judge its answers.

The engine (`syntagm.runs.engine`) runs every task: it plans, resumes, commits and finishes. The results of a unit
depend only on its content and the model: a task writes no file and keeps nothing from one unit to the next.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

import polars as pl

from syntagm.core import Shape
from syntagm.evaluation.result import Kind
from syntagm.models import Described, Fill, Gap, LanguageModel, Query, Surprisals
from syntagm.suites import AGGREGATES, Aggregate, Suite, public_tags

Schema: TypeAlias = dict[str, pl.DataType]
Options: TypeAlias = Mapping[str, Any]
Questions: TypeAlias = Sequence[str] | Sequence[Gap]

# Every task keeps this table. It has one row for each measure of each item (or context).
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
    """A unit of work: a slice of a suite that is computed and saved as a whole.

    Arguments:
        name: a hash of everything that the numbers depend on: content, model and options.
        suite: the name of the suite.
        first, last: the items (or contexts) from `first` up to but not including `last`.
        size: the number of questions, as counted by the progress display.
    """

    name: str
    suite: str
    first: int
    last: int
    size: int

    def __str__(self) -> str:
        return f"suite {self.suite}, unit {self.name[:8]}"


def group_of(tag: str, tags: Mapping[str, str]) -> str:
    """Return the value of a tag by which suites and items are grouped; empty without it."""
    # BLiMP's files spell the same field in two ways, `syntax/semantics` and `syntax_semantics`; here, they are one
    # group.
    value = tags.get(tag, "")
    return value.replace("/", "_") if tag == "field" else value


@dataclass(frozen=True, slots=True)
class SuiteRecord:
    """The record of a suite in a run: everything but the items. The names of the fields are keys of run.json.

    Arguments:
        hash: the hash of the suite's content.
        predictions: measure -> formula, in order; "" for a measure without a formula.
        conditions: the names of the conditions, in the order of the first item.
        region_labels: region name -> the label to display.
        items, sentences: the numbers of items and of questions.
        shards: the names of the units, in order.
        left_out: the names of predictions that were skipped; see `evaluation.predictions`.
        first_left_out: whether the suite's first prediction was skipped.
        asked: whether there is anything to score; False for a suite without a context for the word list.
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

    def group(self, tag: str) -> str:
        """Return the value of a tag by which suites are grouped; empty if the suite does not have the tag."""
        return group_of(tag, self.tags)

    def predictions_for(self, rule: str) -> tuple[str, ...]:
        # The result is empty if a required prediction was skipped, or if there was nothing to score.
        if not self.asked:
            return ()
        if rule == "first":
            return () if self.first_left_out else tuple(self.predictions)[:1]
        if rule == "all":
            # Of a run of people, numbers beside the predictions, such as ratings, have no formula.
            judged = tuple(name for name, formula in self.predictions.items() if formula)
            return () if self.left_out else judged or tuple(self.predictions)
        return tuple(name for name in self.predictions if rule in ("", name))


# The shape of a `SuiteRecord` in run.json; see `core.io.shape.check`.
SUITE_SHAPE: Shape = {
    "name": str,
    "hash": str,
    "aggregate": frozenset(AGGREGATES),
    "predictions": {str: str},
    "conditions": [str],
    "region_labels": {str: str},
    "tags": {str: str},
    "items": int,
    "sentences": int,
    "shards": [str],
    "left_out": [str],
    "first_left_out": bool,
    "asked": bool,
}


def suite_record(
    suite: Suite, digest: str, predictions: Mapping[str, str], units: Sequence[Unit], left_out: tuple[str, ...] = ()
) -> SuiteRecord:
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
    """The work that a run has to do.

    Arguments:
        suites: the records of the suites, in order.
        units: the units of all suites, in order.
        record: further entries for the record of the run.
        files: files to save next to the record: name -> content.
        warnings: sentences to show to the user before the run.
        shared: data that units of several suites have in common; `Task.contents` receives it.
    """

    suites: tuple[SuiteRecord, ...]
    units: tuple[Unit, ...]
    record: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    shared: Any = None


@dataclass(frozen=True, slots=True)
class Judged:
    """The results of a unit.

    Arguments:
        tables: the tables that `Task.tables` declares.
        undefined: the reasons why results are undefined, with their counts.
        suites: the suites that the rows belong to; empty if they all belong to the suite of the unit.
    """

    tables: Mapping[str, pl.DataFrame]
    undefined: Counter[str]
    suites: tuple[str, ...] = ()


Content = TypeVar("Content")


class Task(ABC, Generic[Content]):
    """A way to evaluate suites with a model.

    Attributes:
        name: the name in the record of a run.
        needs: the method of the model that answers the questions.
        portion: the number of questions per call of the model, which is the most that an interrupted run repeats.
        conjoins: whether the measures are predictions about the same items, so that the rule "all" applies.
        surprisals: whether the table of sentences has surprisals; if not, there are no tokens and no values of regions.
        recorded: the shapes of `options` and of the entries of `Plan.record`, as in run.json; see `core.io.shape.check`.
    """

    name: ClassVar[str]
    needs: ClassVar[Literal["score", "fill"]]
    portion: ClassVar[int]
    conjoins: ClassVar[bool]
    surprisals: ClassVar[bool] = True
    recorded: ClassVar[Mapping[str, Shape]]

    @property
    def noun(self) -> str:
        """The noun for the questions, as in "12 sentences"."""
        return "context" if self.needs == "fill" else "sentence"

    @property
    def reduces(self) -> bool:
        """Whether the answers must have `Surprisals.reductions`."""
        return False

    @property
    def queries(self) -> tuple[Query, ...]:
        """What a model must be able to do."""
        return (self.needs, "reduce") if self.reduces else (self.needs,)

    @abstractmethod
    def options(self, model: LanguageModel, tolerance: float, recorded: Options) -> dict[str, Any]:
        """Return the options that the numbers depend on, for the record. Model and suites are recorded elsewhere.

        Arguments:
            tolerance: margins within this tolerance are ties, in bits.
            recorded: the recorded options of the run to be continued; empty for a new run.
        """

    def check(self, suite: Suite) -> None:
        """Refuse a suite about which the task can ask no model; `plan` refuses the same.

        Raises:
            UsageError, InputError: the suite lacks what the task needs.
        """

    def refuse_unasked(self, suites: Iterable[Suite], model: Described) -> None:
        """Refuse suites that have no question for the model; `plan` refuses the same.

        Arguments:
            suites: the suites. They are read only as far as needed.
            model: the model, loaded or not.

        Raises:
            UsageError: no suite has a question for the model.
        """

    @abstractmethod
    def plan(self, suites: Iterable[Suite], model: LanguageModel, options: Options) -> Plan:
        """Plan the units of all suites in one pass, keeping one suite in memory at a time.

        Raises:
            UsageError, InputError: no suite has a question for the model.
        """

    @abstractmethod
    def contents(
        self, suite: Suite, units: Sequence[Unit], plan: Plan, model: LanguageModel, options: Options
    ) -> Iterator[tuple[Unit, Content]]:
        """Yield units of a suite with their contents. A content has everything that `ask` and `judge` need."""

    @abstractmethod
    def ask(self, content: Content) -> Questions:
        """Return the distinct questions of a unit."""

    @abstractmethod
    def judge(self, content: Content, answers: Iterator[Surprisals] | Iterator[Fill]) -> Judged:
        """Judge the answers to the questions of a unit.

        Arguments:
            answers: answers in the order of the questions, computed as they are consumed.
        """

    @classmethod
    @abstractmethod
    def tables(cls, options: Options) -> Mapping[str, Schema]:
        """Return the tables that a unit saves: file suffix -> columns."""

    @classmethod
    @abstractmethod
    def signature_parts(cls, options: Options) -> tuple[str, ...]:
        """Return the fields of a signature that record the options, e.g. ("align:strict",)."""

    @classmethod
    def unit_of_margins(cls, options: Options) -> str:
        """Return the unit of margins, which are in bits unless another task or a convention says otherwise."""
        return "bits"

    @classmethod
    @abstractmethod
    def kind(cls, measure: str, options: Options) -> Kind:
        """Return the kind of a measure's values, for the record of a new run; a run knows the recorded kind (`Run.kind`)."""
