"""Filling of gaps by masked models: a candidate of one token has one mask, other candidates have a mask for each token.

The most probable entries (`Gap.best`) are those under one mask between the tokens around most candidates.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syntagm.models.answers import Fill, Gap
from syntagm.models.hugging_face.tokens import Entries, Framed, frame, refuse_beyond
from syntagm.models.masked.forward import MaskedForward, Plan, words_in_place
from syntagm.models.rank import rank
from syntagm.models.windows import once

# A candidate is never tokenised alone, since its tokens depend on the text that it touches, up to the next spaces. To
# avoid tokenising thousands of candidates in thousands of contexts, the full list of candidates is tokenised only in
# the first context of each kind. In further contexts, only the first and the last candidate are tokenised, to check
# that their tokens are the same.

# Number of kinds of contexts in the cache, each with all candidates.
_KINDS = 32
_TOUCHING_LEFT, _TOUCHING_RIGHT = re.compile(r"\s*\S*\Z"), re.compile(r"\S*\s?")


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A word in its sentence: the token ids before it, its own, and those after it, including special symbols."""

    before: tuple[int, ...]
    pieces: tuple[int, ...]
    after: tuple[int, ...]

    @property
    def around(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return self.before, self.after


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The tokenised candidates of a gap."""

    before: tuple[int, ...]  # token ids before most candidates, including special symbols
    after: tuple[int, ...]  # token ids after most candidates
    # Shape (words,): the token id of each candidate that is one token between `before` and `after`, else -1.
    single: NDArray[np.int64]
    # Index -> token ids of each candidate that is several tokens between `before` and `after`.
    several: dict[int, tuple[int, ...]]
    odd: dict[int, Placed]  # index -> candidates that change the tokens around them

    @property
    def highest(self) -> int:
        """The highest token id of the candidates and of the text around them."""
        odd = [(*word.before, *word.pieces, *word.after) for word in self.odd.values()]
        rows = [self.before, self.after, *self.several.values(), *odd]
        return max(0, int(self.single.max(initial=0)), *(max(row, default=0) for row in rows))


class Places:
    """A tokenizer of words in gaps, with a cache."""

    def __init__(self, tokenizer: Any, model: str) -> None:
        self._tokenizer, self._model = tokenizer, model
        self._cache: dict[tuple[object, ...], Candidates] = {}

    def candidates(self, gap: Gap) -> Candidates:
        """Tokenise the candidates of a gap. A candidate that does not consist of whole tokens appears in none of the fields."""
        left, right = _TOUCHING_LEFT.search(gap.left), _TOUCHING_RIGHT.match(gap.right)
        assert left is not None
        assert right is not None
        # At the beginning and the end of a text, a word may have other tokens.
        key = (left[0], left.start() == 0, right[0], right.end() == len(gap.right), gap.words)
        if (cached := self._cache.get(key)) and (candidates := self._reused(gap, cached)):
            return candidates
        candidates = _grouped(self.place(gap, gap.words), len(gap.words))
        if len(self._cache) == _KINDS:
            del self._cache[next(iter(self._cache))]
        self._cache[key] = candidates
        return candidates

    def _reused(self, gap: Gap, cached: Candidates) -> Candidates | None:
        """Return cached candidates for another sentence if its first and last word have the cached tokens; else None."""
        whole = np.flatnonzero(cached.single >= 0)
        if not len(whole) or cached.odd:
            return None
        first, last = self.place(gap, [gap.words[index] for index in (whole[0], whole[-1])])
        pieces = (int(cached.single[whole[0]]),), (int(cached.single[whole[-1]]),)
        if first is None or last is None or (first.pieces, last.pieces) != pieces or first.around != last.around:
            return None
        return Candidates(*first.around, cached.single, cached.several, {})

    def place(self, gap: Gap, words: Sequence[str]) -> list[Placed | None]:
        """Tokenise each word in its sentence; return None for a word that does not consist of whole tokens."""
        texts = [gap.left + word + gap.right for word in words]
        framed = frame(self._tokenizer, texts, self._model)
        begin = len(gap.left)
        return [
            _placed(text, sentence, begin, begin + len(word))
            for text, sentence, word in zip(texts, framed, words, strict=True)
        ]


def _placed(text: str, framed: Framed, begin: int, end: int) -> Placed | None:
    """Return the word between two characters, and the white space before it; None if it does not consist of whole tokens."""
    starts, lowest = framed.tokens.starts, len(text[:begin].rstrip())
    inside = np.flatnonzero((starts >= lowest) & (starts < end))
    if begin == end or lowest not in starts:
        return None
    after = inside[-1] + 1
    if text[end : starts[after] if after < len(starts) else len(text)].strip():
        return None
    numbers, place, stop = framed.inputs.tolist(), framed.places[inside[0]], framed.places[inside[-1]] + 1
    return Placed(tuple(numbers[:place]), tuple(numbers[place:stop]), tuple(numbers[stop:]))


def _grouped(placed: Sequence[Placed | None], words: int) -> Candidates:
    whole = {index: word for index, word in enumerate(placed) if word}
    surroundings = [word.around for word in whole.values()] or [((), ())]
    [((before, after), _)] = Counter(surroundings).most_common(1)
    single = np.full(words, -1, np.int64)
    several: dict[int, tuple[int, ...]] = {}
    odd: dict[int, Placed] = {}
    for index, word in whole.items():
        if word.around != (before, after):
            odd[index] = word
        elif len(word.pieces) == 1:
            single[index] = word.pieces[0]
        else:
            several[index] = word.pieces
    return Candidates(before, after, single, several, odd)


# Number of gaps in memory at a time; and of their candidates, if candidates of several tokens are scored.
_GAPS, _CANDIDATES = 256, 1 << 15


class Filler:
    def __init__(self, forward: MaskedForward, tokenizer: Any, several: bool, model: str) -> None:
        self._forward, self._tokenizer, self._several, self._name = forward, tokenizer, several, model
        self.places, self._entries = Places(tokenizer, model), Entries(tokenizer)

    def fill(self, gaps: Sequence[Gap], done: Callable[[int], None] | None) -> Iterator[Fill]:
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
