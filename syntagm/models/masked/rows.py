"""Which rows a masked model must be asked: texts, with masks over one token or over the rest of its word.

Rows that are the same to the model are asked once, whatever stood under their masks: good and bad sentences that differ in
one word have the row of that word in common.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from syntagm.models.hugging_face.tokens import Framed
from syntagm.models.masked.forward import Row


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


def plan(texts: Iterable[tuple[int, Framed]], mask: int, whole_words: bool) -> Plan:
    """The rows of texts, each with its owner's number.

    Arguments:
        whole_words: mask the later tokens of a word, too (Kauf & Ivanova 2023).
    """
    made = Plan(mask)
    for owner, text in texts:
        for index, place in enumerate(text.places.tolist()):
            masked = later(text, index) if whole_words else text.places[index : index + 1]
            made.ask(Row(text.inputs, masked, place), owner, index, int(text.inputs[place]))
    return made


def later(text: Framed, index: int) -> NDArray[np.int64]:
    """The places of a token and of the tokens of its word after it."""
    other = np.flatnonzero(text.words[index:] != text.words[index])
    return text.places[index : index + (int(other[0]) if len(other) else len(text.words))]


def words_in_place(before: Sequence[int], pieces: Sequence[int], after: Sequence[int]) -> list[tuple[Row, int]]:
    """A word's rows with a mask for each of its tokens, unmasked from left to right; each with the token asked about."""
    inputs = np.array([*before, *pieces, *after], np.int64)
    places = np.arange(len(before), len(before) + len(pieces))
    return [(Row(inputs, places[step:], int(place)), pieces[step]) for step, place in enumerate(places)]
