"""The task `predictions`: formulas over the surprisals of regions, as suites declare them."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from syntagm.core import InputError, Shape, UsageError
from syntagm.evaluation import items
from syntagm.evaluation.alignment import RULES, Reading, Rule
from syntagm.evaluation.conventions import convention as conventions
from syntagm.evaluation.conventions.convention import DEFAULT, Convention, Judge
from syntagm.evaluation.items import Slice, slices
from syntagm.evaluation.measure import Judgement, Measure
from syntagm.evaluation.result import Kind
from syntagm.evaluation.task import Judged, Options, Plan, Schema, SuiteRecord, Task, Unit, suite_record
from syntagm.models import Answers, Described, Fill, LanguageModel, Surprisals
from syntagm.suites import SCORED, Item, Prediction, Suite, compared

# Deliberate differences from SyntaxGym 0.8a1 (docs/reference/differences.md gives the reasons):
#
# 1.  mean, median, range, max and min of a region without tokens are nan, and so is every margin computed from them. The
#     item is undefined and counted. In SyntaxGym, mean and median compare as False, and the others abort the suite.
# 2.  A margin within the tolerance is a tie. A tie counts as a failure unless the convention says otherwise;
#     ties are reported.
# 3.  An unknown condition under `*` is an error. In SyntaxGym it counts as 0.


@dataclass(frozen=True, slots=True)
class PredictionMeasure(Measure):
    # A tie may be half a hit; the record of a run has the narrower kind (`Predictions.kind`).
    kind: ClassVar[Kind] = Kind.SHARE

    prediction: Prediction  # the name and the formula
    tolerance: float = 1e-4  # margins within it are ties, in bits
    # The number of a sentence that is compared, if it is not the sum of bits. It applies to formulas that compare two
    # whole sentences, and the margin of each tie is then exactly 0.
    convention: Convention | None = None

    def __str__(self) -> str:
        return self.prediction.name

    def asks(self, item: Item) -> Iterable[str]:
        """Return the text of each condition that the formula names."""
        return (item.sentences[reference.condition].text for reference in self.prediction.formula.references())

    def judge(self, item: Item, answers: Answers, reading: Reading) -> Judgement:
        """Return the value of the margin: 1.0, 0.0 or nan; that of a tie is 0.0, or what the convention says."""
        tokens = sum(len(answers[text].bits) for text in set(self.asks(item)))
        if self.convention and (pair := compared(self.prediction.formula)):
            good, bad = ((text, answers[text]) for text in (item.sentences[condition].text for condition in pair))
            judge = Judge(self.tolerance, reading.first_scored)
            [(holds, margin)] = judge.margins(good, bad, [self.convention])
            return Judgement(holds, tokens, margin)

        def value(region: str, condition: str) -> float:
            sentence = item.sentences[condition]
            return reading.region(sentence, answers[sentence.text], region)

        margin = float(self.prediction.formula.margin(value))
        holds = np.nan if np.isnan(margin) else float(margin > self.tolerance)
        if self.convention and abs(margin) <= self.tolerance:
            margin = 0.0
        return Judgement(holds, tokens, margin)


@dataclass(frozen=True, slots=True)
class Predictions(Task[Slice]):
    """Score every sentence and judge every item by the predictions of its suite."""

    name: ClassVar[str] = "predictions"
    needs: ClassVar[Literal["score", "fill"]] = "score"
    portion: ClassVar[int] = items.PORTION
    conjoins: ClassVar[bool] = True
    recorded: ClassVar[Mapping[str, Shape]] = {
        "options": {"align": frozenset(RULES), "tolerance": float, "convention?": str},
        "scored?": {str: str},
    }

    align: Rule = "strict"  # the rule that assigns tokens to regions; see `syntagm.evaluation.alignment`
    # The number of a sentence that is compared, where predictions compare two whole sentences: `bits`, the name of
    # another convention, or `published`, that of the authors of each suite.
    convention: str = DEFAULT

    def __post_init__(self) -> None:
        if self.convention != conventions.PUBLISHED:
            _refuse_unigrams(self.convention, Convention.parse(self.convention, conventions.PUBLISHED))

    def options(self, model: LanguageModel, tolerance: float, recorded: Options) -> dict[str, Any]:
        """Return the alignment rule, the tolerance, and the convention if it is not the default, or is recorded."""
        convention = conventions.canonical(self.convention)
        # A run that began under a convention is not resumed under the default one.
        named = {"convention": convention} if convention != DEFAULT or "convention" in recorded else {}
        return {"align": self.align, "tolerance": tolerance, **named}

    def check(self, suite: Suite) -> None:
        """Refuse a suite without predictions, and one to which the convention can't be applied."""
        refuse_no_predictions(suite)
        self._convention(suite)

    def _convention(self, suite: Suite) -> Convention | None:
        """Return the convention of a suite; None if all of the run are compared by bits."""
        if conventions.canonical(self.convention) == DEFAULT:
            return None
        formulas = [prediction.formula for prediction in suite.predictions]
        found = conventions.of_suite(self.convention, suite.name, suite.tags.get(SCORED, ""), formulas)
        _refuse_unigrams(f"{self.convention}, suite {suite.name}", found)
        return found

    def refuse_unasked(self, suites: Iterable[Suite], model: Described) -> None:
        """Refuse suites whose predictions are all skipped for the model."""
        skipped: list[str] = []
        for suite in suites:
            self.check(suite)
            if len(skipped_predictions(suite, model)) < len(suite.predictions):
                return
            skipped.append(suite.name)
        _refuse_nothing_left(skipped, model)

    def plan(self, suites: Iterable[Suite], model: LanguageModel, options: Options) -> Plan:
        """Cut each suite into slices, and skip predictions that don't apply to the model."""
        records: list[SuiteRecord] = []
        units: list[Unit] = []
        published: dict[str, str] = {}
        by_bits: dict[str, list[str]] = {}
        for suite in suites:
            self.check(suite)
            skipped = skipped_predictions(suite, model)
            # Results of a unit also depend on which predictions are computed; the model's fingerprint does not tell.
            convention = self._convention(suite)
            identity = json.dumps(
                [
                    model.fingerprint,
                    options,
                    *([skipped] if skipped else []),
                    *([str(convention)] if convention else []),
                ]
            )
            if scored := suite.tags.get(SCORED):
                published[suite.name] = scored
            if convention and (other := _uncompared(suite, skipped)):
                by_bits[suite.name] = other
            digest, suite_units = slices(suite, identity)
            formulas = {
                prediction.name: prediction.formula.text
                for prediction in suite.predictions
                if prediction.name not in skipped
            }
            records.append(suite_record(suite, digest, formulas, suite_units, skipped))
            units += suite_units
        if not any(record.predictions for record in records):
            _refuse_nothing_left([record.name for record in records if record.left_out], model)
        warnings = [*_warnings(records, model), *warnings_of_convention(by_bits, len(records), self.convention)]
        return Plan(tuple(records), tuple(units), {"scored": published} if published else {}, warnings=tuple(warnings))

    def contents(
        self, suite: Suite, units: Sequence[Unit], plan: Plan, model: LanguageModel, options: Options
    ) -> Iterator[tuple[Unit, Slice]]:
        skipped, convention = skipped_predictions(suite, model), self._convention(suite)
        measures = [
            PredictionMeasure(prediction, options["tolerance"], convention)
            for prediction in suite.predictions
            if prediction.name not in skipped
        ]
        reading = Reading(suite.aggregate, options["align"], model.bos is not None)
        return items.slices_of(suite, units, model.name, measures, reading)

    def ask(self, content: Slice) -> list[str]:
        return items.texts(content)

    def judge(self, content: Slice, answers: Iterator[Surprisals] | Iterator[Fill]) -> Judged:
        return items.judge(content, answers)  # type: ignore[arg-type]  # `ask` returned texts

    @classmethod
    def tables(cls, options: Options) -> Mapping[str, Schema]:
        return items.TABLES

    @classmethod
    def signature_parts(cls, options: Options) -> tuple[str, ...]:
        return (f"align:{options.get('align', 'strict')}",)

    @classmethod
    def kind(cls, measure: str, options: Options) -> Kind:
        """Return `VERDICT`, as a prediction holds or fails; `SHARE` under a convention by which a tie is half a hit."""
        return conventions.kind_of(str(options.get("convention", DEFAULT)))


