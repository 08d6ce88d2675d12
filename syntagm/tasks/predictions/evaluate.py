"""The spine: items, a model and measures meet here, and nowhere else."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from syntagm.answers import Surprisals
from syntagm.errors import AlignmentError
from syntagm.models.contract import LanguageModel
from syntagm.result import Result
from syntagm.suite import Item, Suite
from syntagm.tasks.predictions.align import Rule
from syntagm.tasks.predictions.prediction import Prediction, Reading
from syntagm.tasks.task import Judgement, Measure

# Texts asked at a time: what an interrupted run has to ask again, at most.
PORTION = 2048


class Cache(Protocol):
    """Answers kept from earlier runs; see `syntagm.runs.cache`."""

    def get(self, model: LanguageModel, texts: Sequence[str]) -> dict[str, Surprisals]:
        """The stored answers to some of `texts`."""

    def put(self, model: LanguageModel, answers: Iterable[Surprisals]) -> None:
        """Store answers."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What came of some items: the answers by text, a row per item and measure, why rows are undefined, cache hits."""

    answers: Mapping[str, Surprisals]
    results: list[Result]
    undefined: Counter[str]
    cached: int


def evaluate(
    items: Sequence[Item],
    suite: Suite,
    model: LanguageModel,
    measures: Sequence[Measure],
    cache: Cache | None = None,
    done: Callable[[int], None] | None = None,
) -> Evaluation:
    """Ask the model about every sentence of `items`, each distinct text once, and judge every item by every measure.

    Arguments:
        items: some or all items of `suite`.
        done: called with the number of further texts answered; it may raise to stop.
    """
    texts = sorted({sentence.text for item in items for sentence in item.sentences.values()})
    answers: dict[str, Surprisals] = {}
    cached = 0
    # Neighbours in order share prefixes. Portions do not depend on what is cached, and each is kept as soon as it is done, so
    # that a run which goes on after a kill computes the same portions again, or none.
    for first in range(0, len(texts), PORTION):
        portion = texts[first : first + PORTION]
        found = cache.get(model, portion) if cache else {}
        cached += len(found)
        if done and found:
            done(len(found))
        missing = [text for text in portion if text not in found]
        fresh = {answer.text: answer for answer in model.score(missing, done)} if missing else {}
        if cache and fresh:
            cache.put(model, fresh.values())
        answers |= found | fresh
    undefined: Counter[str] = Counter()
    results = [_judge(item, suite, model, measure, answers, undefined) for item in items for measure in measures]
    return Evaluation(answers, results, undefined, cached)


def predictions(suite: Suite, model: LanguageModel, rule: Rule, tolerance: float) -> list[Measure]:
    """The predictions of a suite as measures, less those that are left out."""
    reading, without = Reading(suite.aggregate, rule, model.start is not None), left_out(suite, model)
    return [Prediction(one, reading, tolerance) for one in suite.predictions if one.name not in without]


def left_out(suite: Suite, model: LanguageModel) -> tuple[str, ...]:
    """The names of the predictions that are not computed for a model: those about parts of a sentence, if it sees both sides.

    The bits of a part given what stands on both sides of it are no surprisal of a reader who has come so far; whoever wants
    their sums all the same says so by the model's option `regions=yes`, and they are then named in every signature.
    """
    if model.sees != "both" or model.policies.get("regions") == "yes":
        return ()
    parts = [one for one in suite.predictions if any(found.region != "*" for found in one.formula.references())]
    return tuple(one.name for one in parts)


def tolerance(model: LanguageModel) -> float:
    """Margins within this many bits are ties: 1e-4, or the model's measured noise if that is larger."""
    return max(1e-4, model.noise)


def _judge(
    item: Item,
    suite: Suite,
    model: LanguageModel,
    measure: Measure,
    answers: Mapping[str, Surprisals],
    undefined: Counter[str],
) -> Result:
    try:
        judgement = measure.judge(item, answers)
        if np.isnan(judgement.value):
            example = (
                f"item {item.id} of {suite.name}: a text beyond the model's positions, a region without tokens, or nan"
            )
            _count(undefined, "a value is not a number", example)
    except AlignmentError as error:
        _count(undefined, "a token reaches over a region border", str(error))
        judgement = Judgement(np.nan, 0, np.nan)
    return Result(model.name, suite.name, item.id, str(measure), judgement.value, judgement.n, judgement.margin)


def _count(undefined: Counter[str], reason: str, example: str) -> None:
    """Count a reason under its first example: one is enough, and each sentence's own would be no summary."""
    known = next((one for one in undefined if one.startswith(reason)), None)
    undefined[known or f"{reason}, for example in {example}"[:400]] += 1
