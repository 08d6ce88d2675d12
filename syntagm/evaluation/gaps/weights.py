"""The measures of a gap (Newman et al. 2021): TSE, equal weight (EW), model weight (MW); candidates and cut-offs.

EW is the proportion of a word list's pairs in which the form that fits the context is more likely: is the model's
behaviour systematic, that is, independent of the word? MW is the share of a word list's probability mass that goes to
the forms that fit the context: is the model's likely behaviour correct?
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from syntagm.core import UsageError
from syntagm.evaluation.gaps.context import spelled
from syntagm.evaluation.measure import Judgement
from syntagm.models import Fill
from syntagm.suites import WordList

Eligible = Literal["all", "single-token"]
ELIGIBLE: tuple[Eligible, ...] = ("all", "single-token")
# The cut-offs of Newman et al. 2021. 1 would be no cut-off.
PUBLISHED_TOP = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97)
PUBLISHED_BOTTOM = (0.5, 0.1, 0.01, 0.001, 1e-4, 1e-5, 1e-6)
_MEASURE = re.compile(r"(?P<name>[a-z_]+)(\((?P<end>top|bottom)=(?P<share>[-+.0-9e]+)\))?")


@dataclass(frozen=True, slots=True)
class Cut:
    """A nucleus (top-p) cut-off, or its counterpart at the bottom of the distribution.

    Arguments:
        top: the probability mass of the likeliest entries; 1 is the whole distribution.
        bottom: the probability mass of the least likely entries; 1 is the whole distribution.

    Raises:
        UsageError: a probability mass is not above 0 and at most 1, or both ends have a cut-off.

    >>> str(Cut()), str(Cut(top=0.9)), str(Cut(bottom=1e-5))
    ('', '(top=0.9)', '(bottom=1e-05)')
    """

    top: float = 1.0
    bottom: float = 1.0

    def __post_init__(self) -> None:
        for name, share in (("top", self.top), ("bottom", self.bottom)):
            if not (math.isfinite(share) and 0 < share <= 1):
                raise UsageError(f"{name} cut-off", repr(share), "a share above 0 and at most 1")
        if self.top < 1 and self.bottom < 1:
            raise UsageError("cut-off", f"top={self.top} and bottom={self.bottom}", "only one of the two")

    @property
    def whole(self) -> bool:
        return self.top == self.bottom == 1

    def __str__(self) -> str:
        if self.whole:
            return ""
        return f"(top={self.top!r})" if self.top < 1 else f"(bottom={self.bottom!r})"


def parse_cut(text: str, name: str) -> Cut:
    """Parse the cut-off from a measure's canonical name.

    Raises:
        UsageError: the measure is not `name`, or its parameter is invalid.

    >>> parse_cut("equal_weight(top=0.9)", "equal_weight")
    Cut(top=0.9, bottom=1.0)
    """
    match = _MEASURE.fullmatch(text)
    if not match or match["name"] != name:
        raise UsageError("measure", repr(text), f"{name}, {name}(top=SHARE) or {name}(bottom=SHARE)")
    return Cut(**{match["end"]: _share(match["share"])}) if match["end"] else Cut()


def canonical_cuts(top: tuple[float, ...] = (), bottom: tuple[float, ...] = ()) -> tuple[Cut, ...]:
    """Return the distinct cut-offs in canonical order: no cut-off, `top` in ascending order, `bottom` in descending order.

    >>> [str(cut) for cut in canonical_cuts((0.9, 0.5, 0.9), (0.01, 0.1))]
    ['', '(top=0.5)', '(top=0.9)', '(bottom=0.1)', '(bottom=0.01)']
    """
    tops = sorted((Cut(top=share) for share in top), key=lambda cut: cut.top)
    bottoms = sorted((Cut(bottom=share) for share in bottom), key=lambda cut: -cut.bottom)
    return tuple(dict.fromkeys((Cut(), *tops, *bottoms)))


def _share(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError("cut-off", repr(text), "a number") from None


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The candidate words of a gap: the forms of a word list, followed by further words of the sentences."""

    words: tuple[str, ...]  # the distinct words
    places: dict[str, int]  # word -> its position in `words`
    forms: NDArray[np.intp]  # the position of each form of the list. Shape (rows, labels).
    labels: tuple[str, ...]  # the labels of the list

    def eligible(self, fill: Fill, which: Eligible) -> NDArray[np.bool_]:
        """Return whether each row of the list counts. Shape (rows,)."""
        # A row counts if each of its forms is in the vocabulary and has an answer. With `which="single-token"`, each
        # form must also be a single token.
        result: NDArray[np.bool_] = np.all(usable(fill, which)[self.forms], axis=1)
        return result

    def sides(self, label: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the positions of the forms with a label, shape (rows,), and of the other forms, shape (rows, labels - 1)."""
        column = self.labels.index(label)
        return self.forms[:, column], np.delete(self.forms, column, axis=1)

    def whole_rows(self, single: NDArray[np.bool_], sentence_words: Sequence[str]) -> NDArray[np.intp]:
        """Return the positions of the words to query if only single tokens count."""
        # These are the single-token words among `sentence_words`, and the forms of the rows whose forms are all single
        # tokens.
        queried = np.zeros(len(self.words), bool)
        queried[self.forms[np.all(single[self.forms], axis=1)]] = True
        queried[[self.places[word] for word in sentence_words]] = True
        return np.flatnonzero(queried & single)


def spread(fill: Fill, places: NDArray[np.intp], size: int) -> Fill:
    """Extend the answer for some words to all words. The other words get nan and count as out of vocabulary."""
    bits, above, below = np.full((3, size), np.nan)
    in_vocabulary = np.zeros(size, bool)
    bits[places], above[places], below[places], in_vocabulary[places] = (
        fill.bits,
        fill.above,
        fill.below,
        fill.in_vocabulary,
    )
    return Fill(bits, above, below, in_vocabulary, fill.best)


def candidates(words: WordList, others: Sequence[str] = (), capital: bool = False) -> Candidates:
    """Return the forms of a list in order, followed by further words that are not among them."""
    forms = [[spelled(form, capital) for form in row.forms] for row in words.rows]
    places: dict[str, int] = {}
    for word in (*(form for row in forms for form in row), *others):
        places.setdefault(word, len(places))
    return Candidates(
        tuple(places), places, np.array([[places[form] for form in row] for row in forms], np.intp), words.labels
    )


def usable(fill: Fill, which: Eligible) -> NDArray[np.bool_]:
    """Return whether the answer gives a usable probability for each word. Shape (words,)."""
    answered = fill.in_vocabulary & ~np.isnan(fill.bits)
    result: NDArray[np.bool_] = answered & single(fill) if which == "single-token" else answered
    return result


def single(fill: Fill) -> NDArray[np.bool_]:
    """Return whether each word is a single token, so that its rank in the vocabulary is defined. Shape (words,)."""
    result: NDArray[Any] = ~np.isnan(fill.above) & ~np.isnan(fill.below)
    return result


# l+ is the form of row l that is correct in the context; l- is a form that is not. Without a cut-off, over all eligible
# rows,
#
#     EW = mean of [P(l+) > P(l-)]        MW = sum of P(l+) / sum of (P(l+) + P(l-))        covered = sum of (P(l+) + P(l-))
#
# At a cut-off q, the entries of the vocabulary are added up from the likeliest (top) or the least likely (bottom). The
# entry at which the sum of probabilities reaches q straddles the border: `pre` is the set of entries before it, and
# `post` is `pre` plus that entry. S stands for either set:
#
#     top       EW_S: rows with l+ or l- in S; MW_S: each form that is in S; covered_S: all forms of the rows counted in EW_S
#     bottom    rows with both l+ and l- in S, for all three
#
#     value = (1 - a) value_pre + a value_post,    a = (q - sum of pre) / (sum of post - sum of pre)
#
# EW_S without rows and MW_S without mass are undefined. If the value for pre or post is undefined, the other is used;
# if both are undefined, the context has no value at q, and covered_S is 0. Entries of equal probability straddle the
# border together. With more than two labels, each other form of a row makes a pair with l+. EW counts pairs; MW and
# covered count each form once. `covered` is the probability mass of the forms.

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """The values of one context, by cut-off and by row."""

    equal_weight: Numbers  # `equal_weight`, `model_weight`: 0 to 1; nan where undefined. Shapes (cuts,).
    model_weight: Numbers
    covered: Numbers  # the probability mass of the rows counted at each cut-off. Shape (cuts,).
    eligible: NDArray[np.bool_]  # whether each row counts if there is no cut-off. Shape (rows,).
    ranked: int  # the number of rows that can count at a cut-off, because all their forms are single tokens
    won: Numbers  # the share of pairs that each row wins; nan unless eligible. Shape (rows,).
    # `right`, `wrong`: the probability of the correct form and of the other forms; nan unless eligible. Shapes (rows,).
    right: Numbers
    wrong: Numbers


def shares(fill: Fill, words: Candidates, label: str, cuts: tuple[Cut, ...], which: Eligible = "all") -> Shares:
    eligible = words.eligible(fill, which)
    good, bad = words.sides(label)
    probability = np.exp2(-fill.bits)
    won = np.where(eligible, (fill.bits[good][:, None] < fill.bits[bad]).mean(axis=1), np.nan)
    right = np.where(eligible, probability[good], np.nan)
    wrong = np.where(eligible, probability[bad].sum(axis=1), np.nan)
    ranked = eligible & words.eligible(fill, "single-token")
    numbers = np.full((3, len(cuts)), np.nan)
    for end in ("top", "bottom"):
        indices = [number for number, cut in enumerate(cuts) if getattr(cut, end) < 1]
        indices.sort(key=lambda number: getattr(cuts[number], end))
        if indices:
            near, far = (fill.above, 1 - fill.below) if end == "top" else (fill.below, 1 - fill.above)
            limits = np.array([getattr(cuts[number], end) for number in indices])
            numbers[:, indices] = _cut(
                _Rows(good[ranked], bad[ranked], fill.bits, probability), near, far, limits, end == "top"
            )
    whole = [number for number, cut in enumerate(cuts) if cut.whole]
    numbers[:, whole] = np.array(_whole(won[eligible], right[eligible].sum(), wrong[eligible].sum()))[:, None]
    return Shares(numbers[0], numbers[1], numbers[2], eligible, int(ranked.sum()), won, right, wrong)


def _whole(won: Numbers, right: float, wrong: float) -> tuple[float, float, float]:
    return (
        float(won.mean()) if len(won) else np.nan,
        right / (right + wrong) if right + wrong > 0 else np.nan,
        right + wrong,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The rows that can count: the positions of their correct and other forms, and bits and probabilities by position."""

    good: NDArray[np.intp]
    bad: NDArray[np.intp]
    bits: Numbers
    probability: Numbers


def _cut(rows: _Rows, near: Numbers, far: Numbers, limits: Numbers, top: bool) -> Numbers:
    """Return equal weight, model weight and probability mass at ascending limits. Shape (3, limits)."""
    # For each word, the first limit that it reaches into, and the first limit that it is wholly inside of.
    begun, ended = np.searchsorted(limits, near, "right"), np.searchsorted(limits, far, "left")
    pre, post = (_inside(rows, first, len(limits), top) for first in (ended, begun))
    share = _straddled_fractions(rows, begun, ended, near, far, limits)
    between = (1 - share) * pre + share * post
    numbers: Numbers = np.where(np.isnan(pre), post, np.where(np.isnan(post), pre, between))
    return numbers


def _inside(rows: _Rows, first: NDArray[np.intp], limits: int, top: bool) -> Numbers:
    """Return the three values at each limit; `first` is the first limit that includes each word."""

    def sums(firsts: NDArray[np.intp], weights: Numbers | None = None) -> Numbers:
        flat = None if weights is None else weights.ravel()
        return np.bincount(firsts.ravel(), flat, limits + 1)[:-1].cumsum().astype(np.float64)

    good, bad = first[rows.good][:, None], first[rows.bad]
    # At the top a pair counts if one of its words is inside, at the bottom if both are.
    pairs = np.minimum(good, bad) if top else np.maximum(good, bad)
    right, wrong = rows.probability[rows.good][:, None], rows.probability[rows.bad]
    won = rows.bits[rows.good][:, None] < rows.bits[rows.bad]
    counted = sums(pairs.min(axis=1), right), sums(pairs, wrong)
    mass = (sums(good, right), sums(bad, wrong)) if top else counted
    with np.errstate(invalid="ignore"):
        weights = sums(pairs, won.astype(np.float64)) / sums(pairs), mass[0] / (mass[0] + mass[1])
    return np.array([*weights, counted[0] + counted[1]])


def _straddled_fractions(
    rows: _Rows, begun: NDArray[np.intp], ended: NDArray[np.intp], near: Numbers, far: Numbers, limits: Numbers
) -> Numbers:
    """Return the fraction, 0 to 1, of the straddling word that each limit includes. Shape (limits,)."""
    # The value is 1 where no word of the list straddles the limit.
    depth = np.ones(len(limits))
    places = np.concatenate([rows.good, rows.bad.ravel()])
    for place in places[begun[places] < ended[places]]:
        reached = slice(begun[place], ended[place])
        depth[reached] = (limits[reached] - near[place]) / (far[place] - near[place])
    return depth


@dataclass(frozen=True, slots=True)
class Tse:
    """[P(good) > P(bad)] in the context of an item. A margin within `tolerance` bits is a tie, which counts as a failure."""

    tolerance: float = 1e-4
    which: Eligible = "all"

    def __str__(self) -> str:
        return "tse"

    def judge(self, fill: Fill, words: Candidates, good: str, bad: str) -> Judgement:
        """Return the verdict on two words; the margin is the bad word's surprisal minus the good word's, in bits."""
        # The verdict is undefined (nan, with n = 0) if a word is not eligible. Otherwise n is 2, the number of words.
        places = [words.places[good], words.places[bad]]
        if not usable(fill, self.which)[places].all():
            return Judgement(np.nan, 0, np.nan)
        margin = float(fill.bits[places[1]] - fill.bits[places[0]])
        return Judgement(float(margin > self.tolerance), 2, margin)


@dataclass(frozen=True, slots=True)
class Weight:
    """A measure of one context over all rows of a word list."""

    name: ClassVar[str]
    top: float = 1.0  # `top`, `bottom`: cut-offs; see `Cut`
    bottom: float = 1.0

    def __post_init__(self) -> None:
        Cut(self.top, self.bottom)

    @property
    def cut(self) -> Cut:
        """The cut-off. Constructing it checks both numbers."""
        return Cut(self.top, self.bottom)

    def __str__(self) -> str:
        return f"{self.name}{self.cut}"

    def of(self, shares: Shares, cuts: tuple[Cut, ...]) -> float:
        """Return the value for one context, 0 to 1; nan if it is undefined."""
        return float(getattr(shares, self.name)[cuts.index(self.cut)])

    @classmethod
    def parse(cls, text: str) -> Self:
        cut = parse_cut(text, cls.name)
        return cls(cut.top, cut.bottom)


class EqualWeight(Weight):
    """The mean of [P(l+) > P(l-)] over rows, in one context. Equal probabilities count as wrong.

    >>> str(EqualWeight(top=0.9)), EqualWeight.parse("equal_weight")
    ('equal_weight(top=0.9)', EqualWeight(top=1.0, bottom=1.0))
    """

    __slots__ = ()
    name: ClassVar = "equal_weight"


class ModelWeight(Weight):
    """The sum of P(l+) over rows divided by the sum over all forms, in one context.

    >>> str(ModelWeight()), ModelWeight.parse("model_weight(bottom=0.01)")
    ('model_weight', ModelWeight(top=1.0, bottom=0.01))
    """

    __slots__ = ()
    name: ClassVar = "model_weight"
