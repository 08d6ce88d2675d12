"""What a causal model answers about one sequence of tokens."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What is known of one sequence, in bits.

    Arguments:
        bits: shape (length - 1,): surprisal of each token after the first.
        begin: shape (inputs,): surprisal of "a word begins here" after each input token; empty without borders.
        first: surprisal of "a token that can begin a text" after the first input token.
    """

    bits: NDArray[np.float64]
    begin: NDArray[np.float64]
    first: float
