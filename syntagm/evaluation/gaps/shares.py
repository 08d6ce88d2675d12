"""Equal weight, model weight and probability mass of one context at any cut-offs (Newman et al. 2021, section 3).

l+ is the form of row l that is correct in the context; l- is a form that is not. Without a cut-off, over all eligible
rows,

    EW = mean of [P(l+) > P(l-)]        MW = sum of P(l+) / sum of (P(l+) + P(l-))        covered = sum of (P(l+) + P(l-))

At a cut-off q, the entries of the vocabulary are added up from the likeliest (top) or the least likely (bottom). The
entry at which the sum of probabilities reaches q straddles the border: `pre` is the set of entries before it, and
`post` is `pre` plus that entry. S stands for either set:

    top       EW_S: rows with l+ or l- in S; MW_S: each form that is in S; covered_S: all forms of the rows counted in EW_S
    bottom    rows with both l+ and l- in S, for all three

    value = (1 - a) value_pre + a value_post,    a = (q - sum of pre) / (sum of post - sum of pre)

EW_S without rows and MW_S without mass are undefined. If the value for pre or post is undefined, the other is used; if
both are undefined, the context has no value at q, and covered_S is 0. Entries of equal probability straddle the border
together. With more than two labels, each other form of a row makes a pair with l+. EW counts pairs; MW and covered
count each form once. `covered` is the probability mass of the forms.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntagm.evaluation.gaps.candidates import Candidates
from syntagm.evaluation.gaps.nucleus import Cut, Eligible
from syntagm.models import Fill

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
    """Compute the values of one context."""
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
