"""Model weight (MW): of the probability that a model gives to the forms of a word list, how much goes to those that fit?

Newman et al. 2021: is the model's likely behaviour right?
"""

from dataclasses import dataclass

from syntagm.measures import _cut
from syntagm.measures._cut import Cut
from syntagm.measures._shares import Shares


@dataclass(frozen=True, slots=True)
class ModelWeight:
    """The sum of P(l+) over rows, divided by that of all forms, of one context.

    >>> str(ModelWeight()), parse("model_weight(bottom=0.01)")
    ('model_weight', ModelWeight(top=1.0, bottom=0.01))
    """

    top: float = 1.0
    bottom: float = 1.0

    def __post_init__(self) -> None:
        Cut(self.top, self.bottom)

    @property
    def cut(self) -> Cut:
        """Both cut-offs; making it checks them."""
        return Cut(self.top, self.bottom)

    def __str__(self) -> str:
        return f"model_weight{self.cut}"

    def of(self, shares: Shares, cuts: tuple[Cut, ...]) -> float:
        """The value of one context, 0 to 1, nan where it is undefined.

        Arguments:
            cuts: those that `shares` were made with.
        """
        return float(shares.model_weight[cuts.index(self.cut)])


def parse(text: str) -> ModelWeight:
    """The measure of a canonical name.

    Raises:
        UsageError: another name.
    """
    cut = _cut.parse(text, "model_weight")
    return ModelWeight(cut.top, cut.bottom)
