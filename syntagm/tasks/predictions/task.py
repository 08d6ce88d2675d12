"""The task `predictions`: the formulas of suites, over the surprisals of their sentences."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from syntagm.answers import Fill, Surprisals
from syntagm.errors import UsageError
from syntagm.models.contract import LanguageModel
from syntagm.result import Kind
from syntagm.suite import Suite
from syntagm.tasks import items
from syntagm.tasks.align import Rule
from syntagm.tasks.items import Slice
from syntagm.tasks.predictions.prediction import Prediction
from syntagm.tasks.reading import Reading
from syntagm.tasks.slices import slices
from syntagm.tasks.task import Judged, Options, Plan, Schema, SuiteRecord, Task, Unit, suite_record


@dataclass(frozen=True, slots=True)
class Predictions(Task[Slice]):
    """Score every sentence, and judge every item by the predictions of its suite.

    Arguments:
        align: which token belongs to which region, see `syntagm.tasks.align`.
    """

    name: ClassVar[str] = "predictions"
    needs: ClassVar[Literal["score", "fill"]] = "score"
    portion: ClassVar[int] = items.PORTION
    conjoins: ClassVar[bool] = True

    align: Rule = "strict"

    def options(self, model: LanguageModel, tolerance: float, standing: Options) -> dict[str, Any]:
        """Return the rule of alignment and the tolerance."""
        return {"align": self.align, "tolerance": tolerance}

    def plan(self, suites: Iterable[Suite], model: LanguageModel, options: Options) -> Plan:
        """Cut each suite into slices, and say which predictions this model is not asked for.

        Raises:
            UsageError: no prediction can be computed for this model.
        """
        identity = json.dumps([model.fingerprint, options])
        records: list[SuiteRecord] = []
        units: list[Unit] = []
        for suite in suites:
            digest, parts = slices(suite, identity)
            skipped = left_out(suite, model)
            formulas = {one.name: one.formula.text for one in suite.predictions if one.name not in skipped}
            records.append(suite_record(suite, digest, formulas, parts, skipped))
            units += parts
        _refuse_nothing_left(records, model)
        return Plan(tuple(records), tuple(units), warnings=tuple(_warnings(records, model)))

    def contents(
        self, suite: Suite, units: Sequence[Unit], plan: Plan, model: LanguageModel, options: Options
    ) -> Iterator[tuple[Unit, Slice]]:
        """Give each unit its items and the predictions that are computed."""
        skipped = left_out(suite, model)
        measures = [Prediction(one, options["tolerance"]) for one in suite.predictions if one.name not in skipped]
        reading = Reading(suite.aggregate, options["align"], model.bos is not None)
        return items.slices_of(suite, units, model.name, measures, reading)

    def ask(self, content: Slice) -> list[str]:
        """Return each distinct sentence once."""
        return items.texts(content)

    def judge(self, content: Slice, answers: Iterator[Surprisals] | Iterator[Fill]) -> Judged:
        """Judge every item by every prediction."""
        return items.judge(content, answers)  # type: ignore[arg-type]  # `ask` returned texts

    @classmethod
    def tables(cls, options: Options) -> Mapping[str, Schema]:
        """Return the columns of sentences and of results."""
        return items.TABLES

    @classmethod
    def asked(cls, options: Options) -> tuple[str, ...]:
        """Return the rule of alignment."""
        return (f"align:{options.get('align', 'strict')}",)

    @classmethod
    def kind(cls, measure: str, options: Options) -> Kind:
        """A prediction holds or does not."""
        return Kind.VERDICT


def left_out(suite: Suite, model: LanguageModel) -> tuple[str, ...]:
    """Return the names of the predictions that are not computed for a model.

    A model that sees both sides is not asked for predictions about parts of a sentence: the bits of a part given what stands
    on both sides of it are no surprisal of a reader who has come so far. The model's option `regions=yes` computes them all
    the same, and then stands in every signature.
    """
    if model.sees != "both" or model.settings.get("regions") == "yes":
        return ()
    parts = [one for one in suite.predictions if any(found.region != "*" for found in one.formula.references())]
    return tuple(one.name for one in parts)


def _refuse_nothing_left(suites: Collection[SuiteRecord], model: LanguageModel) -> None:
    without = [suite.name for suite in suites if suite.left_out]
    if without and not any(suite.predictions for suite in suites):
        raise UsageError(
            f"model {model.name}", f"predictions about parts of sentences only, in {', '.join(without[:3])}",
            "predictions about whole sentences, (*;%condition%): this model sees both sides of a part",
            "Add regions=yes to the model's options to compare sums of its pseudo-surprisals all the same.",
        )  # fmt: skip


def _warnings(suites: Sequence[SuiteRecord], model: LanguageModel) -> Iterator[str]:
    """Say which predictions are not computed, and which suites are in no score for it."""
    if skipped := {suite.name: suite.left_out for suite in suites if suite.left_out}:
        names = sorted({name for left in skipped.values() for name in left})
        shown = ", ".join(names[:5]) + (" ..." if len(names) > 5 else "")
        yield (
            f"not computed, in {len(skipped)} of {len(suites)} suites: {shown}. They are about parts of a sentence, "
            f"and {model.name} sees both sides of them (regions=yes computes them all the same)"
        )
    if firsts := [suite.name for suite in suites if suite.first_left_out]:
        shown = ", ".join(firsts[:5]) + (" ..." if len(firsts) > 5 else "")
        yield f"{len(firsts)} of {len(suites)} suites are in no score: their first prediction is not computed ({shown})"
