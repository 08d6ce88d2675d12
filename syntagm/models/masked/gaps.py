"""Filling of gaps by masked models: a candidate of one token has one mask, other candidates have a mask for each token.

The most probable entries (`Gap.best`) are those under one mask between the tokens around most candidates.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagm.models.answers import Fill, Gap
from syntagm.models.batching import once
from syntagm.models.hugging_face.entries import Entries
from syntagm.models.hugging_face.tokens import refuse_beyond
from syntagm.models.masked.forward import MaskedForward, Plan, words_in_place
from syntagm.models.masked.in_place import Candidates, Places
from syntagm.models.rank import rank

# Number of gaps in memory at a time; and of their candidates, if candidates of several tokens are scored.
_GAPS, _CANDIDATES = 256, 1 << 15


class Filler:
    """A filler of gaps with a masked model."""

    def __init__(self, forward: MaskedForward, tokenizer: Any, several: bool, model: str) -> None:
        self._forward, self._tokenizer, self._several, self._name = forward, tokenizer, several, model
        self.places, self._entries = Places(tokenizer, model), Entries(tokenizer)

    def fill(self, gaps: Sequence[Gap], done: Callable[[int], None] | None) -> Iterator[Fill]:
        """Return the surprisal of each candidate; see `Masked.fill`."""
        return once(gaps, self._batch, done)

    def _batch(self, waiting: Iterator[Gap]) -> tuple[list[Gap], list[Fill]]:
        """Answer as many gaps as memory allows."""
        first = next(waiting)
        most = max(1, _CANDIDATES // max(1, len(first.words))) if self._several else _GAPS
        batch = [first, *islice(waiting, most - 1)]
        return batch, self._filled(batch)

    def _filled(self, gaps: Sequence[Gap]) -> list[Fill]:
        candidates = [self.places.candidates(gap) for gap in gaps]
        highest = max(gap_candidates.highest for gap_candidates in candidates)
        refuse_beyond(self._tokenizer, "the token", highest, self._forward.symbols, self._name)
        plan = Plan(self._forward.mask)
        whole: dict[int, list[int]] = {}
        fills = [_empty(len(gap.words)) for gap in gaps]
        for owner, gap_candidates in enumerate(candidates):
            needed = (gap_candidates.single >= 0).any() or (gaps[owner].best and gap_candidates.several)
            if needed and self._forward.fits(len(gap_candidates.before) + 1 + len(gap_candidates.after)):
                [(row, _)] = words_in_place(gap_candidates.before, (self._forward.mask,), gap_candidates.after)
                whole.setdefault(plan.number(row), []).append(owner)
            self._ask_others(plan, owner, gap_candidates, fills[owner])
        for batch, logits in self._forward.visit(plan.rows, lambda _, logits: logits.cpu().numpy()):
            for number, row in zip(batch, logits, strict=True):
                for owner in whole.get(number, []):
                    _read_all(row, candidates[owner].single, fills[owner])
                    if gaps[owner].best:
                        best = self._entries.best(row, gaps[owner].left, gaps[owner].best)
                        fills[owner] = replace(fills[owner], best=best)
                _read_targets(row, plan.targets[number], fills)
        self._mark_unknown(candidates, fills)
        return fills

    def _ask_others(self, plan: Plan, owner: int, candidates: Candidates, fill: Fill) -> None:
        """Plan rows for the candidates that don't share the row of most candidates."""
        others = {index: (candidates.before, pieces, candidates.after) for index, pieces in candidates.several.items()}
        others |= {index: (odd.before, odd.pieces, odd.after) for index, odd in candidates.odd.items()}
        for index, (before, pieces, after) in others.items():
            if self._forward.fits(len(before) + len(pieces) + len(after)) and (len(pieces) == 1 or self._several):
                fill.bits[index] = 0.0
                for row, target in words_in_place(before, pieces, after):
                    # Candidates of one token have a rank, others have none.
                    plan.ask(row, owner, index if len(pieces) == 1 else -1 - index, target)

    def _mark_unknown(self, candidates: Sequence[Candidates], fills: Sequence[Fill]) -> None:
        unknown = self._tokenizer.unk_token_id
        for gap_candidates, fill in zip(candidates, fills, strict=True):
            fill.in_vocabulary[gap_candidates.single == unknown] = False
            for index, pieces in [
                *gap_candidates.several.items(),
                *((index, odd.pieces) for index, odd in gap_candidates.odd.items()),
            ]:
                fill.in_vocabulary[index] = unknown not in pieces


def _empty(words: int) -> Fill:
    bits, above, below = np.full((3, words), np.nan)
    return Fill(bits, above, below, np.ones(words, bool))


def _read_all(logits: NDArray[Any], single: NDArray[Any], fill: Fill) -> None:
    """Read all candidates of one token from one row."""
    words = np.flatnonzero(single >= 0)
    fill.bits[words], fill.above[words], fill.below[words] = rank(logits, single[words])


def _read_targets(logits: NDArray[Any], targets: Sequence[tuple[int, int, int]], fills: Sequence[Fill]) -> None:
    """Read single targets; a negative index -1 - i stands for candidate i, which has several tokens."""
    if not targets:
        return
    bits, above, below = rank(logits, np.array([target for _, _, target in targets]))
    for number, (owner, index, _) in enumerate(targets):
        fills[owner].bits[index if index >= 0 else -1 - index] += bits[number]
        if index >= 0:
            fills[owner].above[index], fills[owner].below[index] = above[number], below[number]
