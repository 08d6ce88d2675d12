"""Predictions of suites as measures: the margin in bits by which a formula holds for an item.

Deliberate differences from SyntaxGym 0.8a1 (docs/reference/differences.md gives the reasons):

1.  mean, median, range, max and min of a region without tokens are nan, and so is every margin computed from them. The
    item is undefined and counted. In SyntaxGym, mean and median compare as False, and the others abort the suite.
2.  A margin within the tolerance is a tie. A tie counts as a failure, and ties are reported.
3.  An unknown condition under `*` is an error. In SyntaxGym it counts as 0.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from syntagm.evaluation.conventions.convention import Convention, Judge
from syntagm.evaluation.measure import Judgement, Measure
from syntagm.evaluation.reading import Reading
from syntagm.evaluation.result import Kind
from syntagm.models import Answers
from syntagm.suites import Item, Prediction, compared


@dataclass(frozen=True, slots=True)
class PredictionMeasure(Measure):
    """A prediction as a measure."""

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
        """Return the verdict: 1.0 if the margin is above the tolerance, nan if the margin is nan, else 0.0."""

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
