"""The computation of region values from the bits of tokens.

The value of a region is the suite's aggregate over the bits of its tokens. `*` is the whole sentence. Under `sum` its
value is the sum over all tokens, including the end-of-text symbol. Under another aggregate it is the sum of the region
values, as in SyntaxGym, plus the bits of the end-of-text symbol. A sentence without regions is one region.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from syntagm.evaluation.align import Batch, Rule, align, align_all
from syntagm.models import Surprisals
from syntagm.suites import Aggregate, Sentence

_REDUCE: dict[str, Callable[[NDArray[np.float64]], float]] = {
    "sum": lambda bits: float(bits.sum()),
    "mean": lambda bits: float(bits.mean()) if len(bits) else np.nan,
    "median": lambda bits: float(np.median(bits)) if len(bits) else np.nan,
    "range": lambda bits: float(np.ptp(bits)) if len(bits) else np.nan,
    "max": lambda bits: float(bits.max()) if len(bits) else np.nan,
    "min": lambda bits: float(bits.min()) if len(bits) else np.nan,
}


Reduced: TypeAlias = Literal["entropy", "rank"]
Of: TypeAlias = Literal["first", "mean", "max"]


@dataclass(frozen=True, slots=True)
class Reading:
    """The rules that turn the bits of tokens into the values that formulas compare.

    Arguments:
        aggregate: the function that turns the bits of a region's tokens into its value.
        rule: the rule that assigns tokens to regions; see `align`.
        first_scored: False if the model has no start-of-text symbol. The first token's bits are then nan. They count as 0 in
            sums; under other aggregates, the token is left out of a region that has others.
    """

    aggregate: Aggregate = "sum"
    rule: Rule = "strict"
    first_scored: bool = True

    def bits(self, answer: Surprisals) -> NDArray[np.float64]:
        """Return the bits that each token adds to sums. Shape (tokens,)."""
        if self.first_scored or not len(answer.bits) or not np.isnan(answer.bits[0]):
            return answer.bits
        bits = answer.bits.copy()
        bits[0] = 0.0
        return bits

    def regions(self, sentence: Sentence, answer: Surprisals) -> NDArray[np.float64]:
        """Return the value of each region in bits. Shape (regions,)."""
        home = align(sentence, answer, self.rule)
        bits = self.bits(answer)
        unscored = np.arange(int(bits is not answer.bits))
        return self._values(home, bits, len(sentence.regions), unscored)

    def all_regions(self, batch: Batch, bits: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the value of each region of many sentences at once. Shape (all regions,)."""
        # The values are those of `regions`. Under the strict rule, all values of a sentence are nan if one of its
        # tokens crosses a region border.
        unscored, bits = self._unscored(batch, bits), self._scored(batch, bits)
        alignment = align_all(batch)
        values = self._values(alignment.home, bits, len(batch.low), unscored)
        if self.rule == "strict" and alignment.crossing.any():
            texts = np.arange(len(batch.texts))
            crossed = np.unique(texts.repeat(batch.tokens)[alignment.crossing])
            values[np.isin(texts.repeat(batch.regions), crossed)] = np.nan
        return values

    def all_sentences(self, batch: Batch, bits: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the value of each whole sentence, which is `*` in formulas. Shape (texts,)."""
        # The arguments are the same as for `all_regions`. The values are those of `region`, or nan where `region` would
        # raise an error.
        texts = np.arange(len(batch.texts))
        if self.aggregate == "sum":
            return _sums(texts.repeat(batch.tokens), self._scored(batch, bits), len(texts))
        values = _sums(texts.repeat(batch.regions), self.all_regions(batch, bits), len(texts))
        unscored, bits = self._unscored(batch, bits), self._scored(batch, bits)
        borders = np.concatenate([[0], batch.tokens.cumsum()])
        lacking = np.isin(borders[:-1], unscored)
        for text in np.flatnonzero(batch.regions == 0).tolist():
            own = slice(borders[text], borders[text + 1])
            values[text] = self._undivided(bits[own], batch.starts[own], batch.texts[text], lacking[text])
        lasts = (batch.tokens.cumsum() - 1)[batch.tokens > 0]
        ends = np.array([len(text) for text in batch.texts])[batch.tokens > 0]
        values[batch.tokens > 0] += np.where(batch.starts[lasts] == ends, bits[lasts], 0.0)
        return values

    def _undivided(self, bits: NDArray[np.float64], starts: NDArray[np.integer], text: str, unscored: bool) -> float:
        """Return the value of a sentence without regions, which is one region itself, without the end symbol."""
        own = bits[starts < len(text)]
        return float(_REDUCE[self.aggregate](own[1:] if unscored and len(own) > 1 else own)) if text else 0.0

    def _unscored(self, batch: Batch, bits: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the places of first tokens without a surprisal, under a model without a start-of-text symbol."""
        firsts = (batch.tokens.cumsum() - batch.tokens)[batch.tokens > 0]
        return firsts[np.isnan(bits[firsts])] if not self.first_scored else firsts[:0]

    def _scored(self, batch: Batch, bits: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the bits that tokens add to sums: 0 for an unscored first token."""
        unscored = self._unscored(batch, bits)
        if len(unscored):
            bits = bits.copy()
            bits[unscored] = 0.0
        return bits

    def _values(
        self, home: NDArray[np.integer], bits: NDArray[np.float64], count: int, unscored: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Aggregate the bits of tokens by region."""
        if self.aggregate == "sum":
            inside = home >= 0
            return _sums(home[inside], bits[inside], count)
        own = home[unscored]
        several = (own >= 0) & (np.bincount(home[home >= 0], minlength=max(count, 1))[own] > 1)
        home = home.copy()
        home[unscored[several]] = -1
        order = home.argsort(kind="stable")
        borders = home[order].searchsorted(np.arange(count + 1))
        reduce, sorted_bits = _REDUCE[self.aggregate], bits[order]
        return np.array([reduce(sorted_bits[borders[k] : borders[k + 1]]) for k in range(count)])

    def reduced(self, sentence: Sentence, answer: Surprisals, name: str, reduction: Reduced, of: Of = "first") -> float:
        """Return the entropy or the rank of a region, or of the whole sentence if `name` is `*`."""
        assert answer.reductions is not None, "the measure must ask for reductions"
        values: NDArray[np.float64] = getattr(answer.reductions, reduction)
        values = values[self.tokens(sentence, answer, name)]
        if of == "first":
            return float(values[0]) if len(values) else np.nan
        if not self.first_scored and np.isnan(values[:1]).any() and np.isnan(answer.bits[0]):
            values = values[1:]
        return _REDUCE[of](values) if len(values) else np.nan

    def tokens(self, sentence: Sentence, answer: Surprisals, name: str) -> NDArray[np.intp]:
        """Return the places of the tokens of a region, or of all tokens if `name` is `*`."""
        if name == "*":
            return np.arange(len(answer.starts))
        places = [place for place, region in enumerate(sentence.regions) if region.name == name]
        if not places:
            raise KeyError(name)
        return np.flatnonzero(align(sentence, answer, self.rule) == places[0])

    def region(self, sentence: Sentence, answer: Surprisals, name: str) -> float:
        """Return the value of a region, or of the whole sentence if `name` is `*`."""
        if name == "*" and self.aggregate == "sum":
            return float(self.bits(answer).sum())
        values = self.regions(sentence, answer)
        if name == "*":
            has_eos = len(answer.starts) > 0 and answer.starts[-1] == len(sentence.text)
            bits = self.bits(answer)
            unscored = bits is not answer.bits
            undivided = 0.0 if sentence.regions else self._undivided(bits, answer.starts, sentence.text, unscored)
            return float(values.sum() + undivided + (answer.bits[-1] if has_eos else 0.0))
        for region, value in zip(sentence.regions, values, strict=True):
            if region.name == name:
                return float(value)
        raise KeyError(name)


def _sums(places: NDArray[np.integer], values: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return the sum of the values at each place. Shape (count,)."""
    sums: NDArray[np.float64] = np.bincount(places, values, count).astype(np.float64)
    return sums
