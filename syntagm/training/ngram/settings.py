"""The settings of an n-gram model: how it is estimated, and what a word is."""

from dataclasses import dataclass
from itertools import pairwise

from syntagm.errors import UsageError
from syntagm.training.options import option, part
from syntagm.training.words import Words


@dataclass(frozen=True, slots=True)
class Estimation:
    """How to estimate.

    Arguments:
        order: words of the longest n-grams.
        lmplz_compatible: count as KenLM's lmplz does: it counts the last n-gram of each order below the highest by its
            occurrences, and adds no end symbol after a last line without a line end.
        discount_fallback: take the discounts 0.5, 1 and 1.5 for an order where the text gives none, which is otherwise an
            error.
        prune: leave out the n-grams of each order that occur so many times or less; the last holds for higher orders too.
        uniform: mix unigrams with the uniform distribution; otherwise what is discounted goes to the unknown word.

    Raises:
        UsageError: an order below 1, or thresholds that fall.
    """

    order: int = option("words of the longest n-grams", 5, metavar="N")
    lmplz_compatible: bool = option("count the last n-gram as KenLM's lmplz does", True)
    discount_fallback: bool = option("discounts of 0.5, 1 and 1.5 where the text gives none", False)
    prune: tuple[int, ...] = option("leave out n-grams seen so often or less, by order", (), metavar="N")
    uniform: bool = True

    def __post_init__(self) -> None:
        if self.order < 1:
            raise UsageError("order", str(self.order), "at least 1")
        if len(self.prune) > self.order or any(low > high for low, high in pairwise((0, *self.prune))):
            raise UsageError("prune", str(list(self.prune)), f"at most {self.order} numbers, from 0, that never fall")

    @property
    def thresholds(self) -> tuple[int, ...]:
        """The threshold of each order."""
        given = self.prune or (0,)
        return (*given, *[given[-1]] * (self.order - len(given)))


@dataclass(frozen=True, slots=True)
class NgramSettings:
    """All settings of an n-gram model.

    Arguments:
        estimation: how it is estimated.
        words: how text becomes words.
    """

    estimation: Estimation = part("", Estimation())
    words: Words = part("", Words())
