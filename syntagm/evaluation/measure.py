"""The base class of measures, which judge an item by the surprisals of its texts."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from syntagm.evaluation.alignment import Of, Reading, Reduced
from syntagm.evaluation.result import Kind
from syntagm.models import Answers, Surprisals
from syntagm.suites import Item, Sentence

# What a model can tell of the distribution from which a token is taken; the probability is that of the token.
Reduction: TypeAlias = Literal["entropy", "rank", "probability"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement of one item by a measure; `Result` explains the fields."""

    value: float
    n: int
    margin: float


class Measure(ABC):
    """A measure of items.

    A subclass is a frozen dataclass whose fields are the parameters of the measure. `str` gives the canonical name that
    results use.

    Attributes:
        kind: the kind of the measure's values, which every subclass declares; it is recorded in every run.
        asks_for: the reductions that the measure reads from the answers (`Surprisals.reductions`); empty if surprisals are
            enough. A model that can't tell them is refused before it is loaded.
        leftward: whether the measure has a meaning only under models that see the left side of a token alone.
    """

    kind: ClassVar[Kind]
    asks_for: ClassVar[tuple[Reduction, ...]] = ()
    leftward: ClassVar[bool] = False

    @abstractmethod
    def __str__(self) -> str:
        """Return the canonical name, from which the measure can be parsed."""

    @abstractmethod
    def asks(self, item: Item) -> Iterable[str]:
        """Return the texts whose surprisals the measure needs. A text may be repeated."""

    @abstractmethod
    def judge(self, item: Item, answers: Answers, reading: Reading) -> Judgement:
        """Judge one item.

        Arguments:
            answers: text -> surprisals.
            reading: turns the bits of tokens into the values of regions.

        Raises:
            AlignmentError: a token crosses a region border.
            KeyError: the item lacks a condition or region that the measure names.
        """


@dataclass(frozen=True, slots=True)
class RegionMeasure(Measure):
    """A number of a region in one condition."""

    name: ClassVar[str]  # the name of the measure

    condition: str  # the condition whose sentence is measured
    region: str  # the name of the region; "*" is the whole sentence

    def __str__(self) -> str:
        return f"{self.name}(condition={self.condition},region={self.region})"

    def asks(self, item: Item) -> Iterable[str]:
        return [item.sentences[self.condition].text]

    def judge(self, item: Item, answers: Answers, reading: Reading) -> Judgement:
        sentence = item.sentences[self.condition]
        answer = answers[sentence.text]
        return Judgement(self.number(sentence, answer, reading), len(answer.bits), float("nan"))

    @abstractmethod
    def number(self, sentence: Sentence, answer: Surprisals, reading: Reading) -> float:
        """Return the number of the region in a sentence; nan where it is undefined."""


@dataclass(frozen=True, slots=True)
class ReducedMeasure(RegionMeasure):
    """The entropy or the rank of a region, a reduction of the model's distributions over the next token."""

    reduction: ClassVar[Reduced]  # which of the two; it is also the name of the measure

    # The number for all tokens of the region: that of the `first` one, the `mean`, or the highest (`max`).
    of: Of = "first"

    def __str__(self) -> str:
        of = "" if self.of == "first" else f",of={self.of}"
        return f"{self.reduction}(condition={self.condition},region={self.region}{of})"

    def number(self, sentence: Sentence, answer: Surprisals, reading: Reading) -> float:
        return reading.reduced(sentence, answer, self.region, self.reduction, self.of)
