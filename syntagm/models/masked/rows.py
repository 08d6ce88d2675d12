"""The rows to compute with a masked model: a row is a text with masks and one scored position.

Rows with the same input are computed once, regardless of the words under their masks. So a good and a bad sentence that
differ in one word share the row of that word.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from syntagm.models.hugging_face.tokens import Framed


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """A text with masks and one scored position."""

    inputs: NDArray[np.int64]  # shape (inputs,): token ids without masks; rows of the same text share this array
    masked: NDArray[np.int64]  # shape (masks,): the masked positions
    place: int  # the scored position, one of `masked`

    def tokens(self, mask: int) -> NDArray[np.int64]:
        """Return the token ids with masks."""
        seen = self.inputs.copy()
        seen[self.masked] = mask
        return seen

    def digest(self, mask: int) -> bytes:
        """Return a hash of 16 bytes that is equal for rows with the same input and scored position."""
        seen = np.append(self.tokens(mask), self.place)
        return hashlib.blake2b(seen.tobytes(), digest_size=16).digest()


@dataclass(slots=True)
class Plan:
    """The distinct rows to compute, and the targets of each.

    Arguments:
        mask: token id of the mask.
        rows: the rows, without repetitions.
        targets: for each row, tuples of (owner, index, target): which text or gap and which of its tokens or candidates a
            result is for, and the token id to score.
    """

    mask: int
    rows: list[Row] = field(default_factory=list)
    targets: list[list[tuple[int, int, int]]] = field(default_factory=list)
    _numbers: dict[bytes, int] = field(default_factory=dict)

    def ask(self, row: Row, owner: int, index: int, target: int) -> None:
        """Add a token to score in a row."""
        self.targets[self.number(row)].append((owner, index, target))

    def number(self, row: Row) -> int:
        """Return the number of a row; add the row if it is new."""
        number = self._numbers.setdefault(row.digest(self.mask), len(self.rows))
        if number == len(self.rows):
            self.rows.append(row)
            self.targets.append([])
        return number


def plan(
    texts: Iterable[tuple[int, Framed, range]], mask: int, hidden: Callable[[Framed, int], NDArray[np.int64]]
) -> Plan:
    """Plan the rows of texts."""
    rows = Plan(mask)
    for owner, text, indices in texts:
        for index in indices:
            place = int(text.places[index])
            rows.ask(Row(text.inputs, hidden(text, index), place), owner, index, int(text.inputs[place]))
    return rows


def words_in_place(before: Sequence[int], pieces: Sequence[int], after: Sequence[int]) -> list[tuple[Row, int]]:
    """Return the rows that score a word: one for each of its tokens, unmasked from left to right, with the token's id."""
    inputs = np.array([*before, *pieces, *after], np.int64)
    places = np.arange(len(before), len(before) + len(pieces))
    return [(Row(inputs, places[step:], int(place)), pieces[step]) for step, place in enumerate(places)]
