"""The computation of region values from the bits of tokens.

The value of a region is the suite's aggregate over the bits of its tokens. `*` is the whole sentence. Under `sum` its
value is the sum over all tokens, including the end-of-text symbol. Under another aggregate it is the sum of the region
values, as in SyntaxGym, plus the bits of the end-of-text symbol. A sentence without regions is one region.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from syntagm.core import AlignmentError
from syntagm.models import Surprisals
from syntagm.suites import Aggregate, Sentence

# A token belongs to the region of its first character that is not white space. A token that extends beyond that region
# crosses a border, and its bits can't be divided between two regions. The rule `strict` refuses such a token and names
# it. The rule `start` assigns it to the region where it begins, like SyntaxGym's offset alignment.
#
# Deliberate differences from SyntaxGym 0.8a1 (docs/reference/differences.md gives the reasons):
#
# 1.  A token that crosses a border is refused unless `start` is chosen.
# 2.  The end-of-text symbol belongs to no region, so it is not added to the last one. It counts only in the whole
#     sentence.
# 3.  An empty first region has no effect. In SyntaxGym it shifts every later border by one character.

Rule = Literal["strict", "start"]
RULES: tuple[Rule, ...] = get_args(Rule)
Ints = NDArray[np.int64]
# Whether each character is white space. The last entry, U+3001, stands for all later characters: none is white space.
_WHITE_SPACE = np.array([chr(code).isspace() for code in range(0x3002)], bool)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Sentences in flat arrays, one after the other: their regions and the tokens of their answers."""

    texts: Sequence[str]
    regions: Ints  # `regions`, `tokens`: the numbers of regions and tokens of each text. Shapes (texts,).
    # `low`, `high`: the start and end of each region in its text, in characters; the end is exclusive. Shapes (all
    # regions,).
    low: Ints
    high: Ints
    tokens: Ints
    starts: Ints  # the start of each token in its text, in characters. Shape (all tokens,).


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """The regions of tokens, numbered through all sentences of a batch."""

    home: Ints  # the region of each token, -1 for none. Shape (all tokens,).
    crossing: NDArray[np.bool_]  # whether each token crosses a region border. Shape (all tokens,).


def align(sentence: Sentence, answer: Surprisals, rule: Rule = "strict") -> NDArray[np.int32]:
    """Return the index in `sentence.regions` of each token's region, -1 for none. Shape (tokens,).

    Raises:
        AlignmentError: under `strict`, a token crosses a region border.

    >>> from syntagm.suites import Region
    >>> sentence = Sentence("the dogs bark", (Region("subject", 0, 8), Region("verb", 9, 13)))
    >>> answer = Surprisals(sentence.text, np.array([0, 3, 8]), np.ones(3), np.ones(3, bool))
    >>> align(sentence, answer).tolist()
    [0, 0, 1]
    """
    low = np.array([region.start for region in sentence.regions], np.int64)
    high = np.array([region.end for region in sentence.regions], np.int64)
    counts = np.array([len(low)]), np.array([len(answer.starts)])
    alignment = align_all(Batch([sentence.text], counts[0], low, high, counts[1], answer.starts.astype(np.int64)))
    if rule == "strict" and alignment.crossing.any():
        raise _crossing(sentence, answer.starts, int(np.argmax(alignment.crossing)))
    return alignment.home.astype(np.int32)


def align_all(batch: Batch) -> Alignment:
    # The characters of all texts are in one array, where each text is followed by a position for its end. Regions and
    # tokens are spans of this array.
    begins = np.cumsum([0, *(len(text) + 1 for text in batch.texts)])
    ends = begins[1:] - 1
    shown, first = _visible(batch.texts, begins, ends)
    sizes = batch.high - batch.low
    owner = np.full(begins[-1], -1, np.int64)
    owner[_within(batch.low + begins[:-1].repeat(batch.regions), sizes)] = np.arange(len(sizes)).repeat(sizes)
    starts = batch.starts + begins[:-1].repeat(batch.tokens)
    # Characters of the same token get the same number. Tokens with the same start share the characters up to the next.
    token_numbers = np.zeros(begins[-1], np.int64)
    token_numbers[starts] = 1
    token_numbers[ends] = 1
    token_numbers[begins[:-1]] = 1
    token_numbers = token_numbers.cumsum()
    visible_owners, visible_tokens = owner[shown], token_numbers[shown]
    over = (visible_owners[1:] != visible_owners[:-1]) & (visible_tokens[1:] == visible_tokens[:-1])
    crossing = np.zeros(len(starts), bool)
    if over.any():
        crossing = np.isin(token_numbers[starts], visible_tokens[1:][over])
    return Alignment(owner[first[starts]], crossing)


def _visible(texts: Sequence[str], begins: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Return the visible characters and, for each character, the visible character that locates a token starting there."""
    # The position for the end of a text counts as visible. Shapes (visible characters,), (characters,).
    codes = np.frombuffer("\0".join([*texts, ""]).encode("utf-32-le", "surrogatepass"), np.uint32)
    visible = ~_WHITE_SPACE[np.minimum(codes, len(_WHITE_SPACE) - 1)]
    visible[ends] = True
    shown = visible.nonzero()[0]
    before = np.empty_like(shown)
    before[0], before[1:] = -1, shown[:-1]
    first = shown.repeat(shown - before)
    # White space at the end of a text belongs with the last visible character, if there is one.
    for number in (~visible[ends - 1]).nonzero()[0]:
        end = ends[number]
        last = before[shown.searchsorted(end)]
        if last >= begins[number]:
            first[last + 1 : end] = last
    return shown, first


def _within(low: Ints, sizes: Ints) -> Ints:
    """Return all positions in the spans, span by span."""
    places: Ints = (low - sizes.cumsum() + sizes).repeat(sizes) + np.arange(sizes.sum())
    return places


def _crossing(sentence: Sentence, starts: NDArray[np.int32], token: int) -> AlignmentError:
    text, start = sentence.text, int(starts[token])
    end = int(min((index for index in starts if index > start), default=len(text)))
    owners = {
        index: number for number, region in enumerate(sentence.regions) for index in range(region.start, region.end)
    }
    visible = [index for index in range(start, end) if not text[index].isspace()]
    border = next(index for index in visible if owners.get(index, -1) != owners.get(visible[0], -1))
    return AlignmentError(
        f"sentence {text!r}",
        f"token {text[start:end].strip()!r} crosses the region border at character {border}",
        "each token inside one region",
        "Move the border, or choose align=start to give the token to the region where it begins.",
    )


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
