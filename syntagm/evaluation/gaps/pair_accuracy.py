"""Targeted syntactic evaluation (TSE) of a gap: whether the good sentence's word is more likely than the bad sentence's word."""

from dataclasses import dataclass

import numpy as np

from syntagm.evaluation.gaps.candidates import Candidates, usable
from syntagm.evaluation.gaps.nucleus import Eligible
from syntagm.evaluation.measure import Judgement
from syntagm.models import Fill


@dataclass(frozen=True, slots=True)
class Tse:
    """[P(good) > P(bad)] in the context of an item. A margin within `tolerance` bits is a tie, which counts as a failure."""

    tolerance: float = 1e-4
    which: Eligible = "all"

    def __str__(self) -> str:
        return "tse"

    def judge(self, fill: Fill, words: Candidates, good: str, bad: str) -> Judgement:
        """Return the verdict on two words; the margin is the bad word's surprisal minus the good word's, in bits."""
        # The verdict is undefined (nan, with n = 0) if a word is not eligible. Otherwise n is 2, the number of words.
        places = [words.places[good], words.places[bad]]
        if not usable(fill, self.which)[places].all():
            return Judgement(np.nan, 0, np.nan)
        margin = float(fill.bits[places[1]] - fill.bits[places[0]])
        return Judgement(float(margin > self.tolerance), 2, margin)
