"""Equal weight (EW): in how many of the pairs of a word list is the form that fits the context the likelier one?

Newman et al. 2021: is the model's behaviour systematic, whatever word it is?
"""

from dataclasses import dataclass

from syntagm.measures import _cut
from syntagm.measures._cut import Cut
from syntagm.measures._shares import Shares


@dataclass(frozen=True, slots=True)
class EqualWeight:
    """The mean over rows of [P(l+) > P(l-)], of one context; equal probabilities count as wrong.

    >>> str(EqualWeight(top=0.9)), parse("equal_weight")
    ('equal_weight(top=0.9)', EqualWeight(top=1.0, bottom=1.0))
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
        return f"equal_weight{self.cut}"

    def of(self, shares: Shares, cuts: tuple[Cut, ...]) -> float:
        """The value of one context, 0 to 1, nan where it is undefined.

        Arguments:
            cuts: those that `shares` were made with.
        """
        return float(shares.equal_weight[cuts.index(self.cut)])


def parse(text: str) -> EqualWeight:
    """The measure of a canonical name.

    Raises:
        UsageError: another name.
    """
    cut = _cut.parse(text, "equal_weight")
    return EqualWeight(cut.top, cut.bottom)
