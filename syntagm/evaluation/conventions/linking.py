"""Linking functions (`LINKINGS`): which number of a sentence is compared. Some are costs over words (`COSTS`).

Costs are in bits, or in bits per unit: the sentence with the lower cost is preferred. A cost comes with its divisor, so that a
difference can be compared with the tolerance, which is in bits.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from syntagm.core import InputError, csv, utf8
from syntagm.evaluation.conventions.scored import Scored

# b are the surprisals of the n words of a sentence under a model, in bits, and u those under a unigram model. A scored
# end-of-text symbol counts as a word. All scores are costs: the sentence with the lower score is preferred.
#
#     bits        sum b                   surprisal of the sentence
#     mean_bits   sum b / n               mean per word
#     norm_sub    sum b - sum u           minus the unigram surprisal
#     norm_div    sum b / sum u           divided by the unigram surprisal
#     slor        (sum b - sum u) / n     minus the syntactic log-odds ratio of Pauls & Klein 2012
#     word_max    max b                   least probable word
#     word_ratio  max b / u               least probable word relative to its unigram surprisal
#
# The names are those of Lau, Clark & Lappin 2017, except for the last two; they call `word_ratio` WLP Min-1. If two
# sentences differ in one word, `slor` and `norm_sub` prefer the same one: both compare the difference in bits with the
# log odds of the two words under the unigram model.

Bits = NDArray[np.float64]
Cost = tuple[float, float]
Score = Literal["bits", "mean_bits", "norm_sub", "norm_div", "slor", "word_max", "word_ratio"]


def _ratio(bits: Bits, unigram: Bits) -> Cost:
    if np.isnan(bits).any():
        return np.nan, 1.0
    at = int(np.argmax(bits / unigram))
    return float(bits[at] / unigram[at]), float(unigram[at])


# Name -> function of bits and unigram bits that returns the cost and the divisor of a difference in bits.
COSTS: dict[Score, Callable[[Bits, Bits], Cost]] = {
    "bits": lambda b, u: (float(b.sum()), 1.0),
    "mean_bits": lambda b, u: (float(b.sum()) / len(b), float(len(b))),
    "norm_sub": lambda b, u: (float(b.sum() - u.sum()), 1.0),
    "norm_div": lambda b, u: (float(b.sum() / u.sum()), float(u.sum())),
    "slor": lambda b, u: (float(b.sum() - u.sum()) / len(b), float(len(b))),
    "word_max": lambda b, u: (float(b.max()), 1.0),
    "word_ratio": _ratio,
}


def costs(bits: Bits, unigram: Bits) -> dict[Score, Cost]:
    """Compute all costs of one sentence, each with the divisor of a difference in bits.

    Without words, all costs are nan.

    Arguments:
        bits: the surprisal of each word. Shape (words,).
        unigram: its unigram surprisal. Shape (words,).

    >>> by_name = costs(np.array([2.0, 6.0]), np.array([4.0, 8.0]))
    >>> [cost for name, (cost, _) in by_name.items() if name != "norm_div"]  # which is 8 / 12
    [8.0, 4.0, -4.0, -2.0, 6.0, 0.75]
    """
    if not len(bits):
        return dict.fromkeys(COSTS, (np.nan, 1.0))
    return {name: cost(bits, unigram) for name, cost in COSTS.items()}


def margin(lesser: Cost, greater: Cost, tolerance: float) -> float:
    """Return the cost of the second sentence minus that of the first; 0 if the difference is within the tolerance.

    Arguments:
        tolerance: the tolerance in bits, which is compared with the difference before division.

    >>> margin((1.0, 2.0), (1.5, 2.0), 0.1), margin((1.0, 2.0), (1.00001, 2.0), 0.1)
    (0.5, 0.0)
    """
    difference = greater[0] - lesser[0]
    return 0.0 if abs(difference) <= tolerance / min(lesser[1], greater[1]) else difference


_UNDEFINED: Cost = (np.nan, 1.0)


@dataclass(frozen=True, slots=True)
class Linking:
    name: str  # its name in options, tables and signatures
    formula: str  # the cost, in plain mathematics
    says: str  # what is compared, as a phrase
    cost: Callable[[Scored], Cost]  # from a sentence to its cost and the divisor of a difference in bits
    unigrams: bool = False  # whether it needs a unigram model
    used: str = ""  # papers and tools that compare this number
    of_pairs: bool = False  # whether the cost depends on the sentence with which a sentence is compared


def _per(size: Callable[[Scored], int]) -> Callable[[Scored], Cost]:
    """Return the sum of bits divided by a size of the sentence."""

    def cost(sentence: Scored) -> Cost:
        count = size(sentence)
        return (float(sentence.bits.sum()) / count, float(count)) if count else _UNDEFINED

    return cost


def _penalised(sentence: Scored) -> Cost:
    divisor = ((5 + len(sentence.bits)) / (5 + 1)) ** 0.8
    return float(sentence.bits.sum()) / divisor, divisor


def _of_words(name: str) -> Callable[[Scored], Cost]:
    """Return a cost of `COSTS`, which is computed from words."""

    def cost(sentence: Scored) -> Cost:
        unigram = sentence.unigram
        if not len(sentence.words):
            return _UNDEFINED
        return COSTS[name](sentence.words, np.full(len(sentence.words), np.nan) if unigram is None else unigram)  # type: ignore[index]

    return cost


def _where(inside: Callable[[NDArray[np.int64], int, int], NDArray[np.bool_]]) -> Callable[[Scored], Cost]:
    """Return the sum over some of the tokens; 0 for both of two equal sentences, which is a tie."""

    def cost(sentence: Scored) -> Cost:
        if not sentence.differs:
            return 0.0, 1.0
        return float(sentence.bits[inside(sentence.begins, *sentence.differing)].sum()), 1.0

    return cost


def _after(sentence: Scored) -> Cost:
    chosen = sentence.begins >= sentence.differing[1]
    return (float(sentence.bits[chosen].sum()), 1.0) if chosen.any() else _UNDEFINED


def morcela(beta: float, gamma: float) -> Linking:
    """Return MORCELA (Tjuatja et al. 2024, arXiv 2411.02528, eq. 2) with parameters that were fitted on ratings.

    Arguments:
        beta: how much of the unigram surprisal is subtracted; SLOR has 1.
        gamma: what is added to the log-probability, in bits, before division by the length; SLOR has 0.

    >>> sentence = Scored("a b", np.array([2.0, 6.0]), np.array([0, 2]), np.array([2.0, 6.0]), np.array([4.0, 8.0]))
    >>> morcela(1, 0).cost(sentence) == BY_NAME["slor"].cost(sentence)
    True
    """

    def cost(sentence: Scored) -> Cost:
        if sentence.unigram is None or not len(sentence.words):
            return _UNDEFINED
        size = len(sentence.words)
        return float(sentence.words.sum() - beta * sentence.unigram.sum() - gamma) / size, float(size)

    return Linking(
        "morcela", f"(sum b - {beta:g} sum u - {gamma:g}) / words", "SLOR with fitted weights of frequency and length", cost,
        unigrams=True, used="Tjuatja et al. 2024",
    )  # fmt: skip


LINKINGS = (
    Linking(
        "bits", "sum b", "surprisal of the sentence", lambda sentence: (float(sentence.bits.sum()), 1.0),
        used="Warstadt et al. 2020; lm-evaluation-harness (acc); BabyLM",
    ),
    Linking(
        "mean_token", "sum b / tokens", "surprisal per token", _per(lambda sentence: len(sentence.bits)),
        used="minicons (default reduction); perplexity per token",
    ),
    Linking("mean_word", "sum b / words", "surprisal per word", _of_words("mean_bits"), used="Lau et al. 2017 (Mean LP)"),
    Linking(
        "mean_character", "sum b / characters", "surprisal per character", _per(lambda sentence: len(sentence.text)),
        used="lm-evaluation-harness (acc_norm)",
    ),
    Linking(
        "mean_byte", "sum b / bytes", "surprisal per byte of UTF-8", _per(lambda sentence: len(sentence.text.encode())),
        used="lm-evaluation-harness (acc_bytes)",
    ),
    Linking(
        "penalised", "sum b / ((5 + tokens) / 6)^0.8", "surprisal with a length penalty", _penalised,
        used="Wu et al. 2016; Lau et al. 2020 (PenLP)",
    ),
    Linking("norm_sub", "sum b - sum u", "surprisal less unigram surprisal", _of_words("norm_sub"), True, "Lau et al. 2017"),
    Linking(
        "norm_div", "sum b / sum u", "surprisal by unigram surprisal", _of_words("norm_div"), True,
        "Lau et al. 2017 (Norm LP)",
    ),
    Linking(
        "slor", "(sum b - sum u) / words", "norm_sub per word", _of_words("slor"), True,
        "Pauls & Klein 2012; Kann et al. 2018; Suijkerbuijk et al. 2025",
    ),
    Linking("word_max", "max b", "surprisal of the least probable word", _of_words("word_max"), used="Lau et al. 2017"),
    Linking(
        "word_ratio", "max b / u", "largest ratio of a word's surprisal to its unigram surprisal", _of_words("word_ratio"),
        True, "Lau et al. 2017 (WLP Min-1)",
    ),
    Linking(
        "critical", "sum b of the differing words", "surprisal of the words in which the sentences differ",
        _where(lambda begins, begin, end: (begins >= begin) & (begins < end)),
        used="Warstadt et al. 2020 (one-prefix method, one differing word)", of_pairs=True,
    ),
    Linking(
        "after_prefix", "sum b from the first differing word on", "surprisal given the shared prefix",
        _where(lambda begins, begin, end: begins >= begin),
        used="conditional scores, such as minicons' conditional_score", of_pairs=True,
    ),
    Linking(
        "shared_rest", "sum b after the differing words", "surprisal of the shared words after the difference", _after,
        used="Warstadt et al. 2020 (two-prefix method)", of_pairs=True,
    ),
)  # fmt: skip
BY_NAME: Mapping[str, Linking] = {linking.name: linking for linking in LINKINGS}


# MORCELA is fitted on ratings:
#
#     rating = a (log p - beta log p_u + gamma) / n + c
#
# The model is linear in log p / n, log p_u / n, 1 / n and 1, so it is fitted by least squares; beta and gamma are
# ratios of coefficients. Ratings are best given as z-scores within participants, as in the paper. n counts words, as
# `slor` does here.

# The parameters of the fit, and the least number of sentences for each.
_PARAMETERS, _LEAST = 4, 5


@dataclass(frozen=True, slots=True)
class Fit:
    """MORCELA's parameters, fitted on ratings."""

    beta: float  # the weight of the unigram surprisal; SLOR has 1
    gamma: float  # in bits; SLOR has 0
    slope: float  # rating per bit and word; above 0 if likelier sentences are rated higher
    intercept: float  # the rating of a sentence with the score 0
    sentences: int  # the number of rated sentences
    correlation: float  # Pearson's r of the ratings with the fitted ones
    source: str  # where the ratings come from

    @property
    def linking(self) -> Linking:
        return morcela(self.beta, self.gamma)

    @property
    def note(self) -> str:
        return (
            f"morcela: beta {self.beta:.3g}, gamma {self.gamma:.3g} bits, fitted on {self.sentences:,} rated sentences of "
            f"{Path(self.source).name} (r = {self.correlation:.3f}). On the same sentences, its accuracy is not a test."
        )


