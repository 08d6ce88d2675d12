"""The task `measures`: measures chosen by the user instead of the suites' predictions."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from syntagm.core import InputError, Shape, UsageError
from syntagm.evaluation import items
from syntagm.evaluation.alignment import RULES, Reading, Rule
from syntagm.evaluation.items import Slice, slices
from syntagm.evaluation.measure import Measure
from syntagm.evaluation.result import Kind
from syntagm.evaluation.task import Judged, Options, Plan, Schema, SuiteRecord, Task, Unit, suite_record
from syntagm.models import Described, Fill, LanguageModel, Surprisals
from syntagm.suites import Item, Suite


@dataclass(frozen=True, slots=True)
class Measures(Task[Slice]):
    """Score every sentence and judge every item by each measure."""

    name: ClassVar[str] = "measures"
    needs: ClassVar[Literal["score", "fill"]] = "score"
    portion: ClassVar[int] = items.PORTION
    conjoins: ClassVar[bool] = False
    recorded: ClassVar[Mapping[str, Shape]] = {
        "options": {
            "align": frozenset(RULES),
            "tolerance": float,
            "measures": {str: frozenset(kind.name for kind in Kind)},
            "reductions?": bool,
        }
    }

    measures: tuple[Measure, ...]  # the measures, in the order of the results
    align: Rule = "strict"  # the rule that assigns tokens to regions; see `syntagm.evaluation.alignment`

    def __post_init__(self) -> None:
        names = [str(measure) for measure in self.measures]
        if repeated := [name for name in names if names.count(name) > 1]:
            raise UsageError("measure", f"{repeated[0]} given twice", "each measure once")

    @property
    def reduces(self) -> bool:
        return any(measure.asks_for for measure in self.measures)

    def options(self, model: LanguageModel, tolerance: float, recorded: Options) -> dict[str, Any]:
        """Return the measures with their kinds, the alignment rule, the tolerance, and whether reductions are kept."""
        measures = {str(measure): measure.kind.name for measure in self.measures}
        reductions = {"reductions": True} if self.reduces else {}
        return {"align": self.align, "tolerance": tolerance, "measures": measures, **reductions}

    def check(self, suite: Suite) -> None:
        """Refuse a suite with an item that lacks a condition or region that a measure names."""
        for item in suite.items:
            _refuse_unmeasurable(suite.name, item, self.measures)

    def refuse_unasked(self, suites: Iterable[Suite], model: Described) -> None:
        """Refuse a model for which a measure has no meaning."""
        self._refuse_two_sided(model)

    def _refuse_two_sided(self, model: Described) -> None:
        for measure in self.measures:
            if measure.leftward and model.sees != "left":
                found = f"a model that sees {model.sees} ({model.name})"
                raise UsageError(f"measure {measure}", found, "a model that reads from left to right")

    def plan(self, suites: Iterable[Suite], model: LanguageModel, options: Options) -> Plan:
        self._refuse_two_sided(model)
        identity = json.dumps([model.fingerprint, options])
        records: list[SuiteRecord] = []
        units: list[Unit] = []
        names = dict.fromkeys(map(str, self.measures), "")
        for suite in suites:
            self.check(suite)
            digest, suite_units = slices(suite, identity)
            records.append(suite_record(suite, digest, names, suite_units))
            units += suite_units
        return Plan(tuple(records), tuple(units))

    def contents(
        self, suite: Suite, units: Sequence[Unit], plan: Plan, model: LanguageModel, options: Options
    ) -> Iterator[tuple[Unit, Slice]]:
        reading = Reading(suite.aggregate, options["align"], model.bos is not None)
        return items.slices_of(suite, units, model.name, self.measures, reading, self.reduces)

    def ask(self, content: Slice) -> list[str]:
        """Return the distinct sentences. All sentences are scored, because the tokens of all are saved."""
        return items.texts(content)

    def judge(self, content: Slice, answers: Iterator[Surprisals] | Iterator[Fill]) -> Judged:
        return items.judge(content, answers)  # type: ignore[arg-type]  # `ask` returned texts

    @classmethod
    def tables(cls, options: Options) -> Mapping[str, Schema]:
        return items.REDUCED_TABLES if options.get("reductions") else items.TABLES

    @classmethod
    def signature_parts(cls, options: Options) -> tuple[str, ...]:
        return (f"align:{options['align']}",)

    @classmethod
    def kind(cls, measure: str, options: Options) -> Kind:
        if measure not in options["measures"]:
            raise InputError("options, measures", f"no {measure!r}", "all measures of the suites")
        return Kind[options["measures"][measure]]


def _refuse_unmeasurable(suite: str, item: Item, measures: Sequence[Measure]) -> None:
    """Refuse measures that would fail in the middle of a run, before anything is computed."""
    sentences = {sentence.text for sentence in item.sentences.values()}
    for measure in measures:
        try:
            texts = set(measure.asks(item))
        except KeyError as error:
            expected = "one of " + ", ".join(item.sentences)
            raise UsageError(f"measure {measure}", f"no {error} in item {item.id} of {suite}", expected) from None
        if unknown := texts - sentences:
            raise UsageError(
                f"measure {measure}", f"scores a text that is not a sentence of item {item.id} of {suite}: {unknown.pop()!r}",
                "sentences of the item",
            )  # fmt: skip
