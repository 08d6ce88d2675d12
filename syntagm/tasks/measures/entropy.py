"""The entropy of the distributions from which a region's tokens are taken, in one condition."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from syntagm.answers import Answers
from syntagm.result import Kind
from syntagm.suite import Item
from syntagm.tasks.measure import Judgement, Measure, Reduction
from syntagm.tasks.reading import Of, Reading


@dataclass(frozen=True, slots=True)
class Entropy(Measure):
    """The entropy before a region in bits: how uncertain the model is of the next token.

    It is the entropy over single tokens, not over words: a model with longer tokens has another one.

    Arguments:
        condition: the condition whose sentence is measured.
        region: the name of the region; "*" is the whole sentence.
        of: the number for all tokens of the region: the entropy before the `first` one, the `mean`, or the highest (`max`).
    """

    kind: ClassVar[Kind] = Kind.BITS
    asks_for: ClassVar[tuple[Reduction, ...]] = ("entropy",)

    condition: str
    region: str
    of: Of = "first"

    def __str__(self) -> str:
        of = "" if self.of == "first" else f",of={self.of}"
        return f"entropy(condition={self.condition},region={self.region}{of})"

    def asks(self, item: Item) -> Iterable[str]:
        """Return the sentence of the condition."""
        return [item.sentences[self.condition].text]

    def judge(self, item: Item, answers: Answers, reading: Reading) -> Judgement:
        """Return the entropy before the region.

        Raises:
            AlignmentError: a token crosses a region border.
            KeyError: the item lacks the condition or the region.
        """
        sentence = item.sentences[self.condition]
        answer = answers[sentence.text]
        value = reading.reduced(sentence, answer, self.region, "entropy", self.of)
        return Judgement(value, len(answer.bits), float("nan"))
