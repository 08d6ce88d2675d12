"""What equal and model weight share: cut-offs, a canonical name, and their place in the shares of a context."""

from dataclasses import dataclass
from typing import ClassVar, Self

from syntagm.tasks.gaps import nucleus
from syntagm.tasks.gaps.nucleus import Cut
from syntagm.tasks.gaps.shares import Shares


@dataclass(frozen=True, slots=True)
class Weight:
    """A measure of one context and all rows of a word list.

    Arguments:
        top, bottom: cut-offs, see `_cut.Cut`.

    Raises:
        UsageError: there is no such cut-off.
    """

    name: ClassVar[str]
    top: float = 1.0
    bottom: float = 1.0

    def __post_init__(self) -> None:
        Cut(self.top, self.bottom)

    @property
    def cut(self) -> Cut:
        """Both cut-offs; making it checks them."""
        return Cut(self.top, self.bottom)

    def __str__(self) -> str:
        return f"{self.name}{self.cut}"

    def of(self, shares: Shares, cuts: tuple[Cut, ...]) -> float:
        """The value of one context, 0 to 1, nan where it is undefined.

        Arguments:
            cuts: those that `shares` were made with.
        """
        return float(getattr(shares, self.name)[cuts.index(self.cut)])

    @classmethod
    def parse(cls, text: str) -> Self:
        """The measure of a canonical name.

        Raises:
            UsageError: another name.
        """
        cut = nucleus.parse(text, cls.name)
        return cls(cut.top, cut.bottom)
