"""The loss of many trees at once, without a loop over trees or actions.

All trees are known, so everything can be computed in an order that suits the machine:

* the vectors of closed constituents depend only on their children: all constituents of the same height go through the
  composition LSTM together, the lowest first;
* an element of the stack depends on its own vector and on the element below: all elements of the same depth go through
  the stack LSTM together, the deepest last;
* the LSTMs over actions and words read all trees together, as usual.

So a batch takes as many steps as its highest tree has levels, or its longest tree actions, however many trees it has.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout, linear

from syntagm.models import MOST_OPEN, OPEN, REDUCE, SHIFT, RnngNetwork, lstm_step
from syntagm.training.recurrent import OnePass
from syntagm.training.rnng.oracle import Encoded, Ints


def run(gates: Tensor, recurrent: Tensor, levels: Sequence[Tensor], hidden: Tensor, cell: Tensor) -> Tensor:
    """Return the hidden state after each element of a forest, shape (elements, width), level by level."""
    # Each element is read in the state of another one, and several may be read in the same one. A sequence is a forest with
    # one element in each level. The gradients are computed here: automatic differentiation would add up the gradient of the
    # weights once for each level, and fill an array of zeros as large as all gates.
    apply: Any = _Run.apply
    states: Tensor = apply(gates, recurrent, hidden, cell, levels)
    return states


class _Run(torch.autograd.Function):
    @staticmethod
    def forward(
        context: Any, gates: Tensor, recurrent: Tensor, hidden: Tensor, cell: Tensor, levels: Sequence[Tensor]
    ) -> Tensor:
        context.kinds, context.starts, context.levels = (gates.dtype, hidden.dtype, cell.dtype), len(hidden), levels
        hidden, cell, gates, width = hidden.float(), cell.float(), gates.float().clone(), recurrent.shape[1]
        sizes = [len(level) for level in levels]
        # Written level by level: hidden states, those before, cell states before, and their tanh.
        arrays = [gates.new_empty(len(gates), width) for _ in range(4)]
        parts = zip(*(torch.split(array, sizes) for array in (gates, *arrays)), strict=True)
        with torch.autocast(gates.device.type, enabled=False):
            for below, (part, of_hidden, hidden_before, cell_before, tanh) in zip(levels, parts, strict=True):
                torch.index_select(hidden, 0, below, out=hidden_before)
                torch.index_select(cell, 0, below, out=cell_before)
                if len(below) > len(hidden):
                    part += (hidden @ recurrent.T).index_select(0, below)
                else:
                    part.addmm_(hidden_before, recurrent.T)
                enter, forget, new, leave = torch.split(part, width, 1)
                part[:, : 2 * width].sigmoid_()
                new.tanh_()
                leave.sigmoid_()
                cell = torch.addcmul(forget * cell_before, enter, new)
                torch.tanh(cell, out=tanh)
                hidden = torch.mul(leave, tanh, out=of_hidden)
        context.save_for_backward(gates, recurrent, *arrays[1:])
        return arrays[0]

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, None]:
        activations, recurrent, hiddens_before, cells_before, tanhs = context.saved_tensors
        levels, width = context.levels, recurrent.shape[1]
        sizes = [len(level) for level in levels]
        of_gates, of_states = torch.empty_like(activations), gradients[0].float()
        of_hidden = of_cell = of_states.new_zeros(sizes[-1], width)
        arrays = of_gates, activations, cells_before, tanhs, of_states
        parts = zip(*(torch.split(array, sizes) for array in arrays), strict=True)
        rows = [context.starts, *sizes[:-1]]
        for below, row, (of_part, part, cell_before, tanh, of_level) in reversed(
            [*zip(levels, rows, parts, strict=True)]
        ):
            of_hidden = of_hidden + of_level
            enter, forget, new, leave = torch.split(part, width, 1)
            of_enter, of_forget, of_new, of_leave = torch.split(of_part, width, 1)
            through = of_hidden * leave
            of_cell = of_cell + through - through * tanh * tanh
            torch.mul(of_hidden, tanh, out=of_leave)
            torch.mul(of_cell, new, out=of_enter)
            torch.mul(of_cell, cell_before, out=of_forget)
            torch.mul(of_cell, enter, out=of_new)
            of_new.sub_(of_new * new * new)
            for of_gate, gate in ((of_enter, enter), (of_forget, forget), (of_leave, leave)):
                of_gate.mul_(gate - gate * gate)
            if row < len(below):
                of_hidden = of_part.new_zeros(row, 4 * width).index_add_(0, below, of_part) @ recurrent
            else:
                of_hidden = of_part.new_zeros(row, width).index_add_(0, below, of_part @ recurrent)
            of_cell = of_part.new_zeros(row, width).index_add_(0, below, of_cell * forget)
        kinds = context.kinds
        of_recurrent = of_gates.T @ hiddens_before
        return of_gates.to(kinds[0]), of_recurrent, of_hidden.to(kinds[1]), of_cell.to(kinds[2]), None


@dataclass(frozen=True, slots=True, eq=False)
class Chains:
    """Sequences of several lengths, read together: the first elements of all, then the second ones ..."""

    order: Tensor  # the place of each element, as read, in the concatenated sequences
    levels: list[Tensor]  # the sequences that are read on at each step, for `run`: the longest are the first
    places: Tensor  # the place of each element of the concatenated sequences, as read


@dataclass(frozen=True, slots=True, eq=False)
class Constituents:
    """Closed constituents of the same height, the longest first."""

    rightward: Tensor  # the vectors of their children by row: the first children of all, then the second ones ..
    leftward: Tensor  # the places in `rightward` of the last children of all, then of the last but one ..
    levels: list[Tensor]  # the labels of all, then the constituents that have a second child ..., for `run`
    ends: Tensor  # the place of the last child of each one in `rightward`, which is that of the first in `leftward`


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Trees as numbers for a training step. Elements are numbered through all trees, by action."""

    words: Tensor  # the ids of all words
    distinct: Tensor  # the ids of all distinct words
    heights: list[Constituents]
    vectors: Tensor
    levels: list[Tensor]  # for each depth, the place of the element below each element, in the depth before
    tops: Tensor  # the row of the top of the stack before each action; 0 is the bottom
    actions: Tensor  # each action, by number
    invalid: Tensor  # whether an action is not valid, shape (elements, actions)
    read: Tensor  # the actions of all trees, as read by the LSTM over actions before each action
    acted: Chains  # the order in which it reads them
    heard: Tensor  # the words of all trees, as read by the LSTM over words; a tree begins with word 0
    worded: Chains  # the order in which it reads them
    known: Tensor  # the place of the last word before each action in `heard`

    def to(self, device: torch.device) -> "Batch":
        moved: Batch = _move_to(self, device)
        return moved


