"""Linking functions: which number of a sentence is compared, declared once each.

Costs are in bits, or in bits per unit: the sentence with the lower cost is preferred. A cost comes with its divisor, so that a
difference can be compared with the tolerance, which is in bits.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntagm.evaluation.conventions.normalisation import COSTS
from syntagm.evaluation.conventions.scored import Scored

Cost = tuple[float, float]
_UNDEFINED: Cost = (np.nan, 1.0)


@dataclass(frozen=True, slots=True)
class Linking:
    """A linking function."""

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
    """Return a cost of `normalisation`, which is computed from words."""

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
