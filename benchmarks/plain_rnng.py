"""A plain decoder of RNNGs: one derivation at a time, one step of `nn.LSTM` at a time, with its own list of states each.

It follows the pseudo-code of word-synchronous beam search line by line. It is the baseline of the benchmark, and the
tests compare the fast search with it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from syntagm.models import MOST_IN_A_ROW, MOST_OPEN, OPEN, REDUCE, SHIFT, RnngNetwork, Sizes

State = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Item:
    """A derivation: its score, its stack, the states of its LSTMs, its open constituents, and those opened in a row."""

    score: float
    # Elements from bottom to top: state of the stack LSTM, vector, label or None.
    stack: tuple[tuple[State, Tensor, int | None], ...]
    actions: State | None
    words: State | None
    opened: int = 0
    row: int = 0


class PlainDecoder:
    """The probabilities and the beam search of a network."""

    def __init__(self, network: RnngNetwork) -> None:
        self.network, self.full = network.eval(), network.parts == "all"

    @torch.no_grad()
    def surprisals(self, sentence: Sequence[int], sizes: Sizes) -> list[float]:
        """Return the surprisal of each word in bits."""
        these = [self.start()]
        masses = [0.0]
        for word in sentence:
            waiting: list[Item] = []
            while len(waiting) < sizes.beam and these:
                fringe = [
                    (item, action, score)
                    for item in these
                    for action, score in self.scores(item, word, sizes.root == "mask").items()
                ]
                fringe.sort(key=lambda entry: -entry[2])
                these = []
                for item, action, score in fringe[: sizes.beam]:
                    if action == SHIFT:
                        waiting.append(self.after(item, action, word, score))
                    elif action != REDUCE or item.opened > 1:
                        these.append(self.after(item, action, word, score))
                others = [entry for entry in fringe[sizes.beam :] if entry[1] == SHIFT]
                waiting += [self.after(item, SHIFT, word, score) for item, _, score in others[: sizes.fast_track]]
            these = sorted(waiting, key=lambda item: -item.score)[: sizes.word_beam]
            best = max((item.score for item in these), default=-math.inf)
            masses.append(best + math.log(sum(math.exp(item.score - best) for item in these)))
        return [(before - after) / math.log(2) for before, after in pairwise(masses)]

    @torch.no_grad()
    def start(self) -> Item:
        """Return the empty derivation."""
        network = self.network
        item = Item(0.0, ((_step(network.stack, network.bottom[0], None), network.bottom[0], None),), None, None)
        if not self.full:
            return item
        actions = _step(network.action_history, network.action_embedding.weight[-1], None)
        return replace(item, actions=actions, words=_step(network.word_history, network.word_embedding.weight[0], None))

    @torch.no_grad()
    def scores(self, item: Item, word: int, masked: bool = False) -> dict[int, float]:
        """Return the score after each valid action; SHIFT generates the word."""
        labels = self.network.label_embedding.num_embeddings
        valid = [SHIFT] if item.opened else []
        if item.opened and not item.row and not (masked and item.opened == 1):
            valid.append(REDUCE)
        if item.opened < MOST_OPEN and not (masked and item.row >= MOST_IN_A_ROW):
            valid += range(OPEN, OPEN + labels)
        tops = [item.stack[-1][0]]
        if item.actions and item.words:
            tops += [item.actions, item.words]
        state = torch.relu(self.network.state(torch.cat([hidden[-1] for hidden, _ in tops])))
        logs = self.network.action(state)[valid].double().log_softmax(0).tolist()
        scores = {action: item.score + log for action, log in zip(valid, logs, strict=True)}
        if SHIFT in scores:
            scores[SHIFT] += float(self.network.word(state).double().log_softmax(0)[word])
        return scores

    @torch.no_grad()
    def after(self, item: Item, action: int, word: int, score: float) -> Item:
        """Return the derivation after one more action."""
        network, stack, label, words = self.network, item.stack, None, item.words
        if action == SHIFT:
            vector = network.word_embedding.weight[word]
            words = _step(network.word_history, vector, words) if self.full else None
        elif action == REDUCE:
            last = max(place for place, (_, _, label) in enumerate(stack) if label is not None)
            vector = self._composed(stack[last][2], [child for _, child, _ in stack[last + 1 :]])
            stack = stack[:last]
        else:
            label = action - OPEN
            vector = network.label_embedding.weight[label]
        stack = (*stack, (_step(network.stack, vector, stack[-1][0]), vector, label))
        actions = None
        if self.full:
            actions = _step(network.action_history, network.action_embedding.weight[action], item.actions)
        opened = item.opened + (action >= OPEN) - (action == REDUCE)
        return Item(score, stack, actions, words, opened, item.row + 1 if action >= OPEN else 0)

    def _composed(self, label: Any, children: list[Tensor]) -> Tensor:
        lstm, first = self.network.composition, self.network.composed_label.weight[label]
        forward, _ = lstm(torch.stack([first, *children])[:, None])
        backward, _ = lstm(torch.stack([*children, first])[:, None])
        size = lstm.hidden_size
        both = torch.cat([forward[-1, 0, :size], backward[0, 0, size:]])
        return torch.relu(self.network.composed(both))


def _step(lstm: nn.LSTM, vector: Tensor, state: State | None) -> State:
    """Return hidden and cell state of all layers after one more input."""
    _, after = lstm(vector[None], state)
    return after
