"""What a measure is: it looks at an item, asks, and judges the answers."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from syntagm.answers import Answers
from syntagm.result import Kind
from syntagm.suite import Item
from syntagm.tasks.reading import Reading


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a measure says of one item: see `Result` for the fields."""

    value: float
    n: int
    margin: float


class Measure(ABC):
    """A measure: a frozen dataclass whose fields are its parameters; `str` is its canonical name in every result.

    Attributes:
        kind: what its values are.
    """

    kind: ClassVar[Kind] = Kind.BITS

    @abstractmethod
    def __str__(self) -> str:
        """Return the canonical name, from which the measure can be made again."""

    @abstractmethod
    def asks(self, item: Item) -> Iterable[str]:
        """Return the texts whose surprisals the measure needs, repeats allowed."""

    @abstractmethod
    def judge(self, item: Item, answers: Answers, reading: Reading) -> Judgement:
        """Judge one item.

        Arguments:
            answers: the surprisals of the texts that were asked, by text.
            reading: how the tokens of a region make its value in bits.

        Raises:
            AlignmentError: a token crosses a region border.
            KeyError: the item lacks a condition or region that the measure names.
        """
