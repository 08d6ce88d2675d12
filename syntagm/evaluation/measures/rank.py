"""The rank of a region's tokens in the distributions from which they are taken, in one condition."""

from dataclasses import dataclass
from typing import ClassVar

from syntagm.evaluation.alignment import Reduced
from syntagm.evaluation.measure import ReducedMeasure, Reduction
from syntagm.evaluation.result import Kind


@dataclass(frozen=True, slots=True)
class Rank(ReducedMeasure):
    """The rank of a region: 1 if no entry of the model's vocabulary is likelier than its first token."""

    # Ranks are comparable between models with the same vocabulary only. The arguments are those of `ReducedMeasure`.

    kind: ClassVar[Kind] = Kind.RANK
    asks_for: ClassVar[tuple[Reduction, ...]] = ("rank",)
    reduction: ClassVar[Reduced] = "rank"