def _move_to(value: Any, device: torch.device) -> Any:
    if isinstance(value, Tensor):
        return value.to(device)
    if isinstance(value, list):
        return [_move_to(item, device) for item in value]
    return replace(value, **{field.name: _move_to(getattr(value, field.name), device) for field in fields(value)})


def batch(trees: Sequence[Encoded], labels: int) -> Batch:
    lengths = np.array([len(tree.actions) for tree in trees])
    starts = np.cumsum(lengths) - lengths
    actions = np.concatenate([tree.actions for tree in trees])
    words = np.concatenate([tree.words for tree in trees])
    depth = np.concatenate([tree.depth for tree in trees])
    below = np.concatenate(
        [np.where(tree.below < 0, -1, tree.below + start) for tree, start in zip(trees, starts, strict=True)]
    )
    distinct, word_rows = np.unique(words, return_inverse=True)
    rows, heights = _constituents(trees, starts, actions, word_rows, len(distinct))
    order = np.argsort(depth, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    ends = np.cumsum(np.bincount(depth)[1:])
    levels = []
    for first, last, before in zip([0, *ends[:-1]], ends, [0, 0, *ends[:-2]], strict=True):
        under = below[order[first:last]]
        levels.append(_tensor(np.where(under < 0, 0, place[under] - before)))
    first_action = np.zeros(len(actions), bool)
    first_action[starts] = True
    tops = np.where(first_action, 0, 1 + place[np.arange(len(actions)) - 1])
    shifts = actions == SHIFT
    sizes = np.array([len(tree.words) for tree in trees])
    read_before = np.cumsum(shifts) - shifts
    known = read_before + np.repeat(np.arange(len(trees)), lengths)
    heard = np.concatenate([np.append(0, tree.words) for tree in trees])
    previous = np.where(first_action, OPEN + labels, np.roll(actions, 1))
    acted, worded = _chains(lengths), _chains(sizes + 1)
    return Batch(
        _tensor(words), _tensor(distinct), heights, _tensor(rows[order]), levels, _tensor(tops), _tensor(actions),
        torch.from_numpy(_invalid(actions, lengths, first_action, labels)),
        _tensor(previous), acted, _tensor(heard), worded, _tensor(known),
    )  # fmt: skip


def _constituents(
    trees: Sequence[Encoded], starts: Ints, actions: Ints, word_rows: Ints, words: int
) -> tuple[Ints, list[Constituents]]:
    """Return the row of the vector of each element, and the constituents of each height, roots excepted."""
    # Rows are first the `words` distinct words, then the closed constituents by height, then the labels.
    parts = list(zip(trees, starts, strict=True))
    closing = np.concatenate([tree.closing + start for tree, start in parts])
    children = np.concatenate([tree.children + start for tree, start in parts])
    height, closed, counts = (
        np.concatenate([getattr(tree, name) for tree in trees]) for name in ("height", "closed", "counts")
    )
    first = np.cumsum(counts) - counts
    # No action follows a closed root, so its vector is not needed. If there is nothing else, all roots are kept, because
    # each parameter must have a gradient.
    inner = ~np.isin(closing, starts - 1 + [len(tree.actions) for tree in trees])
    # By height; of the same height, the longest first.
    order = np.lexsort((-counts, height))
    order = order[inner[order]] if inner.any() else order
    # The row of a closed root does not matter.
    rows = np.zeros(len(actions), np.int64)
    rows[actions == SHIFT] = word_rows
    rows[closing[order]] = words + np.arange(len(order))
    opens = actions >= OPEN
    rows[opens] = words + len(order) + actions[opens] - OPEN
    heights = []
    for members in np.split(order, np.cumsum(np.bincount(height[order])[1:])[:-1]):
        sizes = counts[members]
        chains, ends = _chains(sizes), np.cumsum(sizes)
        of_child = np.repeat(np.arange(len(members)), sizes)
        step = np.arange(sizes.sum()) - (ends - sizes)[of_child]
        vectors = rows[children[first[members][of_child] + step]]
        mirrored = _tensor((ends - 1)[of_child] - step)
        heights.append(
            Constituents(
                _tensor(vectors)[chains.order], chains.places[mirrored][chains.order],
                [_tensor(closed[members]), *chains.levels[1:]], chains.places[_tensor(ends - 1)],
            )
        )  # fmt: skip
    return rows, heights


def _chains(lengths: Ints) -> Chains:
    """Return how sequences of these lengths are read together; the longest must be the first."""
    sizes = np.cumsum(np.bincount(lengths)[::-1])[::-1][1:]
    starts = np.cumsum(sizes) - sizes
    rank = np.empty_like(lengths)
    rank[np.argsort(-lengths, kind="stable")] = np.arange(len(lengths))
    time = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    places = starts[time] + np.repeat(rank, lengths)
    order = np.empty_like(places)
    order[places] = np.arange(len(places))
    # All sequences begin in the same state, or in the state of their place.
    return Chains(_tensor(order), [torch.arange(size) for size in sizes.tolist()], _tensor(places))


def _invalid(actions: Ints, lengths: Ints, first: NDArray[np.bool_], labels: int) -> NDArray[np.bool_]:
    """Return which actions are not valid before each action, as in the search."""
    change = np.where(actions >= OPEN, 1, np.where(actions == REDUCE, -1, 0))
    # A tree ends with nothing open.
    opened = np.cumsum(change) - change
    after_opening = np.roll(actions, 1) >= OPEN
    invalid = np.zeros((len(actions), OPEN + labels), bool)
    invalid[:, SHIFT] = first
    invalid[:, REDUCE] = first | after_opening
    invalid[opened >= MOST_OPEN, OPEN:] = True
    return invalid


def _tensor(numbers: Ints) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(numbers))


