"""Treatments: which tokens are left out of a linking function, and how ties count, declared once each.

Only what can be computed from surprisals that are already known is here. Whether the model has a start-of-text symbol (`bos`)
and what the text is (case, blanks) decide the surprisals themselves: they are options of models, and other texts.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntagm.evaluation.conventions.scored import Kept
from syntagm.models import Surprisals


@dataclass(frozen=True, slots=True)
class Treatment:
    """A treatment."""

    name: str  # its name, after a plus sign behind that of a linking function
    says: str  # what it does, as a phrase
    kept: Kept | None = None  # which tokens count; None for all
    # The value of a tie: 1 for a hit, 0.5 for half of one; None if the treatment is not about ties, which are failures.
    tie: float | None = None
    used: str = ""  # papers and tools with this treatment


def _after_first(text: str, answer: Surprisals) -> NDArray[np.bool_]:
    return np.arange(len(answer.starts)) > 0


def _before_final_marks(text: str, answer: Surprisals) -> NDArray[np.bool_]:
    """Keep all tokens but those that are only punctuation, or blanks, at the end of the text."""
    visible = text.rstrip()
    while visible and unicodedata.category(visible[-1]).startswith("P"):
        visible = visible[:-1].rstrip()
    # The end-of-text symbol starts at the end of the text.
    return (answer.starts < len(visible)) | (answer.starts >= len(text))


def _without_end(text: str, answer: Surprisals) -> NDArray[np.bool_]:
    return answer.starts < len(text)


TREATMENTS = (
    Treatment(
        "without_first", "the first token does not count, but is read", _after_first,
        used="minicons and BabyLM for models whose tokenizer adds no start symbol, but for the context",
    ),
    Treatment("without_final_mark", "punctuation at the end does not count", _before_final_marks),
    Treatment("without_end", "a scored end-of-text symbol does not count", _without_end),
    Treatment(
        "ties_as_hits", "a tie is a hit", tie=1.0,
        used="lm-evaluation-harness (argmax), BabyLM before April 2026 (torch.max): the good sentence comes first",
    ),
    Treatment(
        "ties_as_half", "a tie is half a hit", tie=0.5,
        used="BabyLM since April 2026, on average: it breaks ties by chance",
    ),
)  # fmt: skip
BY_NAME: Mapping[str, Treatment] = {treatment.name: treatment for treatment in TREATMENTS}
