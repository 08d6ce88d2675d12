"""A prediction of a suite as a measure: by how many bits does the formula hold of an item?

Deliberate differences from SyntaxGym 0.8a1 (docs/reference/differences.md gives the reasons):

1.  mean, median, range, max and min of a region without tokens are nan, and so is every margin that rests on them: the
    item is undefined and counted. There mean and median compare as False and the others abort the suite.
2.  A margin within the tolerance is a tie; ties don't hold and are counted.
3.  An unknown condition under `*` is an error, not 0.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from syntagm import suite
from syntagm.answers import Answers
from syntagm.result import Kind
from syntagm.suite import Item
from syntagm.tasks.measure import Judgement, Measure
from syntagm.tasks.reading import Reading


@dataclass(frozen=True, slots=True)
class Prediction(Measure):
    """One prediction; `tolerance` in bits: a margin within it is a tie."""

    kind: ClassVar[Kind] = Kind.VERDICT

    prediction: suite.Prediction
    tolerance: float = 1e-4

    def __str__(self) -> str:
        return self.prediction.name

    def asks(self, item: Item) -> Iterable[str]:
        """The text of each condition that the formula names."""
        return (item.sentences[reference.condition].text for reference in self.prediction.formula.references())

    def judge(self, item: Item, answers: Answers, reading: Reading) -> Judgement:
        """Value 1.0 if the margin is above the tolerance, nan if it is nan, else 0.0.

        Raises:
            AlignmentError: a token reaches over a border and the rule is strict.
        """

        def value(region: str, condition: str) -> float:
            sentence = item.sentences[condition]
            return reading.region(sentence, answers[sentence.text], region)

        margin = float(self.prediction.formula.margin(value))
        holds = np.nan if np.isnan(margin) else float(margin > self.tolerance)
        return Judgement(holds, sum(len(answers[text].bits) for text in set(self.asks(item))), margin)
