"""The results of a causal model for one sequence of tokens."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The results for one sequence, in bits."""

    # Shape (length - 1 - skipped,): surprisal of each token after the first and after those that are only context.
    bits: NDArray[np.float64]
    # Shape (inputs,): surprisal of the event "a word begins here" after each input token; empty without borders.
    begin: NDArray[np.float64]
    first: float  # surprisal of the event "a token that can begin a text" after the first input token
    # Shape (2, length - 1 - skipped): the entropy before each of these tokens in bits, and its rank; None if they were
    # not wanted.
    reductions: NDArray[np.float64] | None = None
