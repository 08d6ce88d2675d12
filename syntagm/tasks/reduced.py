"""The base class of measures that read a reduction of the model's distributions over the next token."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from syntagm.answers import Answers
from syntagm.suite import Item
from syntagm.tasks.measure import Judgement, Measure
from syntagm.tasks.reading import Of, Reading, Reduced


@dataclass(frozen=True, slots=True)
class ReducedMeasure(Measure):
    """The entropy or the rank of a region in one condition.

    Arguments:
        condition: the condition whose sentence is measured.
        region: the name of the region; "*" is the whole sentence.
        of: the number for all tokens of the region: that of the `first` one, the `mean`, or the highest (`max`).

    Attributes:
        reduction: which of the two; it is also the name of the measure.
    """

    reduction: ClassVar[Reduced]

    condition: str
    region: str
    of: Of = "first"

    def __str__(self) -> str:
        of = "" if self.of == "first" else f",of={self.of}"
        return f"{self.reduction}(condition={self.condition},region={self.region}{of})"

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
        value = reading.reduced(sentence, answer, self.region, self.reduction, self.of)
        return Judgement(value, len(answer.bits), float("nan"))
