"""The surprisal of a region, or of the whole sentence, in one condition."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from syntagm.answers import Answers
from syntagm.result import Kind
from syntagm.suite import Item
from syntagm.tasks.measure import Judgement, Measure
from syntagm.tasks.reading import Reading


@dataclass(frozen=True, slots=True)
class Surprisal(Measure):
    """The surprisal of a region in bits, by the suite's aggregate.

    Arguments:
        condition: the condition whose sentence is measured.
        region: the name of the region; "*" is the whole sentence.
    """

    kind: ClassVar[Kind] = Kind.BITS

    condition: str
    region: str = "*"

    def __str__(self) -> str:
        return f"surprisal(condition={self.condition},region={self.region})"

    def asks(self, item: Item) -> Iterable[str]:
        """Return the sentence of the condition."""
        return [item.sentences[self.condition].text]

    def judge(self, item: Item, answers: Answers, reading: Reading) -> Judgement:
        """Return the bits of the region.

        Raises:
            AlignmentError: a token crosses a region border.
            KeyError: the item lacks the condition or the region.
        """
        sentence = item.sentences[self.condition]
        answer = answers[sentence.text]
        return Judgement(reading.region(sentence, answer, self.region), len(answer.bits), float("nan"))
