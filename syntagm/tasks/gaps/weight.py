"""The base class of equal weight and model weight."""

from dataclasses import dataclass
from typing import ClassVar, Self

from syntagm.tasks.gaps import nucleus
from syntagm.tasks.gaps.nucleus import Cut
from syntagm.tasks.gaps.shares import Shares


@dataclass(frozen=True, slots=True)
class Weight:
    """A measure of one context over all rows of a word list.

    Arguments:
        top, bottom: cut-offs; see `nucleus.Cut`.

    Raises:
        UsageError: the cut-off is not allowed.
    """

    name: ClassVar[str]
    top: float = 1.0
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
        """Return the value for one context, 0 to 1; nan if it is undefined.

        Arguments:
            cuts: the cut-offs that `shares` was computed with.
        """
        return float(getattr(shares, self.name)[cuts.index(self.cut)])

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a canonical name.

        Raises:
            UsageError: the name does not belong to this measure.
        """
        cut = nucleus.parse(text, cls.name)
        return cls(cut.top, cut.bottom)
