"""Word-synchronous beam search with fast-tracking (Stern, Fried & Klein 2017), as in Hu et al. 2020.

A grammar generates a sentence and its tree by actions: NT(X) opens a constituent X, SHIFT generates the next word, REDUCE
closes the last open constituent. The search keeps the best partial derivations that have generated the same words. For
each next word, all derivations are extended step by step:

* all extensions by one action are ranked by score; the best `beam` are kept;
* among these, extensions by SHIFT have generated the word and wait; the others are extended in the next step;
* the best `fast_track` of the remaining extensions by SHIFT wait, too;
* this ends when at least `beam` derivations wait, or when none is left to extend.

The best `word_beam` of the waiting derivations are the beam after the word. Its mass is the sum of their probabilities.
The surprisal of a word is the decrease of the logarithm of the mass.

The beam after a prefix depends on nothing but the prefix. So sentences are read together, word by word, and the beam of
each distinct prefix is computed once. Steps stop early where no derivation that is left could enter the beam, and the
probability of a word is computed only where an upper bound says that it could matter. Neither changes the result.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]
Marks = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Items:
    """Partial derivations, sorted by prefix. Each field has the shape (derivations,)."""

    prefix: Numbers  # the number of the prefix that the derivation has generated
    score: Floats  # the logarithm of the derivation's probability
    state: Numbers  # its state in the grammar
    opened: Numbers  # the number of its open constituents
    row: Numbers  # the number of constituents opened since the last other action
    past: Numbers  # its last entry in the history

    def __len__(self) -> int:
        return len(self.prefix)

    def at(self, index: Numbers | Marks) -> "Items":
        return Items(*(getattr(self, field.name)[index] for field in fields(self)))

    def with_state(self, state: Numbers) -> "Items":
        return Items(self.prefix, self.score, state, self.opened, self.row, self.past)

    def after(self, parents: Numbers) -> "Items":
        """Return a copy of the derivations of prefix `parents[i]` as those of prefix i, for each i."""
        first, last = (np.searchsorted(self.prefix, parents, side) for side in ("left", "right"))
        copies = self.at(_ranges(first, last))
        prefix = np.repeat(np.arange(len(parents)), last - first)
        return Items(prefix, copies.score, copies.state, copies.opened, copies.row, copies.past)

    def joined(self, others: "Items") -> "Items":
        """Return these derivations and then the others; they are no longer sorted."""
        return Items(
            *(np.concatenate([getattr(items, field.name) for items in (self, others)]) for field in fields(self))
        )

    def pruned(self, count: int) -> "Items":
        """Return the `count` best derivations of each prefix; of equally good ones, the first."""
        order = np.lexsort((-self.score, self.prefix))
        prefix = self.prefix[order]
        rank = np.arange(len(order)) - np.searchsorted(prefix, prefix)
        return self.at(order[rank < count])

    def log_sums(self, prefixes: int) -> Floats:
        """Return the logarithm of the summed probability of the derivations of each prefix; -inf without derivations."""
        maxima = np.full(prefixes, -np.inf)
        np.maximum.at(maxima, self.prefix, self.score)
        sums = np.zeros(prefixes)
        np.add.at(sums, self.prefix, np.exp(self.score - maxima[self.prefix]))
        with np.errstate(divide="ignore"):
            return maxima + np.log(sums)

    def best(self, prefixes: int) -> Numbers:
        """Return the last entry in the history of the best derivation of each prefix; -1 without derivations."""
        best = np.full(prefixes, -1)
        first = self.pruned(1)
        best[first.prefix] = first.past
        return best


class History:
    """The actions of all derivations, as a forest: each entry has an action and the entry before it."""

    def __init__(self) -> None:
        self._before: list[Numbers] = []
        self._actions: list[Numbers] = []
        self._size = 0

    def add(self, before: Numbers, actions: Numbers) -> Numbers:
        """Add an entry after each of the given entries; -1 is the empty derivation. Return the new entries."""
        self._before.append(before)
        self._actions.append(actions)
        self._size += len(before)
        return np.arange(self._size - len(before), self._size)

    def derivations(self, entries: Sequence[int]) -> list[list[int]]:
        before = np.concatenate([np.empty(0, np.int64), *self._before])
        actions = np.concatenate([np.empty(0, np.int64), *self._actions])
        derivations = []
        for entry in entries:
            derivation: list[int] = []
            while entry >= 0:
                derivation.append(int(actions[entry]))
                entry = int(before[entry])
            derivations.append(derivation[::-1])
        return derivations


def places(prefix: Numbers) -> tuple[Numbers, Numbers, tuple[int, int]]:
    """Return row and column of each derivation in a table with one row for each prefix, and the shape of the table."""
    _, row, count = np.unique(prefix, return_inverse=True, return_counts=True)
    return row, np.arange(len(prefix)) - (np.cumsum(count) - count)[row], (len(count), int(count.max()))


def nth(table: Floats, count: int) -> Floats:
    """Return the `count`-th highest value of each row, shape (rows, 1); -inf if there are fewer, inf if `count` is 0."""
    if not 0 < count <= table.shape[1]:
        return np.full((len(table), 1), -np.inf if count else np.inf)
    values: Floats = np.partition(table, -count, axis=1)[:, -count, None]
    return values


def highest(table: Floats, count: int) -> Marks:
    """Mark the `count` highest values of each row that are not -inf. Of equal values, the first are taken."""
    if count >= table.shape[1]:
        return table > -np.inf
    if not count:
        return np.zeros(table.shape, bool)
    # The choice must not depend on the width of the table, which depends on the other prefixes.
    lowest = nth(table, count)
    higher, equal = table > lowest, table == lowest
    remaining = count - higher.sum(1, keepdims=True)
    chosen: Marks = (higher | (equal & (np.cumsum(equal, 1) <= remaining))) & (table > -np.inf)
    return chosen


def _ranges(first: Numbers, last: Numbers) -> Numbers:
    """Return the numbers from first[i] to last[i] - 1, for one i after the other."""
    sizes = last - first
    numbers: Numbers = np.arange(sizes.sum()) + np.repeat(first - (np.cumsum(sizes) - sizes), sizes)
    return numbers


# Actions by number: SHIFT, REDUCE, and OPEN + label.
SHIFT, REDUCE, OPEN = 0, 1, 2
MOST_OPEN = 100
# Constituents opened in a row, if the reduction that would close the root is masked.
MOST_IN_A_ROW = 8


class Grammar(ABC):
    """The probabilities of actions and words, by the number of a state. A state is the result of a sequence of actions."""

    @abstractmethod
    def start(self) -> int:
        """Forget all states; return the state before the first action."""

    @abstractmethod
    def actions(self, states: Numbers) -> Floats:
        """Return the logits of all actions, shape (states, OPEN + labels)."""

    @abstractmethod
    def words(self, states: Numbers, words: Numbers) -> Floats:
        """Return the natural logarithm of the probability of a word after each state, if the next action is SHIFT."""

    def at_most(self, states: Numbers, words: Numbers) -> Floats:
        """Return upper bounds of `words`; the lower they are, and the less they cost, the faster is the search."""
        return np.zeros(len(states))

    @abstractmethod
    def advance(self, states: Numbers, actions: Numbers, words: Numbers) -> Numbers:
        """Return the state after one more action."""

    def keep(self, states: Numbers) -> Numbers:
        """Forget all states but these; return their new numbers."""
        return states


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes and the root rule of a search."""

    beam: int = 100  # the number of extensions kept in each step
    word_beam: int = 10  # the number of derivations kept after each word
    fast_track: int = 5  # the number of further extensions by SHIFT that are kept in each step
    # What happens to a REDUCE that would close the root before the last word. `drop`: it is scored, and the derivation
    # is dropped (Hu et al. 2020); `mask`: it is no valid action, and at most 8 constituents are opened in a row
    # (rnng-pytorch).
    root: str = "drop"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a search found about one sentence."""

    # The logarithm of the beam's mass after each word, shape (words,); -inf if no derivation reached the word.
    masses: Floats
    # The most probable derivation of each prefix, as actions; for the whole sentence with the actions that close the
    # tree. Empty if the word was not reached; None if trees were not asked for.
    best: list[list[int]] | None
    # The logarithm of the beam's mass after the actions that close the trees; -inf if the last word was not reached,
    # nan if neither ends nor trees were asked for.
    closed: float


def search(
    grammar: Grammar, sentences: Sequence[Sequence[int]], sizes: Sizes, trees: bool = False, ends: bool = False
) -> list[Reading]:
    """Search the derivations of sentences, which are read together."""
    lengths = np.array([len(sentence) for sentence in sentences], np.int64)
    masses, entries = np.full((len(lengths), max(lengths)), -np.inf), np.full((len(lengths), max(lengths)), -1)
    closing = np.full(len(lengths), -np.inf if trees or ends else np.nan)
    history = History()
    for position, (active, prefix, beams) in enumerate(_beams(grammar, sentences, lengths, sizes, history)):
        count = int(prefix.max()) + 1
        masses[active, position] = beams.log_sums(count)[prefix]
        if trees:
            entries[active, position] = beams.best(count)[prefix]
        if trees or ends:
            ending = lengths[active] == position + 1
            ended = np.unique(prefix[ending])
            closed = _closed(grammar, beams.at(np.isin(beams.prefix, ended)), history)
            entries[active[ending], position] = closed.best(count)[prefix[ending]]
            closing[active[ending]] = closed.log_sums(count)[prefix[ending]]
    best = [history.derivations(row[:n].tolist()) for row, n in zip(entries, lengths, strict=True)] if trees else None
    return [
        Reading(row[:length], best[index] if best else None, float(closing[index]))
        for index, (row, length) in enumerate(zip(masses, lengths, strict=True))
    ]


def _beams(
    grammar: Grammar, sentences: Sequence[Sequence[int]], lengths: Numbers, sizes: Sizes, history: History
) -> Iterator[tuple[Numbers, Numbers, Items]]:
    """Yield after each word: the sentences that have it, the number of each one's prefix, and the beams of all prefixes."""
    numbers = np.zeros((len(sentences), max(lengths)), np.int64)
    for row, sentence in enumerate(sentences):
        numbers[row, : len(sentence)] = sentence
    zero = np.zeros(1, np.int64)
    beams = Items(zero, np.zeros(1), zero + grammar.start(), zero, zero, zero - 1)
    prefix = np.zeros(len(sentences), np.int64)
    for position in range(max(lengths)):
        active = np.flatnonzero(lengths > position)
        pairs = np.stack([prefix[active], numbers[active, position]])
        (parents, words), prefix[active] = np.unique(pairs, axis=1, return_inverse=True)
        beams = _next_word(grammar, beams.after(parents), words, sizes, history)
        beams = beams.with_state(grammar.keep(beams.state))
        yield active, prefix[active], beams


