"""A prediction of a suite as a measure: by how many bits does the formula hold of an item?

The value of a region is the suite's aggregate over the bits of its tokens. `*` is the whole sentence: under `sum` all its
bits, the end symbol's too; under another aggregate the sum of the region values, as SyntaxGym has it, and the end symbol.

Deliberate differences from SyntaxGym 0.8a1 (docs/differences.md gives the reasons):

1.  mean, median, range, max and min of a region without tokens are nan, and so is every margin that rests on them: the
    item is undefined and counted. There mean and median compare as False and the others abort the suite.
2.  A margin within the tolerance is a tie; ties don't hold and are counted.
3.  An unknown condition under `*` is an error, not 0.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntagm import suite
from syntagm.answers import Answers, Surprisals
from syntagm.suite import Item, Sentence
from syntagm.tasks.predictions.align import Batch, Rule, align, align_all
from syntagm.tasks.task import Judgement, Measure

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
        home = align(sentence, answer, self.rule)
        return self._values(home, self.bits(answer), len(sentence.regions))

    def all_regions(self, batch: Batch, bits: NDArray[np.float64]) -> NDArray[np.float64]:
        """The value of each region of many sentences at once, as `regions` gives it; shape (all regions,).

        nan in sentences in which a token reaches over a border and the rule is strict.

        Arguments:
            bits: of the tokens of the batch.
        """
        firsts = (batch.tokens.cumsum() - batch.tokens)[batch.tokens > 0]
        if not self.first_scored:
            bits = bits.copy()
            bits[firsts] = np.where(np.isnan(bits[firsts]), 0.0, bits[firsts])
        found = align_all(batch)
        values = self._values(found.home, bits, len(batch.low))
        if self.rule == "strict" and found.crossing.any():
            texts = np.arange(len(batch.texts))
            crossed = np.unique(texts.repeat(batch.tokens)[found.crossing])
            values[np.isin(texts.repeat(batch.regions), crossed)] = np.nan
        return values

    def _values(self, home: NDArray[np.integer], bits: NDArray[np.float64], count: int) -> NDArray[np.float64]:
        """Gather the bits of tokens by region; `home` as of `align`."""
        if self.aggregate == "sum":
            inside = home >= 0
            return np.bincount(home[inside], bits[inside], count).astype(np.float64)
        order = home.argsort(kind="stable")
        borders = home[order].searchsorted(np.arange(count + 1))
        reduce, sorted_bits = _REDUCE[self.aggregate], bits[order]
        return np.array([reduce(sorted_bits[borders[k] : borders[k + 1]]) for k in range(count)])

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


@dataclass(frozen=True, slots=True)
class Prediction(Measure):
    """One prediction, read in one way; `tolerance` in bits: a margin within it is a tie."""

    prediction: suite.Prediction
    reading: Reading = Reading()
    tolerance: float = 1e-4

    def __str__(self) -> str:
        return self.prediction.name

    def asks(self, item: Item) -> Iterable[str]:
        """The text of each condition that the formula names."""
        return (item.sentences[reference.condition].text for reference in self.prediction.formula.references())

    def judge(self, item: Item, answers: Answers) -> Judgement:
        """Value 1.0 if the margin is above the tolerance, nan if it is nan, else 0.0.

        Raises:
            AlignmentError: a token reaches over a border and the rule is strict.
        """

        def value(region: str, condition: str) -> float:
            sentence = item.sentences[condition]
            return self.reading.region(sentence, answers[sentence.text], region)

        margin = float(self.prediction.formula.margin(value))
        holds = np.nan if np.isnan(margin) else float(margin > self.tolerance)
        return Judgement(holds, sum(len(answers[text].bits) for text in set(self.asks(item))), margin)
