"""Judge items in memory: the task `predictions` as the engine computes it, without a run directory."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from syntagm.core import Progress
from syntagm.evaluation import Predictions, Result, Rule
from syntagm.models import Asking, LanguageModel
from syntagm.runs.engine import Cache, compute
from syntagm.suites import Suite


@dataclass(frozen=True)
class Evaluation:
    results: list[Result]
    undefined: Counter[str]
    cached: int
    bits: Mapping[str, list[float]]


class Hearing(Progress):
    def __init__(self, hear: Callable[[int], None]) -> None:
        self.hear = hear

    def answered(self, suite: str, questions: int) -> None:
        if questions:
            self.hear(questions)


def evaluate(
    suite: Suite,
    model: LanguageModel,
    rule: Rule = "strict",
    tolerance: float = 1e-4,
    cache: Cache | None = None,
    hear: Callable[[int], None] | None = None,
) -> Evaluation:
    task, options = Predictions(rule), {"align": rule, "tolerance": tolerance}
    plan = task.plan([suite], model, options)
    [(unit, content)] = task.contents(suite, plan.units, plan, model, options)
    judged, cached = compute(task, Asking(model), unit, content, cache, Hearing(hear) if hear else Progress())
    results = [Result(**row) for row in judged.tables["results.parquet"].iter_rows(named=True)]
    sentences = judged.tables["parquet"].select("text", "bits").iter_rows()
    return Evaluation(results, judged.undefined, cached, dict(sentences))
