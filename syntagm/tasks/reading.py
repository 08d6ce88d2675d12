"""How answers are read: what turns the bits of tokens into the values of regions.

The value of a region is the suite's aggregate over the bits of its tokens. `*` is the whole sentence: under `sum` all its
bits, those of the end symbol too; under another aggregate the sum of the region values, as in SyntaxGym, and the end symbol.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntagm import suite
from syntagm.answers import Surprisals
from syntagm.suite import Sentence
from syntagm.tasks.align import Rule, align

_REDUCE: dict[str, Callable[[NDArray[np.float64]], float]] = {
    "sum": lambda bits: float(bits.sum()),
    "mean": lambda bits: float(bits.mean()) if len(bits) else np.nan,
    "median": lambda bits: float(np.median(bits)) if len(bits) else np.nan,
    "range": lambda bits: float(np.ptp(bits)) if len(bits) else np.nan,
    "max": lambda bits: float(bits.max()) if len(bits) else np.nan,
    "min": lambda bits: float(bits.min()) if len(bits) else np.nan,
}


@dataclass(frozen=True, slots=True)
class Reading:
    """How answers are read: what turns tokens into the numbers that formulas compare.

    Arguments:
        aggregate: how the tokens of a region make its value.
        rule: which token belongs to which region, see `align`.
        first_scored: False if nothing stands before a first token; its nan then counts as 0 bits.
    """

    aggregate: suite.Aggregate = "sum"
    rule: Rule = "strict"
    first_scored: bool = True

    def bits(self, answer: Surprisals) -> NDArray[np.float64]:
        """The bits of each token as they enter sums. Shape (tokens,)."""
        if self.first_scored or not len(answer.bits) or not np.isnan(answer.bits[0]):
            return answer.bits
        bits = answer.bits.copy()
        bits[0] = 0.0
        return bits

    def regions(self, sentence: Sentence, answer: Surprisals) -> NDArray[np.float64]:
        """The value of each region in bits. Shape (regions,).

        Raises:
            AlignmentError: a token reaches over a border and the rule is strict.
        """
        home, bits, count = align(sentence, answer, self.rule), self.bits(answer), len(sentence.regions)
        if self.aggregate == "sum":
            inside = home >= 0
            return np.bincount(home[inside], bits[inside], count).astype(np.float64)
        reduce = _REDUCE[self.aggregate]
        return np.array([reduce(bits[home == index]) for index in range(count)])

    def region(self, sentence: Sentence, answer: Surprisals, name: str) -> float:
        """The value of one region, or of the whole sentence if `name` is `*`; KeyError if there is none."""
        if name == "*" and self.aggregate == "sum":
            return float(self.bits(answer).sum())
        values = self.regions(sentence, answer)
        if name == "*":
            ended = len(answer.starts) > 0 and answer.starts[-1] == len(sentence.text)
            return float(values.sum() + (answer.bits[-1] if ended else 0.0))
        for region, value in zip(sentence.regions, values, strict=True):
            if region.name == name:
                return float(value)
        raise KeyError(name)
