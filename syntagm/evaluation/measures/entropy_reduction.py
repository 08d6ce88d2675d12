"""By how much a region reduces the entropy over the next token, in one condition."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from syntagm.evaluation.alignment import Reading
from syntagm.evaluation.measure import Reduction, RegionMeasure
from syntagm.evaluation.result import Kind
from syntagm.models import Surprisals, entropy_reduction
from syntagm.suites import Sentence


@dataclass(frozen=True, slots=True)
class EntropyReduction(RegionMeasure):
    """The entropy reduction of a region in bits: max(0, H before - H after), in which H is the entropy over the next token."""

    # Hale 2006 defines it with the entropy over all continuations of the sentence. That over the next token is what a
    # model tells, and looks one token ahead. It is undefined (nan) for a region without tokens, for the end of a text,
    # which nothing follows unless the end-of-text symbol is scored, and for a first token without a start-of-text
    # symbol. The run keeps it for every token, too (`export --as distributions`). Models that see both sides of a token
    # have none.

    kind: ClassVar[Kind] = Kind.BITS
    name: ClassVar[str] = "entropy_reduction"
    asks_for: ClassVar[tuple[Reduction, ...]] = ("entropy",)
    leftward: ClassVar[bool] = True

    def number(self, sentence: Sentence, answer: Surprisals, reading: Reading) -> float:
        assert answer.reductions is not None, "the measure asks for reductions"
        own = reading.tokens(sentence, answer, self.region)
        # The end-of-text symbol is no part of the sentence, but what follows it.
        own = own[answer.starts[own] < len(answer.text)]
        entropy = np.append(answer.reductions.entropy, np.nan)
        # One step from the first token of the region to the token after its last one.
        return float(entropy_reduction(entropy[[own[0], own[-1] + 1]])[0]) if len(own) else np.nan
