"""Filling of gaps by a causal transformer from the text before them; exact for candidates of any number of tokens.

There are two passes. The first computes the contexts, with shared prefixes, and gives the surprisals and ranks of the first
tokens of all candidates. The second computes the candidates below each context: the prefixes of candidates of several tokens,
and the last token of each candidate if the ends of words are scored. It is skipped if there is nothing to compute.

    P(w | c) = prod_i P(t_i | c, t_<i) * B(c w) / B(c)

B(x) is the probability that the last word of x has ended (`word_ends`). At the beginning of a text, B(c) is the
probability of a token that can begin a text. If the gap continues a word, after a character other than a space, the
factor 1 / B(c) is omitted.

The most probable entries (`Gap.best`) are single tokens directly after the context, with P(t | c): without B, since an entry
may be the beginning of a longer word.
"""

import json
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from syntagm.core import UsageError
from syntagm.models import rank
from syntagm.models.answers import Entry, Fill, Gap
from syntagm.models.causal.candidates import Branches, Part, Spelled, Speller, grow
from syntagm.models.causal.forward import Forward
from syntagm.models.causal.prefix_tree import Pack, plan
from syntagm.models.hugging_face.tokens import Borders, Entries, refuse_beyond, speller, word_borders
from syntagm.models.windows import once

# Tokenizers mark ends of words in one of three ways. In the first, a space belongs to the token after it (GPT-2,
# Llama): a word has ended if the next token begins with white space or a punctuation mark, or is the end-of-text
# symbol. In the second, tokens that continue a word are marked (WordPiece): a word has ended if the next token is not
# marked. In the third, each word is one token, or its last token is marked.


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """The sets that the word-boundary correction of gaps sums over."""

    # Shape (vocabulary,), bool: whether the token shows that the word before it has ended; None if a word's own tokens
    # show its end.
    ends: NDArray[np.bool_] | None
    # Shape (vocabulary,), bool: whether the token can be the first of a text; None if each token shows whether it
    # begins a word.
    first: NDArray[np.bool_] | None


def word_ends(tokenizer: Any, size: int, end: int | None) -> Ends:
    backend = tokenizer.backend_tokenizer
    model = json.loads(backend.to_str())["model"]
    if model.get("type") == "WordLevel" or model.get("end_of_word_suffix"):
        return Ends(None, None)
    if prefix := model.get("continuing_subword_prefix"):
        return Ends(_not_continuing(tokenizer, size, prefix), None)
    borders = _borders(tokenizer, size, end)
    ends = borders.begins.copy()
    spelled = speller(tokenizer)
    special = set(tokenizer.all_special_ids)
    for token, number in tokenizer.get_vocab().items():
        if number < size and number not in special and _is_punctuation(spelled(token)[:1]):
            ends[number] = True
    return Ends(ends, borders.first)


def _borders(tokenizer: Any, size: int, end: int | None) -> Borders:
    try:
        return word_borders(tokenizer, size, end)
    except UsageError as error:
        raise UsageError("model option fill=word", error.found, error.expected, "Use fill=token.") from None


def _not_continuing(tokenizer: Any, size: int, prefix: str) -> NDArray[np.bool_]:
    ends = np.zeros(size, bool)
    for token, number in tokenizer.get_vocab().items():
        if number < size:
            ends[number] = not token.startswith(prefix)
    return ends


def _is_punctuation(character: str) -> bool:
    """Return whether a character is punctuation: not a letter, digit, combining mark or white space."""
    return bool(character) and not (
        character.isalnum()
        or character.isspace()
        or unicodedata.category(character)[0] in "MC"
        or character == "\ufffd"
    )


Numbers = NDArray[np.float64]
# The text before a gap, the number of its list of candidates, and the number of most probable entries.
Key = tuple[str, int, int]
# Number of contexts answered at a time; and of nodes below them, in batches.
_CONTEXTS, _BATCHES = 256, 8
_PART, _LONGEST = 128, 1024


@dataclass(slots=True, eq=False)
class _Group:
    """Candidates after one context, with the results so far."""

    spelled: Spelled  # the tokenised candidates
    branches: Branches  # their tree
    # Token ids before the candidates, including bos; empty if the model can't score the candidates.
    context: tuple[int, ...]
    bits: Numbers  # shape (nodes,): surprisal of each node of the branches
    ended: Numbers  # shape (nodes,): surprisal of the word's end after each node; 0 if it is not computed
    opening: Numbers  # shape (2,): surprisal of the sets `ends` and `first` after the context
    above: Numbers  # `above`, `below`: shape (candidates,): as in `Fill`
    below: Numbers
    left: str  # the text before the gap
    count: int = 0  # the number of most probable entries to list after this context
    best: tuple[Entry, ...] = ()


