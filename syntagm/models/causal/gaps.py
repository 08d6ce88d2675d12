"""Blanks answered by a causal transformer, from what stands before them; exact for candidates of any number of tokens.

Two passes. The first runs the contexts, prefixes shared, and reads after each its last token: the first tokens of all candidates,
and how they rank. The second runs what is below each context, and only if there is something: the beginnings of candidates of
several tokens, and the last token of each candidate if the end of words is charged.

    P(w | c) = prod_i P(t_i | c, t_<i) * B(c w) / B(c)

with B(x) the probability that the word before has ended (`_ends.py`). At the beginning of a text B(c) is the probability of a
token that texts can begin with; after a character that is no blank, where the word goes on, it is left out.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from syntagm.answers import Fill, Gap
from syntagm.errors import ModelError
from syntagm.models import rank
from syntagm.models.batching import once
from syntagm.models.causal.branches import Branches, Part, grow
from syntagm.models.causal.candidates import Spelled, Speller
from syntagm.models.causal.forward import Forward
from syntagm.models.causal.prefix_tree import Pack, plan
from syntagm.models.causal.word_ends import Ends

Numbers = NDArray[np.float64]
# What stands before a blank, and which list of words may stand in it.
Asked = tuple[str, int]
# Contexts answered at once, and nodes below them, in batches.
_CONTEXTS, _BATCHES = 256, 8
_PART, _LONGEST = 128, 1024


@dataclass(slots=True, eq=False)
class _Group:
    """Candidates after one context, and what is known of them so far.

    Arguments:
        context: what goes through the model before them, start symbol included; empty if the model can't be asked.
        bits: shape (nodes,): surprisal of each node of the branches.
        ended: shape (nodes,): surprisal of the word's end after it; 0 where it isn't asked for.
        opening: shape (2,): surprisal of the sets `ends` and `first` after the context.
        above, below: shape (candidates,): as in `Fill`.
    """

    spelled: Spelled
    branches: Branches
    context: tuple[int, ...]
    bits: Numbers
    ended: Numbers
    opening: Numbers
    above: Numbers
    below: Numbers


class Filler:
    """Fills blanks by a model's forward passes.

    Arguments:
        start: the start symbol, if one stands before a text.
        ends: which tokens follow a whole word; None: what candidates cost is the sum of their tokens.
    """

    def __init__(self, forward: Forward, tokenizer: Any, start: int | None, ends: Ends | None, name: str) -> None:
        self._forward, self._start, self._ends, self._name = forward, start, ends, name
        self.speller = Speller(tokenizer, name)
        self._sets: NDArray[np.float64] | None = None
        self._watched: torch.Tensor | None = None
        if ends is not None and ends.ends is not None:
            first = ends.ends if ends.first is None else ends.first
            self._sets = np.stack([ends.ends, first], axis=1).astype(np.float64)
            self._watched = torch.tensor(self._sets[:, :1], device=forward.device, dtype=forward.head.wide)
        self._grown: OrderedDict[int, tuple[object, Branches]] = OrderedDict()

    def fill(self, blanks: Sequence[Gap], done: Callable[[int], None] | None) -> Iterator[Fill]:
        """See `LanguageModel.fill`."""
        lists: dict[tuple[str, ...], int] = {}
        keys: list[Asked] = [(blank.left, lists.setdefault(blank.words, len(lists))) for blank in blanks]
        words = list(lists)
        return once(keys, lambda waiting: self._portion(waiting, words), done)

    def _portion(self, waiting: Iterator[Asked], words: Sequence[tuple[str, ...]]) -> tuple[list[Asked], list[Fill]]:
        """As many of the waiting blanks as are answered at once."""
        portion: list[Asked] = []
        asked: list[list[_Group]] = []
        nodes = 0
        for left, number in waiting:
            asked.append([self._group(spelled) for spelled in self.speller.spelled(left, words[number])])
            portion.append((left, number))
            nodes += sum(len(part.nodes) for group in asked[-1] for part in group.branches.parts(_PART))
            if len(portion) >= _CONTEXTS or nodes >= _BATCHES * self._forward.budget.tokens:
                break
        answerable = [group for groups in asked for group in groups if group.context]
        self._contexts(answerable)
        self._below(answerable)
        return portion, [
            self._answer(len(words[number]), groups) for (_, number), groups in zip(portion, asked, strict=True)
        ]

    def _group(self, spelled: Spelled) -> _Group:
        context = (*(() if self._start is None else (self._start,)), *spelled.before)
        branches = self._branches(spelled)
        self._refuse_beyond(max(*context, int(branches.tokens.max()), 0))
        unknown, nothing = np.full(len(branches.tokens), np.nan), np.full(len(spelled.tokens), np.nan)
        ended = unknown.copy() if branches.ended else np.zeros(len(unknown))
        # Beyond the positions that a model has nothing is defined.
        reached = context if len(context) <= self._forward.limit else ()
        return _Group(spelled, branches, reached, unknown, ended, np.zeros(2), nothing, nothing.copy())

    def _refuse_beyond(self, highest: int) -> None:
        if highest >= self._forward.symbols:
            raise ModelError(
                self._name, f"the token number {highest} in a blank or before it",
                f"numbers below {self._forward.symbols}, the model's rows", "Does the tokenizer belong to the model?",
            )  # fmt: skip

    def _branches(self, spelled: Spelled) -> Branches:
        """The tree of a list of candidates; one list stands in many blanks."""
        key = id(spelled.tokens)
        if key not in self._grown:
            self._grown[key] = (spelled.tokens, grow(spelled.tokens, self._sets is not None))
            if len(self._grown) > 16:
                self._grown.popitem(last=False)
        self._grown.move_to_end(key)
        return self._grown[key][1]

    def _contexts(self, groups: Sequence[_Group]) -> None:
        """The first pass: what comes right after each context."""
        after: dict[tuple[int, ...], list[_Group]] = {}
        for group in groups:
            after.setdefault(group.context, []).append(group)
        contexts = list(after)

        for tree in (True, False):
            packs = self._packs(contexts, tree)
            nodes = [np.array([path[-1] for path in pack.paths], np.int64) for pack in packs]

            def read(here: range, logits: Iterator[tuple[int, torch.Tensor]], packs: list[Pack] = packs) -> None:
                order = [contexts[index] for at in here for index in packs[at].sequences]
                for first, rows in logits:
                    for context, row in zip(order[first:], _numbers(rows), strict=False):
                        self._read_context(row, after[context])

            self._forward.visit(packs, nodes, tree, read)

    def _packs(self, contexts: Sequence[tuple[int, ...]], tree: bool) -> list[Pack]:
        """The contexts that can share prefixes, or those that can't."""
        forward = self._forward
        short = min(forward.window, _LONGEST) if forward.tree else 0
        chosen = [index for index, context in enumerate(contexts) if (len(context) <= short) == tree]
        if tree:
            size = min(_PART, forward.budget.tokens, forward.window, forward.limit)
            return sorted(plan(contexts, size, True, chosen), key=lambda pack: len(pack.tokens))
        chosen.sort(key=lambda index: len(contexts[index]))
        return [pack for index in chosen for pack in plan(contexts, 1, True, [index])]

    def _read_context(self, logits: NDArray[np.floating], groups: Sequence[_Group]) -> None:
        for group in groups:
            roots = group.branches.roots
            bits, above, below = rank.rank(logits, group.branches.tokens[roots])
            group.bits[roots] = bits
            whole = np.flatnonzero(group.branches.depth == 1)
            place = np.searchsorted(roots, group.branches.last[whole])
            group.above[whole], group.below[whole] = above[place], below[place]
            if self._sets is not None:
                group.opening = rank.masses(logits, self._sets)

    def _below(self, groups: Sequence[_Group]) -> None:
        """The second pass: what comes after the beginnings of candidates, and after their last tokens."""
        for tree in (True, False):
            asked = [
                (group, part)
                for group in groups
                if bool(size := self._size(group)) == tree
                for part in (group.branches.parts(size) if tree else self._chains(group))
            ]
            packs = [part.pack.below(group.context) for group, part in asked]
            nodes = [
                np.arange(len(group.context), len(pack.tokens)) for pack, (group, _) in zip(packs, asked, strict=True)
            ]

            def read(
                here: range, logits: Iterator[tuple[int, torch.Tensor]], asked: list[tuple[_Group, Part]] = asked
            ) -> None:
                self._read_below([asked[index] for index in here], logits)

            self._forward.visit(packs, nodes, tree, read)

    def _size(self, group: _Group) -> int:
        """How many nodes of a tree go below the context at once; 0: each beginning goes by itself."""
        forward = self._forward
        room = min(forward.budget.tokens, forward.window, forward.limit, _LONGEST) - len(group.context)
        deepest = int(group.branches.depth.max()) - (not group.branches.ended)
        if not forward.tree or room < max(1, deepest):
            return 0
        # A power of two, so that contexts of many lengths have few plans.
        return min(_PART if len(group.context) <= _PART else 2 * _PART, 1 << (room.bit_length() - 1))

    def _chains(self, group: _Group) -> Iterator[Part]:
        """The beginnings one by one, as far as the model's positions reach."""
        if (room := self._forward.limit - len(group.context)) > 0:
            for part in group.branches.parts(0):
                yield part.cut(room)

    def _read_below(self, asked: Sequence[tuple[_Group, Part]], logits: Iterator[tuple[int, torch.Tensor]]) -> None:
        counts = [len(part.nodes) for _, part in asked]
        rows = np.cumsum(counts) - counts
        places = np.concatenate([row + part.places for row, (_, part) in zip(rows, asked, strict=True)])
        targets = np.concatenate([group.branches.tokens[part.targets] for group, part in asked])
        bits, sets = self._forward.head.read(logits, sum(counts), places, targets, self._watched)
        at = 0
        for row, (group, part) in zip(rows, asked, strict=True):
            group.bits[part.targets] = bits[at : at + len(part.targets)]
            at += len(part.targets)
            if group.branches.ended:
                group.ended[part.nodes] = sets[row : row + len(part.nodes), 0]

    def _answer(self, candidates: int, groups: Sequence[_Group]) -> Fill:
        bits, above, below = np.full((3, candidates), np.nan)
        known = np.zeros(candidates, bool)
        for group in groups:
            places, branches = group.spelled.places, group.branches
            bits[places] = branches.sums(group.bits) + group.ended[branches.last] - self._opening(group)
            above[places], below[places], known[places] = group.above, group.below, group.spelled.in_vocabulary
        return Fill(bits, above, below, known)

    def _opening(self, group: _Group) -> Numbers:
        """The surprisal of what is taken for granted: a word may begin here, or a text may begin so."""
        firsts = group.branches.tokens[group.branches.first]
        if self._ends is None or self._ends.ends is None or self._ends.first is None:
            return np.zeros(len(firsts))
        ended = np.where(self._ends.ends[firsts], group.opening[0], 0.0)
        return ended if group.spelled.before else np.where(self._ends.first[firsts], group.opening[1], ended)


def _numbers(rows: torch.Tensor) -> NDArray[np.floating]:
    wide = rows if rows.dtype in (torch.float32, torch.float64) else rows.float()
    found: NDArray[np.floating] = wide.cpu().numpy()
    return found
