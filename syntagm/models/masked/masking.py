"""Kinds of masking: which tokens of a text are masked when one of them is scored.

Each kind is a record in this file. The option `masking`, its help and table, methods paragraphs, citations, names and
signatures all derive from these records.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from syntagm.models.hugging_face.tokens import Framed


@dataclass(frozen=True, slots=True)
class Masking:
    name: str  # the value of the option `masking`
    # Function from a text and the index of the scored token to the positions (in `Framed.inputs`) to mask, including
    # the scored token's own; shape (masks,).
    hidden: "Callable[[Framed, int], NDArray[np.int64]]"
    help: str  # what is masked, in Markdown
    words: str  # what is masked, as a phrase that follows "masking" in a methods paragraph
    references: tuple[str, ...] = ()  # keys of the bibliography
    # What the surprisal of a token depends on. A rule that also masks all later tokens of the text leaves the text
    # before the token, and the number of tokens after it.
    sees: Literal["both", "left and length"] = "both"


def token(text: "Framed", index: int) -> NDArray[np.int64]:
    return text.places[index : index + 1]


def rest_of_word(text: "Framed", index: int) -> NDArray[np.int64]:
    """Return the positions of the token and of the later tokens of its word."""
    other_words = np.flatnonzero(text.words[index:] != text.words[index])
    return text.places[index : index + (int(other_words[0]) if len(other_words) else len(text.words))]


KINDS = (
    Masking(
        "token",
        token,
        "only the scored token is masked (Salazar et al. 2020)",
        "one token at a time",
    ),
    Masking(
        "word",
        rest_of_word,
        "the later tokens of its word are masked, too (Kauf & Ivanova 2023), so that the end of a rare word does not give away "
        "its beginning. Words are those of the tokenizer's pre-tokenisation",
        "a token and the rest of its word",
        ("kauf-ivanova-2023-better",),
    ),
)
MASKINGS = {kind.name: kind for kind in KINDS}