def _next_word(grammar: Grammar, items: Items, words: Numbers, sizes: Sizes, history: History) -> Items:
    """Return the beam of each prefix after its next word, `words[prefix]`."""
    waiting = items.at(np.empty(0, np.int64))
    counts = np.zeros(len(words), np.int64)
    while len(items):
        scores = items.score[:, None] + _log_probabilities(grammar, items, sizes.root == "mask")
        entry = _last(waiting, counts, sizes)[items.prefix]
        scores[:, SHIFT] = _shift_scores(grammar, items, words[items.prefix], scores, entry, sizes)
        kept, shifted = _ranked(items.prefix, scores, sizes)
        waiting = waiting.joined(_shifted(items, scores, shifted)).pruned(sizes.word_beam)
        # Fast-tracked extensions count even if their scores were not computed.
        possible, kept_shifts = (
            np.bincount(items.prefix[chosen], minlength=len(words)) for chosen in (items.opened > 0, kept[:, SHIFT])
        )
        counts += np.minimum(possible, kept_shifts + sizes.fast_track)
        parents, actions = _continuing(items, scores, kept, waiting, counts, sizes)
        reached = scores[parents, actions]
        opens = actions >= OPEN
        extended = items.at(parents)
        items = Items(
            extended.prefix,
            reached,
            grammar.advance(extended.state, actions, np.zeros_like(actions)),
            extended.opened + np.where(opens, 1, -1),
            np.where(opens, extended.row + 1, 0),
            history.add(extended.past, actions),
        )
    shift = np.full(len(waiting), SHIFT)
    state = grammar.advance(waiting.state, shift, words[waiting.prefix])
    past = history.add(waiting.past, shift)
    return Items(waiting.prefix, waiting.score, state, waiting.opened, np.zeros_like(shift), past)


