"""The base classes of measures that are a number of one region in one condition."""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from syntagm.evaluation.measure import Judgement, Measure
from syntagm.evaluation.reading import Of, Reading, Reduced
from syntagm.models import Answers, Surprisals
from syntagm.suites import Item, Sentence


@dataclass(frozen=True, slots=True)
class RegionMeasure(Measure):
    """A number of a region in one condition.

    Arguments:
        condition: the condition whose sentence is measured.
        region: the name of the region; "*" is the whole sentence.

    Attributes:
        name: the name of the measure.
    """

    name: ClassVar[str]

    condition: str
    region: str

    def __str__(self) -> str:
        return f"{self.name}(condition={self.condition},region={self.region})"

    def asks(self, item: Item) -> Iterable[str]:
        """Return the sentence of the condition."""
        return [item.sentences[self.condition].text]

    def judge(self, item: Item, answers: Answers, reading: Reading) -> Judgement:
        """Return the number of the region.

        Raises:
            AlignmentError: a token crosses a region border.
            KeyError: the item lacks the condition or the region.
        """
        sentence = item.sentences[self.condition]
        answer = answers[sentence.text]
        return Judgement(self.number(sentence, answer, reading), len(answer.bits), float("nan"))

    @abstractmethod
    def number(self, sentence: Sentence, answer: Surprisals, reading: Reading) -> float:
        """Return the number of the region in a sentence; nan where it is undefined.

        Raises:
            AlignmentError: a token crosses a region border.
            KeyError: the sentence lacks the region.
        """


@dataclass(frozen=True, slots=True)
class ReducedMeasure(RegionMeasure):
    """The entropy or the rank of a region, a reduction of the model's distributions over the next token.

    Arguments:
        condition: the condition whose sentence is measured.
        region: the name of the region; "*" is the whole sentence.
        of: the number for all tokens of the region: that of the `first` one, the `mean`, or the highest (`max`).

    Attributes:
        reduction: which of the two; it is also the name of the measure.
    """

    reduction: ClassVar[Reduced]

    of: Of = "first"

    def __str__(self) -> str:
        of = "" if self.of == "first" else f",of={self.of}"
        return f"{self.reduction}(condition={self.condition},region={self.region}{of})"

    def number(self, sentence: Sentence, answer: Surprisals, reading: Reading) -> float:
        """Return the reduction of the region."""
        return reading.reduced(sentence, answer, self.region, self.reduction, self.of)
