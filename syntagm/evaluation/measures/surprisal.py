"""The surprisal of a region, or of the whole sentence, in one condition."""

from dataclasses import dataclass
from typing import ClassVar

from syntagm.evaluation.alignment import Reading
from syntagm.evaluation.measure import RegionMeasure
from syntagm.evaluation.result import Kind
from syntagm.models import Surprisals
from syntagm.suites import Sentence


@dataclass(frozen=True, slots=True)
class Surprisal(RegionMeasure):
    """The surprisal of a region in bits, by the suite's aggregate."""

    kind: ClassVar[Kind] = Kind.BITS
    name: ClassVar[str] = "surprisal"

    region: str = "*"  # the name of the region; "*" is the whole sentence

    def number(self, sentence: Sentence, answer: Surprisals, reading: Reading) -> float:
        return reading.region(sentence, answer, self.region)
