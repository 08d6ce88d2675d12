"""Which rows a masked model must be asked: texts with masks, each asked about one place.

Rows that are the same to the model are asked once, whatever stood under their masks: good and bad sentences that differ in
one word have the row of that word in common.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from syntagm.models.hugging_face.tokens import Framed


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """Token numbers with masks over some of them, asked about at one place.

    Arguments:
        inputs: shape (inputs,): token numbers, unmasked; many rows share them.
        masked: shape (masks,): the places that are masked.
        place: which of them is asked about.
    """

    inputs: NDArray[np.int64]
    masked: NDArray[np.int64]
    place: int

    def tokens(self, mask: int) -> NDArray[np.int64]:
        """The token numbers that the model sees."""
        seen = self.inputs.copy()
        seen[self.masked] = mask
        return seen

    def digest(self, mask: int) -> bytes:
        """Equal for rows that are the same to the model, whatever stood under the masks. 16 bytes, since rows are long."""
        seen = np.append(self.tokens(mask), self.place)
        return hashlib.blake2b(seen.tobytes(), digest_size=16).digest()


@dataclass(slots=True)
class Plan:
    """Rows, each once, and what is asked of each.

    Arguments:
        mask: the number of the mask.
        rows: different from each other.
        asked: for each row, what the numbers are for and which token number is asked: (owner, index, target).
    """

    mask: int
    rows: list[Row] = field(default_factory=list)
    asked: list[list[tuple[int, int, int]]] = field(default_factory=list)
    _known: dict[bytes, int] = field(default_factory=dict)

    def ask(self, row: Row, owner: int, index: int, target: int) -> None:
        """Ask a row for a token's bits."""
        self.asked[self.number(row)].append((owner, index, target))

    def number(self, row: Row) -> int:
        """The number of a row, which is added if there is none like it."""
        number = self._known.setdefault(row.digest(self.mask), len(self.rows))
        if number == len(self.rows):
            self.rows.append(row)
            self.asked.append([])
        return number


def plan(texts: Iterable[tuple[int, Framed]], mask: int, hidden: Callable[[Framed, int], NDArray[np.int64]]) -> Plan:
    """The rows of texts, each with its owner's number.

    Arguments:
        hidden: the rule of a kind of masking; see `Masking`.
    """
    made = Plan(mask)
    for owner, text in texts:
        for index, place in enumerate(text.places.tolist()):
            made.ask(Row(text.inputs, hidden(text, index), place), owner, index, int(text.inputs[place]))
    return made


def words_in_place(before: Sequence[int], pieces: Sequence[int], after: Sequence[int]) -> list[tuple[Row, int]]:
    """A word's rows with a mask for each of its tokens, unmasked from left to right; each with the token asked about."""
    inputs = np.array([*before, *pieces, *after], np.int64)
    places = np.arange(len(before), len(before) + len(pieces))
    return [(Row(inputs, places[step:], int(place)), pieces[step]) for step, place in enumerate(places)]