def _log_probabilities(grammar: Grammar, items: Items, masked: bool) -> Floats:
    """Return the log-probabilities of all actions: a softmax over the valid ones; -inf for the others."""
    logits = grammar.actions(items.state).copy()
    logits[items.opened == 0, SHIFT] = -np.inf
    # A constituent must not be empty.
    logits[(items.opened == 0) | (items.row > 0), REDUCE] = -np.inf
    logits[items.opened >= MOST_OPEN, OPEN:] = -np.inf
    if masked:
        logits[items.opened == 1, REDUCE] = -np.inf
        logits[items.row >= MOST_IN_A_ROW, OPEN:] = -np.inf
    logits -= logits.max(1, keepdims=True)
    logits -= np.log(np.exp(logits).sum(1, keepdims=True))
    return logits


def _last(waiting: Items, counts: Numbers, sizes: Sizes) -> Floats:
    """Return the score of the last derivation in the beam of each prefix; -inf if the beam isn't full."""
    # What does not exceed it can't enter the beam. Nor can its extensions: scores only fall.
    last = np.full(len(counts), np.inf)
    np.minimum.at(last, waiting.prefix, waiting.score)
    last[np.bincount(waiting.prefix, minlength=len(counts)) < sizes.word_beam] = -np.inf
    return last


