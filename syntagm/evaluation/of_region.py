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
