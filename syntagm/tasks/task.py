"""What a measure is: it looks at an item, asks, and judges the answers."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from syntagm.answers import Answers
from syntagm.suite import Item


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a measure says of one item: see `Result` for the fields."""

    value: float
    n: int
    margin: float


class Measure(ABC):
    """A measure: its fields are its parameters, `str` is the canonical name that stands in every result."""

    @abstractmethod
    def asks(self, item: Item) -> Iterable[str]:
        """The texts whose surprisals the measure needs, repeats allowed."""

    @abstractmethod
    def judge(self, item: Item, answers: Answers) -> Judgement:
        """The judgement of one item.

        Raises:
            AlignmentError: a token reaches over a region border.
        """
