"""How gaps are filled: one mask in the place of a candidate of one token, a mask for each token of others."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagm.answers import Fill, Gap
from syntagm.models.batching import once
from syntagm.models.masked.forward import MaskedForward
from syntagm.models.masked.in_place import Candidates, Places
from syntagm.models.masked.rows import Plan, words_in_place
from syntagm.models.rank import rank

# What stands in memory at a time: gaps asked, and their candidates where those of several tokens count.
_GAPS, _CANDIDATES = 256, 1 << 15


class Filler:
    """Fills gaps with one masked model.

    Attributes:
        places: what tokens candidates become in their place.
    """

    def __init__(self, forward: MaskedForward, tokenizer: Any, several: bool, model: str) -> None:
        self._forward, self._tokenizer, self._several, self._name = forward, tokenizer, several, model
        self.places = Places(tokenizer, model)

    def fill(self, blanks: Sequence[Gap], done: Callable[[int], None] | None) -> Iterator[Fill]:
        """Return the surprisal of each candidate; see `Masked.fill`."""
        return once(blanks, self._some, done)

    def _some(self, waiting: Iterator[Gap]) -> tuple[list[Gap], list[Fill]]:
        """As many of the blanks as memory allows."""
        first = next(waiting)
        most = max(1, _CANDIDATES // max(1, len(first.words))) if self._several else _GAPS
        portion = [first, *islice(waiting, most - 1)]
        return portion, self._filled(portion)

    def _filled(self, blanks: Sequence[Gap]) -> list[Fill]:
        candidates = [self.places.candidates(blank) for blank in blanks]
        self._forward.refuse_beyond(max(one.highest for one in candidates), self._tokenizer, self._name)
        made = Plan(self._forward.mask)
        whole: dict[int, list[int]] = {}
        fills = [_nothing(len(blank.words)) for blank in blanks]
        for owner, one in enumerate(candidates):
            if (one.single >= 0).any() and self._forward.fits(len(one.before) + 1 + len(one.after)):
                [(row, _)] = words_in_place(one.before, (self._forward.mask,), one.after)
                whole.setdefault(made.number(row), []).append(owner)
            self._ask_others(made, owner, one, fills[owner])
        for batch, logits in self._forward.logits(made.rows):
            for number, row in zip(batch, logits.cpu().numpy(), strict=True):
                for owner in whole.get(number, []):
                    _read_whole(row, candidates[owner].single, fills[owner])
                _read_some(row, made.asked[number], fills)
        self._mark_unknown(candidates, fills)
        return fills

    def _ask_others(self, made: Plan, owner: int, one: Candidates, fill: Fill) -> None:
        """Ask for the words that are not one token between the same others as most."""
        others = {index: (one.before, pieces, one.after) for index, pieces in one.several.items()}
        others |= {index: (odd.before, odd.pieces, odd.after) for index, odd in one.odd.items()}
        for index, (before, pieces, after) in others.items():
            if self._forward.fits(len(before) + len(pieces) + len(after)) and (len(pieces) == 1 or self._several):
                fill.bits[index] = 0.0
                for row, target in words_in_place(before, pieces, after):
                    # One token has a rank; several have not.
                    made.ask(row, owner, index if len(pieces) == 1 else -1 - index, target)

    def _mark_unknown(self, candidates: Sequence[Candidates], fills: Sequence[Fill]) -> None:
        unknown = self._tokenizer.unk_token_id
        for one, fill in zip(candidates, fills, strict=True):
            fill.in_vocabulary[one.single == unknown] = False
            for index, pieces in [*one.several.items(), *((index, odd.pieces) for index, odd in one.odd.items())]:
                fill.in_vocabulary[index] = unknown not in pieces


def _nothing(words: int) -> Fill:
    bits, above, below = np.full((3, words), np.nan)
    return Fill(bits, above, below, np.ones(words, bool))


def _read_whole(logits: NDArray[Any], single: NDArray[Any], fill: Fill) -> None:
    """All candidates of one token at once."""
    asked = np.flatnonzero(single >= 0)
    fill.bits[asked], fill.above[asked], fill.below[asked] = rank(logits, single[asked])


def _read_some(logits: NDArray[Any], asked: Sequence[tuple[int, int, int]], fills: Sequence[Fill]) -> None:
    """Tokens one by one; a negative index is that of a word of several."""
    if not asked:
        return
    bits, above, below = rank(logits, np.array([target for _, _, target in asked]))
    for number, (owner, index, _) in enumerate(asked):
        fills[owner].bits[index if index >= 0 else -1 - index] += bits[number]
        if index >= 0:
            fills[owner].above[index], fills[owner].below[index] = above[number], below[number]
