"""The declaration of the family `ngram`."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from syntagm.core import UsageError
from syntagm.training.settings import Words, option, part
from syntagm.training.trainable import LOAD_SECONDS, Controlled, Trainable, Work


@dataclass(frozen=True, slots=True)
class Estimation:
    """The settings for estimating an n-gram model.

    Arguments:
        order: the length of the longest n-grams in words.
        smoothing: `interpolated`: add the lower order's share to every word, as KenLM's lmplz does; `backoff`: use the
            lower order only for words that were not seen after a context, as SRILM's `ngram-count -kndiscount -unk` does.
        lmplz_compatible: whether to count like KenLM's lmplz, which counts the last n-gram of each order below the
            highest by its occurrences, and adds no eos after a last line without a line end; ignored by `backoff`.
        discount_fallback: whether to use the discounts 0.5, 1 and 1.5 for an order whose discounts can't be computed
            from the text; if not, this is an error.
        prune: the largest count of the n-grams to drop, for each order; the last number applies to all higher orders.
            `interpolated` compares it with the number of occurrences, as lmplz does; `backoff` with the count that is
            discounted, which below the highest order is that of the distinct words before the n-gram, as SRILM's
            -gtmin options do (with one more: `-gt3min 2` drops counts of 1).
        uniform: whether to interpolate unigrams with the uniform distribution; if not, the discounted mass goes to the
            unknown word; ignored by `backoff`.

    Raises:
        UsageError: the order is below 1, or the thresholds are not ascending.
    """

    order: int = option("length of the longest n-grams in words", 5, metavar="N")
    smoothing: Literal["interpolated", "backoff"] = option(
        "interpolate with lower orders, as KenLM's lmplz does, or back off to them, as SRILM does by default",
        "interpolated",
    )
    lmplz_compatible: bool = option("count the last n-gram as KenLM's lmplz does; ignored by backoff", True)
    discount_fallback: bool = option("use discounts of 0.5, 1 and 1.5 where the text gives none", False)
    prune: tuple[int, ...] = option("drop n-grams seen this often or less, by order", (), metavar="N")
    uniform: bool = True

    def __post_init__(self) -> None:
        if self.order < 1:
            raise UsageError("order", str(self.order), "at least 1")
        if len(self.prune) > self.order or any(low > high for low, high in pairwise((0, *self.prune))):
            expected = f"at most {self.order} numbers, at least 0, in ascending order"
            raise UsageError("prune", str(list(self.prune)), expected)

    @property
    def as_lmplz(self) -> bool:
        return self.lmplz_compatible and self.smoothing == "interpolated"

    @property
    def thresholds(self) -> tuple[int, ...]:
        thresholds = self.prune or (0,)
        return (*thresholds, *[thresholds[-1]] * (self.order - len(thresholds)))


@dataclass(frozen=True, slots=True)
class NgramSettings:
    """All settings of an n-gram model.

    Arguments:
        estimation: the estimation settings.
        words: the settings for turning text into words.
    """

    estimation: Estimation = part("", Estimation())
    words: Words = part("", Words())


WORDS_A_SECOND = 150_000


def _is_intact(folder: Path) -> bool:
    from syntagm.models import folder as ngram_folder

    return not ngram_folder.faults(folder)


def _duration(settings: NgramSettings, work: Work) -> tuple[float, float]:
    return work.words / WORDS_A_SECOND + LOAD_SECONDS, LOAD_SECONDS + work.test / WORDS_A_SECOND


NGRAM = Trainable(
    name="ngram",
    summary="n-grams: modified Kneser-Ney, interpolated or backing off",
    settings=NgramSettings(),
    module="syntagm.training.ngram.train",
    seeded=False,
    needs_valid=False,
    valid="held-out text, whose perplexity is reported",
    controlled=Controlled(_duration, pace=f"n-grams: {WORDS_A_SECOND:,} words per second"),
    is_intact=_is_intact,
)
