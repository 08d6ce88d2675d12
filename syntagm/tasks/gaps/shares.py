"""Equal weight, model weight and covered mass of one context at any number of cut-offs (Newman et al. 2021, section 3).

l+ is the form of row l that is right in the context, l- one that is not. Without a cut-off, over all eligible rows,

    EW = mean of [P(l+) > P(l-)]        MW = sum of P(l+) / sum of (P(l+) + P(l-))        covered = sum of (P(l+) + P(l-))

At a cut-off q the entries of the vocabulary are gone through from the likeliest (top) or the least likely (bottom). The entry
at which the sum of their probabilities reaches q straddles the border; `pre` is what comes before it, `post` is pre and the
entry. With S one of the two:

    top       EW_S: rows with l+ or l- in S; MW_S: each form that is in S; covered_S: all forms of the rows that count in EW_S
    bottom    rows with both l+ and l- in S, for all three

    value = (1 - a) value_pre + a value_post,    a = (q - sum of pre) / (sum of post - sum of pre)

EW_S without rows and MW_S without mass are undefined; one of the two being undefined, the other is taken; both, and the
context has no value at q. covered_S is 0 then. Entries of equal probability straddle together. With more than two labels each
of the other forms of a row makes a pair with l+; EW counts pairs, MW and covered count each form once.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntagm.answers import Fill
from syntagm.tasks.gaps.candidates import Candidates
from syntagm.tasks.gaps.nucleus import Cut, Eligible

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """What one context says, at each cut-off and of each row.

    Arguments:
        equal_weight, model_weight: shape (cuts,): 0 to 1; nan where undefined.
        covered: shape (cuts,): total probability of the rows that count.
        eligible: shape (rows,), bool: which rows of the list count without a cut-off.
        ranked: how many of them can count at a cut-off, because all their forms are single tokens.
        won: shape (rows,): the share of its pairs that a row wins; nan unless eligible.
        right, wrong: shape (rows,): probability of the forms that are right here, and of the others; nan likewise.
    """

    equal_weight: Numbers
    model_weight: Numbers
    covered: Numbers
    eligible: NDArray[np.bool_]
    ranked: int
    won: Numbers
    right: Numbers
    wrong: Numbers


def shares(fill: Fill, words: Candidates, label: str, cuts: tuple[Cut, ...], which: Eligible = "all") -> Shares:
    """Judge one context.

    Arguments:
        fill: the answer for the words of `words`.
        label: of the forms that are right in the context.
        cuts: which cut-offs; those other than `Cut()` look at rows of single tokens only.
        which: the rows that count: "all" that can be asked, or those whose forms are "single-token".
    """
    eligible = words.eligible(fill, which)
    good, bad = words.sides(label)
    probability = np.exp2(-fill.bits)
    won = np.where(eligible, (fill.bits[good][:, None] < fill.bits[bad]).mean(axis=1), np.nan)
    right = np.where(eligible, probability[good], np.nan)
    wrong = np.where(eligible, probability[bad].sum(axis=1), np.nan)
    ranked = eligible & words.eligible(fill, "single-token")
    found = np.full((3, len(cuts)), np.nan)
    for end in ("top", "bottom"):
        at = [number for number, cut in enumerate(cuts) if getattr(cut, end) < 1]
        at.sort(key=lambda number: getattr(cuts[number], end))
        if at:
            near, far = (fill.above, 1 - fill.below) if end == "top" else (fill.below, 1 - fill.above)
            limits = np.array([getattr(cuts[number], end) for number in at])
            found[:, at] = _cut(
                _Rows(good[ranked], bad[ranked], fill.bits, probability), near, far, limits, end == "top"
            )
    whole = [number for number, cut in enumerate(cuts) if cut.whole]
    found[:, whole] = np.array(_whole(won[eligible], right[eligible].sum(), wrong[eligible].sum()))[:, None]
    return Shares(found[0], found[1], found[2], eligible, int(ranked.sum()), won, right, wrong)


def _whole(won: Numbers, right: float, wrong: float) -> tuple[float, float, float]:
    return (
        float(won.mean()) if len(won) else np.nan,
        right / (right + wrong) if right + wrong > 0 else np.nan,
        right + wrong,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Places of right and other forms of the rows that can count, and bits and probabilities by place."""

    good: NDArray[np.intp]
    bad: NDArray[np.intp]
    bits: Numbers
    probability: Numbers


def _cut(rows: _Rows, near: Numbers, far: Numbers, limits: Numbers, top: bool) -> Numbers:
    """Equal weight, model weight and covered at rising limits. Shape (3, limits).

    Arguments:
        near, far: total probability before each word, and up to its end, coming from the end that is looked at.
    """
    # The first limit that each word, or each word and all before it, is inside of. Everything else is arithmetic on these.
    begun, ended = np.searchsorted(limits, near, "right"), np.searchsorted(limits, far, "left")
    pre, post = (_inside(rows, first, len(limits), top) for first in (ended, begun))
    share = _straddling(rows, begun, ended, near, far, limits)
    mixed = (1 - share) * pre + share * post
    found: Numbers = np.where(np.isnan(pre), post, np.where(np.isnan(post), pre, mixed))
    return found


def _inside(rows: _Rows, first: NDArray[np.intp], limits: int, top: bool) -> Numbers:
    """The three numbers at each limit; `first` is the first limit that each word is inside of."""

    def sums(firsts: NDArray[np.intp], weights: Numbers | None = None) -> Numbers:
        flat = None if weights is None else weights.ravel()
        return np.bincount(firsts.ravel(), flat, limits + 1)[:-1].cumsum().astype(np.float64)

    good, bad = first[rows.good][:, None], first[rows.bad]
    # A pair counts at the top as soon as one of the two is inside, at the bottom when both are.
    pairs = np.minimum(good, bad) if top else np.maximum(good, bad)
    right, wrong = rows.probability[rows.good][:, None], rows.probability[rows.bad]
    won = rows.bits[rows.good][:, None] < rows.bits[rows.bad]
    counted = sums(pairs.min(axis=1), right), sums(pairs, wrong)
    mass = (sums(good, right), sums(bad, wrong)) if top else counted
    with np.errstate(invalid="ignore"):
        weights = sums(pairs, won.astype(np.float64)) / sums(pairs), mass[0] / (mass[0] + mass[1])
    return np.array([*weights, counted[0] + counted[1]])


def _straddling(
    rows: _Rows, begun: NDArray[np.intp], ended: NDArray[np.intp], near: Numbers, far: Numbers, limits: Numbers
) -> Numbers:
    """How far into the word that straddles it each limit lies, 0 to 1; 1 where no word of the list does. Shape (limits,)."""
    found = np.ones(len(limits))
    places = np.concatenate([rows.good, rows.bad.ravel()])
    for place in places[begun[places] < ended[places]]:
        reached = slice(begun[place], ended[place])
        found[reached] = (limits[reached] - near[place]) / (far[place] - near[place])
    return found