class Filler:
    def __init__(self, forward: Forward, tokenizer: Any, start: int | None, ends: Ends | None, name: str) -> None:
        self._forward, self._start, self._ends, self._name = forward, start, ends, name
        self._tokenizer, self.speller, self._entries = tokenizer, Speller(tokenizer, name), Entries(tokenizer)
        self._sets: NDArray[np.float64] | None = None
        self._watched: torch.Tensor | None = None
        if ends is not None and ends.ends is not None:
            first = ends.ends if ends.first is None else ends.first
            self._sets = np.stack([ends.ends, first], axis=1).astype(np.float64)
            self._watched = torch.tensor(self._sets[:, :1], device=forward.head.device, dtype=forward.head.wide)
        self._trees: OrderedDict[int, tuple[object, Branches]] = OrderedDict()

    def fill(self, gaps: Sequence[Gap], done: Callable[[int], None] | None) -> Iterator[Fill]:
        lists: dict[tuple[str, ...], int] = {}
        keys: list[Key] = [(gap.left, lists.setdefault(gap.words, len(lists)), gap.best) for gap in gaps]
        words = list(lists)
        return once(keys, lambda waiting: self._batch(waiting, words), done)

    def _batch(self, waiting: Iterator[Key], words: Sequence[tuple[str, ...]]) -> tuple[list[Key], list[Fill]]:
        batch: list[Key] = []
        groups_by_gap: list[list[_Group]] = []
        nodes = 0
        for left, number, best in waiting:
            groups_by_gap.append([self._group(spelled, left) for spelled in self.speller.spelled(left, words[number])])
            if best:
                # The candidates may have several contexts; that of most of them counts.
                max(groups_by_gap[-1], key=lambda group: len(group.above)).count = best
            batch.append((left, number, best))
            nodes += sum(len(part.nodes) for group in groups_by_gap[-1] for part in group.branches.parts(_PART))
            if len(batch) >= _CONTEXTS or nodes >= _BATCHES * self._forward.budget.tokens:
                break
        answerable = [group for groups in groups_by_gap for group in groups if group.context]
        self._contexts(answerable)
        self._below(answerable)
        return batch, [
            self._answer(len(words[number]), groups)
            for (_, number, _), groups in zip(batch, groups_by_gap, strict=True)
        ]

    def _group(self, spelled: Spelled, left: str) -> _Group:
        context = (*(() if self._start is None else (self._start,)), *spelled.before)
        branches = self._branches(spelled)
        highest = max(*context, int(branches.tokens.max()), 0)
        refuse_beyond(self._tokenizer, "the token", highest, self._forward.symbols, self._name)
        unknown, nothing = np.full(len(branches.tokens), np.nan), np.full(len(spelled.tokens), np.nan)
        ended = unknown.copy() if branches.ended else np.zeros(len(unknown))
        # Beyond the model's positions, surprisals are undefined.
        reached = context if len(context) <= self._forward.limit else ()
        return _Group(spelled, branches, reached, unknown, ended, np.zeros(2), nothing, nothing.copy(), left)

    def _branches(self, spelled: Spelled) -> Branches:
        """Return the tree of a list of candidates. It is cached, because many gaps have the same list."""
        key = id(spelled.tokens)
        if key not in self._trees:
            self._trees[key] = (spelled.tokens, grow(spelled.tokens, self._sets is not None))
            if len(self._trees) > 16:
                self._trees.popitem(last=False)
        self._trees.move_to_end(key)
        return self._trees[key][1]

    def _contexts(self, groups: Sequence[_Group]) -> None:
        """Run the first pass: the tokens directly after each context."""
        after: dict[tuple[int, ...], list[_Group]] = {}
        for group in groups:
            after.setdefault(group.context, []).append(group)
        contexts = list(after)

        for tree in (True, False):
            packs = self._packs(contexts, tree)
            nodes = [np.array([path[-1] for path in pack.paths], np.int64) for pack in packs]

            def read(indices: range, logits: Iterator[tuple[int, torch.Tensor]], packs: list[Pack] = packs) -> None:
                order = [contexts[index] for at in indices for index in packs[at].sequences]
                for first, rows in logits:
                    for context, row in zip(order[first:], _numbers(rows), strict=False):
                        self._read_context(row, after[context])

            self._forward.visit(packs, nodes, tree, read)

    def _packs(self, contexts: Sequence[tuple[int, ...]], tree: bool) -> list[Pack]:
        """Return the packs of all contexts: of those that can share prefixes, or of those that can't."""
        forward = self._forward
        short = min(forward.window, _LONGEST) if forward.ways.tree else 0
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
            group.best = self._entries.best(logits, group.left, group.count)
            if self._sets is not None:
                group.opening = rank.masses(logits, self._sets)

    def _below(self, groups: Sequence[_Group]) -> None:
        """Run the second pass: the tokens after prefixes of candidates, and after their last tokens."""
        for tree in (True, False):
            group_parts = [
                (group, part)
                for group in groups
                if bool(size := self._size(group)) == tree
                for part in (group.branches.parts(size) if tree else self._chains(group))
            ]
            packs = [part.pack.below(group.context) for group, part in group_parts]
            nodes = [
                np.arange(len(group.context), len(pack.tokens))
                for pack, (group, _) in zip(packs, group_parts, strict=True)
            ]

            def read(
                indices: range,
                logits: Iterator[tuple[int, torch.Tensor]],
                group_parts: list[tuple[_Group, Part]] = group_parts,
            ) -> None:
                self._read_below([group_parts[index] for index in indices], logits)

            self._forward.visit(packs, nodes, tree, read)

    def _size(self, group: _Group) -> int:
        """Return the largest number of nodes below the context in one part; 0 if parts must not branch."""
        forward = self._forward
        room = min(forward.budget.tokens, forward.window, forward.limit, _LONGEST) - len(group.context)
        deepest = int(group.branches.depth.max()) - (not group.branches.ended)
        if not forward.ways.tree or room < max(1, deepest):
            return 0
        # A power of two, so that contexts of different lengths can use the same parts.
        return min(_PART if len(group.context) <= _PART else 2 * _PART, 1 << (room.bit_length() - 1))

    def _chains(self, group: _Group) -> Iterator[Part]:
        """Yield parts without branches, truncated at the model's last position."""
        if (room := self._forward.limit - len(group.context)) > 0:
            for part in group.branches.parts(0):
                yield part.cut(room)

    def _read_below(
        self, group_parts: Sequence[tuple[_Group, Part]], logits: Iterator[tuple[int, torch.Tensor]]
    ) -> None:
        counts = [len(part.nodes) for _, part in group_parts]
        rows = np.cumsum(counts) - counts
        places = np.concatenate([row + part.places for row, (_, part) in zip(rows, group_parts, strict=True)])
        targets = np.concatenate([group.branches.tokens[part.targets] for group, part in group_parts])
        bits, sets, _ = self._forward.head.read(logits, sum(counts), places, targets, self._watched)()
        at = 0
        for row, (group, part) in zip(rows, group_parts, strict=True):
            group.bits[part.targets] = bits[at : at + len(part.targets)]
            at += len(part.targets)
            if group.branches.ended:
                group.ended[part.nodes] = sets[row : row + len(part.nodes), 0]

    def _answer(self, candidates: int, groups: Sequence[_Group]) -> Fill:
        bits, above, below = np.full((3, candidates), np.nan)
        in_vocabulary = np.zeros(candidates, bool)
        for group in groups:
            places, branches = group.spelled.places, group.branches
            bits[places] = branches.sums(group.bits) + group.ended[branches.last] - self._opening(group)
            above[places], below[places], in_vocabulary[places] = group.above, group.below, group.spelled.in_vocabulary
        return Fill(bits, above, below, in_vocabulary, next((group.best for group in groups if group.best), ()))

    def _opening(self, group: _Group) -> Numbers:
        """Return the surprisal of the condition on which gaps are filled: that a word, or a text, begins here."""
        firsts = group.branches.tokens[group.branches.first]
        if self._ends is None or self._ends.ends is None or self._ends.first is None:
            return np.zeros(len(firsts))
        ended = np.where(self._ends.ends[firsts], group.opening[0], 0.0)
        return ended if group.spelled.before else np.where(self._ends.first[firsts], group.opening[1], ended)


def _numbers(rows: torch.Tensor) -> NDArray[np.floating]:
    wide = rows if rows.dtype in (torch.float32, torch.float64) else rows.float()
    numbers: NDArray[np.floating] = wide.cpu().numpy()
    return numbers