def nats(network: RnngNetwork, trees: Batch, softmax: OnePass | None) -> tuple[Tensor, Tensor]:
    """Return the negative log-likelihood of all actions and of all words, in nats."""
    histories = [_run_stacks(network, trees).index_select(0, trees.tops)]
    if network.parts == "all":
        histories.append(
            _run_chains(network, network.action_history, network.action_embedding(trees.read), trees.acted)
        )
        heard = _run_chains(network, network.word_history, network.word_embedding(trees.heard), trees.worded)
        histories.append(heard.index_select(0, trees.known))
    state = network.derivation_state(histories)
    logits = network.action(state).float().masked_fill(trees.invalid, -torch.inf)
    of_actions = cross_entropy(logits, trees.actions, reduction="sum")
    before = state[trees.actions == SHIFT]
    if softmax is not None:
        return of_actions, softmax.loss(before, trees.words) * len(trees.words)
    return of_actions, cross_entropy(network.word(before).float(), trees.words, reduction="sum")


def _run_stacks(network: RnngNetwork, trees: Batch) -> Tensor:
    """Return the last layer of the stack LSTM: for the bottom, then for each element, by depth."""
    bottom: Tensor = network.bottom
    elements = torch.cat([_vectors(network, trees), network.label_embedding.weight])
    stack, layers = network.stack, network.stack.num_layers
    for layer in range(layers):
        below, gates = (_inputs(stack, inputs, f"l{layer}") for inputs in (bottom, elements))
        if not layer:
            # Equal elements have equal inputs.
            gates = gates.index_select(0, trees.vectors)
        start = lstm_step(below, torch.zeros_like(below[:, : stack.hidden_size]))
        recurrent = getattr(stack, f"weight_hh_l{layer}")
        hidden = torch.cat([start[0], run(gates, recurrent, trees.levels, *start)])
        if layer < layers - 1:
            hidden = dropout(hidden, network.dropout, network.training)
            # The gradient of `split` is cheaper than those of two slices, which would be arrays of zeros.
            bottom, elements = torch.split(hidden, [1, len(hidden) - 1])
    return hidden


