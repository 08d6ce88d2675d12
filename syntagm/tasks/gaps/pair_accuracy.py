"""Targeted syntactic evaluation (TSE) of a blank: is the word of the good sentence likelier than that of the bad one?"""

from dataclasses import dataclass

import numpy as np

from syntagm.answers import Fill
from syntagm.tasks.gaps.candidates import Candidates, usable
from syntagm.tasks.gaps.nucleus import Eligible
from syntagm.tasks.measure import Judgement


@dataclass(frozen=True, slots=True)
class Tse:
    """[P(good) > P(bad)] in the context of an item; a margin within `tolerance` bits is a tie and doesn't hold."""

    tolerance: float = 1e-4
    which: Eligible = "all"

    def __str__(self) -> str:
        return "tse"

    def judge(self, fill: Fill, words: Candidates, good: str, bad: str) -> Judgement:
        """The verdict; its margin is the surprisal of the bad word less that of the good one, in bits.

        Undefined, nan, if one of the two is not eligible. `n` counts the words that the verdict rests on.
        """
        places = [words.places[good], words.places[bad]]
        if not usable(fill, self.which)[places].all():
            return Judgement(np.nan, 0, np.nan)
        margin = float(fill.bits[places[1]] - fill.bits[places[0]])
        return Judgement(float(margin > self.tolerance), 2, margin)