def read_ratings(path: str) -> dict[str, float]:
    """Read ratings: a CSV file with the columns text,rating; several ratings of a sentence are averaged."""
    given: dict[str, list[float]] = {}
    for line, row in csv.records(utf8.read(Path(path)), Path(path), ("text", "rating")):
        try:
            rating = float(row["rating"])
        except ValueError:
            rating = np.nan
        if not np.isfinite(rating):
            raise InputError(f"{path}, line {line}, rating", repr(row["rating"]), "a number")
        given.setdefault(row["text"], []).append(rating)
    return {text: sum(ratings) / len(ratings) for text, ratings in given.items()}


def fit_ratings(sentences: Mapping[str, Scored], ratings: Mapping[str, float], source: str = "ratings") -> Fit:
    """Fit MORCELA's parameters by least squares."""
    rows, known = [], []
    for text, sentence in sentences.items():
        size = len(sentence.words)
        if text not in ratings or sentence.unigram is None or not size:
            continue
        row = -sentence.words.sum() / size, -sentence.unigram.sum() / size, 1 / size, 1.0
        if np.isfinite(row).all():
            rows.append(row)
            known.append(ratings[text])
    place = f"ratings={source}"
    if len(rows) < _LEAST * _PARAMETERS:
        expected = f"at least {_LEAST * _PARAMETERS} of the run's sentences"
        raise InputError(place, f"{len(rows)} rated sentences", expected, "The texts must be those of the suites.")
    design, response = np.array(rows), np.array(known)
    scale = np.abs(design).max(0)
    solution, _, rank, _ = np.linalg.lstsq(design / scale, response, rcond=1e-10)
    slope, unigram, length, intercept = (solution / scale).tolist()
    if rank < _PARAMETERS or not abs(slope) > 0:
        found = "sentences that don't determine the parameters"
        cure = "All have the same length, or their probabilities and frequencies go together."
        raise InputError(place, found, "sentences of several lengths and frequencies", cure)
    fitted = design @ (solution / scale)
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = float(np.corrcoef(fitted, response)[0, 1])
    return Fit(-unigram / slope, length / slope, slope, intercept, len(rows), correlation, source)