def _vectors(network: RnngNetwork, trees: Batch) -> Tensor:
    """Return the vectors of distinct words and of closed constituents."""
    vectors: Tensor = network.word_embedding(trees.distinct)
    lstm = network.composition
    hiddens, cells = network.label_states()
    for height in trees.heights:
        ends = []
        rightward = vectors.index_select(0, height.rightward)
        leftward = rightward.index_select(0, height.leftward)
        for number, (name, inputs) in enumerate((("l0", rightward), ("l0_reverse", leftward))):
            recurrent = getattr(lstm, f"weight_hh_{name}")
            states = run(_inputs(lstm, inputs, name), recurrent, height.levels, hiddens[number], cells[number])
            ends.append(states.index_select(0, height.ends))
        vectors = torch.cat([vectors, torch.relu(network.composed(torch.cat(ends, 1)))])
    return vectors


def _run_chains(network: RnngNetwork, lstm: nn.LSTM, inputs: Tensor, chains: Chains) -> Tensor:
    """Return the last layer of an LSTM after each element of several sequences."""
    zeros = inputs.new_zeros(len(chains.levels[0]), lstm.hidden_size)
    hidden = inputs.index_select(0, chains.order)
    for layer in range(lstm.num_layers):
        if layer:
            hidden = dropout(hidden, network.dropout, network.training)
        gates = _inputs(lstm, hidden, f"l{layer}")
        hidden = run(gates, getattr(lstm, f"weight_hh_l{layer}"), chains.levels, zeros, zeros)
    return hidden.index_select(0, chains.places)


def _inputs(lstm: nn.LSTM, inputs: Tensor, name: str) -> Tensor:
    """Return the inputs of the gates of a layer, with both biases."""
    bias: Tensor = getattr(lstm, f"bias_ih_{name}") + getattr(lstm, f"bias_hh_{name}")
    return linear(inputs, getattr(lstm, f"weight_ih_{name}"), bias)
