"""Equal weight (EW) and model weight (MW) of a context (Newman et al. 2021).

EW is the proportion of a word list's pairs in which the form that fits the context is more likely: is the model's
behaviour systematic, that is, independent of the word? MW is the share of a word list's probability mass that goes to
the forms that fit the context: is the model's likely behaviour correct?
"""

from dataclasses import dataclass
from typing import ClassVar, Self

from syntagm.evaluation.gaps import nucleus
from syntagm.evaluation.gaps.nucleus import Cut
from syntagm.evaluation.gaps.shares import Shares


@dataclass(frozen=True, slots=True)
class Weight:
    """A measure of one context over all rows of a word list."""

    name: ClassVar[str]
    top: float = 1.0  # `top`, `bottom`: cut-offs; see `nucleus.Cut`
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
        """Parse a canonical name."""
        cut = nucleus.parse(text, cls.name)
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