def skipped_predictions(suite: Suite, model: Described) -> tuple[str, ...]:
    # For a bidirectional model, predictions about parts of a sentence are skipped. The bits of a part, given the
    # context on both sides, are not the surprisal of a left-to-right reader. The model's option `regions=yes` computes
    # them nevertheless, and is then part of every signature.
    if model.sees != "both" or model.settings.get("regions") == "yes":
        return ()
    return tuple(
        prediction.name
        for prediction in suite.predictions
        if any(reference.region != "*" for reference in prediction.formula.references())
    )


def _uncompared(suite: Suite, skipped: Sequence[str]) -> list[str]:
    """Return the predictions of a suite to which no convention applies, because they don't compare two whole sentences."""
    kept = (prediction for prediction in suite.predictions if prediction.name not in skipped)
    return [prediction.name for prediction in kept if not compared(prediction.formula)]


def _refuse_unigrams(asked: str, convention: Convention) -> None:
    if convention.unigrams:
        raise UsageError(
            f"--convention {asked}", f"{convention}, which needs a unigram model", "a convention of surprisals alone",
            "Run without it; then `syntagm table conventions RUN unigrams=FILE` has this number, too.",
        )  # fmt: skip


def refuse_no_predictions(suite: Suite) -> None:
    if suite.predictions:
        return
    condition, sentence = next(iter(suite.items[0].sentences.items()))
    region = next((region.name for region in sentence.regions), "*")
    raise InputError(
        f"suite {suite.name}", "no predictions", "at least one, or nothing is tested",
        f"Add one to the file, or compute a measure: --measure 'surprisal(condition={condition}, region={region})'.",
    )  # fmt: skip


