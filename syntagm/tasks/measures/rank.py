"""The rank of a region's tokens in the distributions from which they are taken, in one condition."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from syntagm.answers import Answers
from syntagm.result import Kind
from syntagm.suite import Item
from syntagm.tasks.measure import Judgement, Measure, Reduction
from syntagm.tasks.reading import Of, Reading


@dataclass(frozen=True, slots=True)
class Rank(Measure):
    """The rank of a region: 1 if no entry of the model's vocabulary is likelier than its first token.

    Ranks are comparable between models with the same vocabulary only.

    Arguments:
        condition: the condition whose sentence is measured.
        region: the name of the region; "*" is the whole sentence.
        of: the number for all tokens of the region: that of the `first` one, the `mean`, or the highest (`max`).
    """

    kind: ClassVar[Kind] = Kind.RANK
    asks_for: ClassVar[tuple[Reduction, ...]] = ("rank",)

    condition: str
    region: str
    of: Of = "first"

    def __str__(self) -> str:
        of = "" if self.of == "first" else f",of={self.of}"
        return f"rank(condition={self.condition},region={self.region}{of})"

    def asks(self, item: Item) -> Iterable[str]:
        """Return the sentence of the condition."""
        return [item.sentences[self.condition].text]

    def judge(self, item: Item, answers: Answers, reading: Reading) -> Judgement:
        """Return the rank of the region.

        Raises:
            AlignmentError: a token crosses a region border.
            KeyError: the item lacks the condition or the region.
        """
        sentence = item.sentences[self.condition]
        answer = answers[sentence.text]
        value = reading.reduced(sentence, answer, self.region, "rank", self.of)
        return Judgement(value, len(answer.bits), float("nan"))
