"""The entropy of the distributions from which a region's tokens are taken, in one condition."""

from dataclasses import dataclass
from typing import ClassVar

from syntagm.evaluation.alignment import Reduced
from syntagm.evaluation.measure import ReducedMeasure, Reduction
from syntagm.evaluation.result import Kind


@dataclass(frozen=True, slots=True)
class Entropy(ReducedMeasure):
    """The entropy before a region in bits: how uncertain the model is of the next token."""

    # It is the entropy over single tokens, not over words: a model with longer tokens has another one. The arguments
    # are those of `ReducedMeasure`.

    kind: ClassVar[Kind] = Kind.BITS
    asks_for: ClassVar[tuple[Reduction, ...]] = ("entropy",)
    reduction: ClassVar[Reduced] = "entropy"