def _refuse_nothing_left(skipped: Sequence[str], model: Described) -> None:
    """Raise UsageError if there are suites whose predictions are all skipped."""
    if skipped:
        raise UsageError(
            f"model {model.name}", f"predictions about parts of sentences only, in {', '.join(skipped[:3])}",
            "predictions about whole sentences, (*;%condition%), because this model sees both sides of a part",
            "Add regions=yes to the model's options to compare sums of its pseudo-surprisals nevertheless.",
        )  # fmt: skip


def _warnings(suites: Sequence[SuiteRecord], model: LanguageModel) -> Iterator[str]:
    """Yield warnings about skipped predictions, and about suites that all scores exclude for this reason."""
    if skipped := {suite.name: suite.left_out for suite in suites if suite.left_out}:
        names = sorted({name for left in skipped.values() for name in left})
        shown = ", ".join(names[:5]) + (" ..." if len(names) > 5 else "")
        yield (
            f"skipped in {len(skipped)} of {len(suites)} suites: {shown}. These predictions are about parts of a sentence, "
            f"and {model.name} sees both sides of a part (regions=yes computes them nevertheless)"
        )
    if firsts := [suite.name for suite in suites if suite.first_left_out]:
        shown = ", ".join(firsts[:5]) + (" ..." if len(firsts) > 5 else "")
        yield f"no score includes {len(firsts)} of {len(suites)} suites: their first prediction is skipped ({shown})"


def warnings_of_convention(by_bits: Mapping[str, Sequence[str]], suites: int, convention: str) -> Iterator[str]:
    """Yield a warning about predictions that the convention doesn't change."""
    if by_bits:
        names = sorted({name for left in by_bits.values() for name in left})
        shown = ", ".join(names[:5]) + (" ..." if len(names) > 5 else "")
        yield (
            f"not under the convention {convention} in {len(by_bits)} of {suites} suites: {shown}. These predictions don't "
            "compare two whole sentences, and are judged in bits"
        )
