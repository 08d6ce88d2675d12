"""Kinds of masking: which tokens of a text a masked model does not see when one of them is asked about.

A kind is one record here. The option `masking`, its help and table, the methods paragraph, citations, names and signatures derive
from the records; nothing else knows their names.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from syntagm.models.hugging_face.tokens import Framed


@dataclass(frozen=True, slots=True)
class Masking:
    """A kind of masking.

    Arguments:
        name: the value of the option `masking`.
        hidden: the rule. From a text and the index of one of its tokens to the places (in `Framed.inputs`) that are masked when
            that token is asked about, its own among them; shape (masks,).
        help: what is masked, in Markdown.
        words: what is masked, as a methods paragraph says it after "masking".
        references: keys of the bibliography.
    """

    name: str
    hidden: "Callable[[Framed, int], NDArray[np.int64]]"
    help: str
    words: str
    references: tuple[str, ...] = ()


def token(text: "Framed", index: int) -> NDArray[np.int64]:
    """Return the place of a token alone."""
    return text.places[index : index + 1]


def rest_of_word(text: "Framed", index: int) -> NDArray[np.int64]:
    """Return the places of a token and of the tokens of its word after it."""
    other = np.flatnonzero(text.words[index:] != text.words[index])
    return text.places[index : index + (int(other[0]) if len(other) else len(text.words))]


KINDS = (
    Masking(
        "token",
        token,
        "each token is masked alone, and its bits are those of the token under the mask (Salazar et al. 2020)",
        "one token at a time",
    ),
    Masking(
        "word",
        rest_of_word,
        "the later tokens of its word are masked, too (Kauf & Ivanova 2023), so that the end of a rare word does not give its "
        "beginning away. A word is what the tokenizer's own division of the text makes one",
        "a token and the rest of its word",
        ("kauf-ivanova-2023-better",),
    ),
)
MASKINGS = {kind.name: kind for kind in KINDS}