def _shift_scores(
    grammar: Grammar, items: Items, words: Numbers, scores: Floats, entry: Floats, sizes: Sizes
) -> Floats:
    """Return the scores of the extensions by SHIFT that could be kept, or fast-tracked into the beam; -inf for others."""
    # The probability of a word takes a softmax over the vocabulary. It is computed only if an upper bound of the score
    # allows either.
    row, place, shape = places(items.prefix)
    others = np.full((*shape, scores.shape[1] - 1), -np.inf)
    others[row, place] = scores[:, 1:]
    exact, bounds, entries = (np.full(shape, -np.inf) for _ in range(3))
    bounds[row, place] = scores[:, SHIFT] + grammar.at_most(items.state, words)
    entries[row, place] = entry
    # What does not reach this is not kept. The limit rises if extensions by SHIFT are kept.
    limit = nth(others.reshape(len(others), -1), sizes.beam)
    rest = np.where((bounds < limit) & (bounds > entries), bounds, -np.inf)
    needed = ((bounds >= limit) & (bounds > -np.inf)) | highest(rest, sizes.fast_track)
    for _ in range(2):
        chosen = (needed & (exact == -np.inf))[row, place]
        exact[row[chosen], place[chosen]] = scores[chosen, SHIFT] + grammar.words(items.state[chosen], words[chosen])
        # Of what is not kept, only extensions that reach the best ones found so far can be fast-tracked.
        found = np.where(exact < limit, exact, -np.inf)
        needed = (bounds >= nth(found, sizes.fast_track)) & (bounds > entries)
    return exact[row, place]


def _ranked(prefix: Numbers, scores: Floats, sizes: Sizes) -> tuple[Marks, Marks]:
    row, place, shape = places(prefix)
    table = np.full((*shape, scores.shape[1]), -np.inf)
    table[row, place] = scores
    kept = highest(table.reshape(len(table), -1), sizes.beam).reshape(table.shape)
    shifts = table[:, :, SHIFT]
    shifted = kept[:, :, SHIFT] | highest(np.where(kept[:, :, SHIFT], -np.inf, shifts), sizes.fast_track)
    return kept[row, place], shifted[row, place]


def _shifted(items: Items, scores: Floats, shifted: Marks) -> Items:
    chosen = items.at(shifted)
    return Items(chosen.prefix, scores[shifted, SHIFT], chosen.state, chosen.opened, chosen.row, chosen.past)


def _continuing(
    items: Items, scores: Floats, kept: Marks, waiting: Items, counts: Numbers, sizes: Sizes
) -> tuple[Numbers, Numbers]:
    """Return the derivations and actions of the next step; none for a prefix whose beam is complete."""
    parents, actions = np.nonzero(kept[:, 1:])
    actions = actions + 1
    # A derivation whose root is closed can generate no more words.
    lasting = (actions != REDUCE) | (items.opened[parents] > 1)
    parents, actions = parents[lasting], actions[lasting]
    maxima = np.full(len(counts), -np.inf)
    np.maximum.at(maxima, items.prefix[parents], scores[parents, actions])
    goes_on = (counts < sizes.beam) & (maxima > _last(waiting, counts, sizes))
    going = goes_on[items.prefix[parents]]
    return parents[going], actions[going]


def _closed(grammar: Grammar, items: Items, history: History) -> Items:
    """Return the derivations after the actions that close all constituents, with their probability."""
    finished = items.at(np.empty(0, np.int64))
    while len(items):
        logs = _log_probabilities(grammar, items, masked=False)[:, REDUCE]
        reduce = np.full(len(items), REDUCE)
        opened, past = items.opened - 1, history.add(items.past, reduce)
        items = Items(items.prefix, items.score + logs, items.state, opened, items.row, past)
        finished = finished.joined(items.at(opened == 0))
        items = items.at(opened > 0)
        items = items.with_state(
            grammar.advance(items.state, np.full(len(items), REDUCE), np.zeros(len(items), np.int64))
        )
    return finished
