"""The states of a network in a search: stacks that share their elements, computed in batches.

An element of a stack is an open constituent, a word, or a closed constituent. It has the states of the stack LSTM up to
it, and the number of the element below. So a stack is just the number of its top, and copying a derivation copies no
states. Derivations of the same words share the state of the LSTM over words.

The numbers of a derivation must not depend on which other derivations are computed with it: a search multiplies rounding
errors, because another derivation may win. Matrix products give the same row whatever the other rows are, if there are
enough of them. So rows are padded to a multiple of `ROWS`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from syntagm.models.devices import FullPrecision
from syntagm.models.rnng.search import OPEN, REDUCE, SHIFT, Floats, Grammar, Numbers

# The state of a derivation is u = ReLU(W [s; a; y] + b). s is the top of a stack LSTM, whose elements are generated
# words, open constituents, and closed ones; a is an LSTM over the actions, and y an LSTM over the words. `parts=stack`
# has s only (Kuncoro et al. 2017). Two softmax layers give the probabilities of actions and of words.
#
# REDUCE replaces the elements of a constituent by one vector: ReLU(W [f; b] + b'), with the last states of a forward
# and a backward LSTM. Each reads the label, and then the children in its own order.
#
# Both nonlinearities are those of the published program; the paper has tanh (docs/reference/differences.md, RNNG 1).

PARTS = ("all", "stack")
# Hidden and cell states, one tensor per layer, each of shape (derivations, hidden).
State = list[tuple[Tensor, Tensor]]
ACTION_WIDTH = 16


class RnngNetwork(nn.Module):
    def __init__(
        self, words: int, labels: int, embedding: int, hidden: int, layers: int, parts: str = "all",
        dropout: float = 0.0, tied: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.dropout, self.parts = dropout, parts
        inner = dropout if layers > 1 else 0.0
        self.word_embedding = nn.Embedding(words, embedding)
        self.label_embedding = nn.Embedding(labels, embedding)
        # What lies below the first constituent.
        self.bottom = nn.Parameter(torch.empty(1, embedding))
        self.stack = nn.LSTM(embedding, hidden, layers, dropout=inner)
        if parts == "all":
            # The last row is the symbol before the first action.
            self.action_embedding = nn.Embedding(OPEN + labels + 1, ACTION_WIDTH)
            self.action_history = nn.LSTM(ACTION_WIDTH, hidden, layers, dropout=inner)
            self.word_history = nn.LSTM(embedding, hidden, layers, dropout=inner)
        self.composed_label = nn.Embedding(labels, embedding)
        self.composition = nn.LSTM(embedding, embedding, bidirectional=True)
        self.composed = nn.Linear(2 * embedding, embedding)
        self.state = nn.Linear(hidden * (3 if parts == "all" else 1), hidden)
        self.action = nn.Linear(hidden, OPEN + labels)
        self.word = nn.Linear(hidden, words)
        for weight in (self.word_embedding.weight, self.label_embedding.weight, self.bottom, self.word.weight):
            nn.init.uniform_(weight, -0.1, 0.1)
        nn.init.uniform_(self.composed_label.weight, -0.1, 0.1)
        nn.init.zeros_(self.word.bias)
        if tied:
            self.word.weight = self.word_embedding.weight

    def derivation_state(self, histories: Sequence[Tensor]) -> Tensor:
        """Compute u from the tops of the LSTMs, each of shape (derivations, hidden)."""
        tops = nn.functional.dropout(torch.cat(list(histories), 1), self.dropout, self.training)
        return torch.relu(self.state(tops))

    def label_states(self) -> tuple[Tensor, Tensor]:
        """Compute the state of both composition LSTMs after each label; each of shape (directions, labels, embedding)."""
        inputs = self.composed_label.weight
        hiddens, cells = [], []
        for end in ("", "_reverse"):
            bias = getattr(self.composition, f"bias_ih_l0{end}") + getattr(self.composition, f"bias_hh_l0{end}")
            zeros = torch.zeros_like(inputs)
            hidden, cell = lstm_step(linear(inputs, getattr(self.composition, f"weight_ih_l0{end}"), bias), zeros)
            hiddens.append(hidden)
            cells.append(cell)
        return torch.stack(hiddens), torch.stack(cells)


def lstm_step(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """Compute hidden and cell state from the sums of all inputs of the gates, in PyTorch's order, and the cell state before."""
    enter, forget, new, leave = gates.chunk(4, 1)
    cell = torch.sigmoid(forget) * cell + torch.sigmoid(enter) * torch.tanh(new)
    return torch.sigmoid(leave) * torch.tanh(cell), cell


ROWS = 16
# Rows that go through all layers together, so that they stay in the CPU's cache.
MOST_ROWS = 512
# Upper bounds of probabilities are those of a softmax over the first words of the vocabulary, which are the most frequent
# ones, plus what rounding errors may amount to.
FREQUENT, MARGIN = 256, 1e-3


class _Layer(NamedTuple):
    """The weights of an LSTM layer, transposed; both biases are added."""

    inputs: Tensor
    recurrent: Tensor
    bias: Tensor


class NetworkGrammar(Grammar):
    """The grammar of a network, in evaluation mode."""

    @FullPrecision()
    def __init__(self, network: RnngNetwork) -> None:
        self._network = network
        self._stack = [_layer(network.stack, f"l{layer}") for layer in range(network.stack.num_layers)]
        # The inputs of the first layer are the same whenever a constituent of a label is opened.
        self._label_inputs = _product(network.label_embedding.weight, self._stack[0].inputs, self._stack[0].bias)
        self._directions = [_layer(network.composition, name) for name in ("l0", "l0_reverse")]
        self._label_states = network.label_states()
        self._actions: list[_Layer] = []
        if network.parts == "all":
            history, words = network.action_history, network.word_history
            self._actions = [_layer(history, f"l{layer}") for layer in range(history.num_layers)]
            self._words = [_layer(words, f"l{layer}") for layer in range(words.num_layers)]
            first = self._actions[0]
            self._action_inputs = _product(network.action_embedding.weight, first.inputs, first.bias)
        # Numbers of a state: its top element and the state of the LSTM over words. Of an element: the one below, and its
        # label if it is an open constituent, else -1.
        self._states, self._elements, self._readings = _Pool(), _Pool(), _Pool()

    @FullPrecision()
    def start(self) -> int:
        """Forget all states; return the state before the first action."""
        network = self._network
        zeros = network.bottom.new_zeros(1, 2 * len(self._stack) * network.stack.hidden_size)
        none = network.bottom.new_zeros(1, network.word_embedding.embedding_dim)
        self._states, self._elements, self._readings = _Pool(), _Pool(), _Pool()
        nothing = self._elements.add([np.zeros(1, np.int64), np.full(1, -1)], [zeros, none])
        first = self._stack[0]
        top = self._push(_product(network.bottom, first.inputs, first.bias), network.bottom, nothing, np.full(1, -1))
        reading, actions = np.zeros(1, np.int64), zeros[:, :0]
        if self._actions:
            words = _product(network.word_embedding.weight[:1], self._words[0].inputs, self._words[0].bias)
            reading = self._readings.add([], [_run(self._words, words, zeros, reading)])
            actions = _run(self._actions, self._action_inputs[-1:], zeros, np.zeros(1, np.int64))
        return int(self._add(top, reading, actions)[0])

    def actions(self, states: Numbers) -> Floats:
        return self._states.rows(2, states).double().cpu().numpy()

    @FullPrecision()
    def words(self, states: Numbers, words: Numbers) -> Floats:
        distinct, places = np.unique(states, return_inverse=True)
        totals: Floats = np.empty(len(distinct))
        for first in range(0, len(distinct), MOST_ROWS):
            vectors = self._states.rows(1, distinct[first : first + MOST_ROWS])
            totals[first : first + MOST_ROWS] = self._log_sums(vectors, len(self._network.word.bias)).cpu().numpy()
        return self._logits(states, words) - totals[places]

    @FullPrecision()
    def at_most(self, states: Numbers, words: Numbers) -> Floats:
        """Return upper bounds of the log-probabilities of words: those of a softmax over frequent words only."""
        totals: Floats = self._states.rows(3, states)[:, 0].double().cpu().numpy()
        return self._logits(states, words) - totals + MARGIN

    def _logits(self, states: Numbers, words: Numbers) -> Floats:
        layer, ids = self._network.word, torch.from_numpy(words)
        logits = (self._states.rows(1, states).double() * layer.weight[ids]).sum(1) + layer.bias[ids]
        numbers: Floats = logits.cpu().numpy()
        return numbers

    def _log_sums(self, vectors: Tensor, words: int) -> Tensor:
        """Return the logarithm of the summed exponentials of the logits of the first words, shape (rows,)."""
        layer = self._network.word
        logits = _product(vectors, layer.weight[:words].T, layer.bias[:words])
        highest = logits.amax(1, keepdim=True)
        return logits.sub_(highest).exp_().sum(1).log_().add_(highest[:, 0])

    @FullPrecision()
    def advance(self, states: Numbers, actions: Numbers, words: Numbers) -> Numbers:
        """Return the state after one more action; see `Grammar.advance`. Equal ones are computed once."""
        kinds = OPEN + self._network.label_embedding.num_embeddings
        choices = np.where(actions == SHIFT, kinds + words, actions)
        size = kinds + self._network.word_embedding.num_embeddings
        distinct, places = np.unique(states * size + choices, return_inverse=True)
        parts = [
            self._advance(*np.divmod(distinct[first : first + MOST_ROWS], size), kinds)
            for first in range(0, len(distinct), MOST_ROWS)
        ]
        return np.concatenate([np.empty(0, np.int64), *parts])[places]

    def _advance(self, states: Numbers, choices: Numbers, kinds: int) -> Numbers:
        """Add the states after an action each; a choice of `kinds` or more is a word."""
        network, (tops, readings) = self._network, self._states.numbers(states)
        below, labels = tops.copy(), np.full(len(states), -1)
        shifts, reduces = choices >= kinds, choices == REDUCE
        opens = ~shifts & ~reduces
        labels[opens] = choices[opens] - OPEN
        contents = network.bottom.new_zeros(len(states), network.word_embedding.embedding_dim)
        inputs = network.bottom.new_zeros(len(states), self._label_inputs.shape[1])
        inputs[opens] = self._label_inputs[labels[opens]]
        if shifts.any():
            contents[shifts] = network.word_embedding.weight[choices[shifts] - kinds]
        if reduces.any():
            contents[reduces], below[reduces] = self._compose(tops[reduces])
        if (closed := ~opens).any():
            inputs[closed] = _product(contents[closed], self._stack[0].inputs, self._stack[0].bias)
        top = self._push(inputs, contents, below, labels)
        history = inputs[:, :0]
        if self._actions:
            before, places = np.unique(states, return_inverse=True)
            of_actions = self._action_inputs[np.minimum(choices, kinds) % kinds]
            history = _run(self._actions, of_actions, self._states.rows(0, before), places)
            readings = readings.copy()
            readings[shifts] = self._read(readings[shifts], choices[shifts] - kinds)
        return self._add(top, readings, history)

    def _push(self, inputs: Tensor, contents: Tensor, below: Numbers, labels: Numbers) -> Numbers:
        """Add elements, given the inputs of the first layer, and return their numbers."""
        before, places = np.unique(below, return_inverse=True)
        state = _run(self._stack, inputs, self._elements.rows(0, before), places)
        return self._elements.add([below, labels], [state, contents])

    def _read(self, readings: Numbers, words: Numbers) -> Numbers:
        """Return the states of the LSTM over words after one more word."""
        distinct, places = np.unique(np.stack([readings, words]), axis=1, return_inverse=True)
        if not len(places):
            return readings
        inputs = _product(self._network.word_embedding.weight[distinct[1]], self._words[0].inputs, self._words[0].bias)
        before, rows = np.unique(distinct[0], return_inverse=True)
        return self._readings.add([], [_run(self._words, inputs, self._readings.rows(0, before), rows)])[places]

    def _compose(self, tops: Numbers) -> tuple[Tensor, Numbers]:
        """Return the vectors of the constituents that end with these elements, and the elements below them."""
        children, elements = [], tops
        lengths = np.zeros(len(tops), np.int64)
        below, labels = self._elements.numbers(elements)
        while (inside := labels < 0).any():
            lengths += inside
            # In shorter constituents, this is the opening element; it is not used as a child.
            children.append(elements)
            elements = np.where(inside, below, elements)
            below, labels = self._elements.numbers(elements)
        # With the longest constituents first, those with an n-th child are the first rows.
        order = np.argsort(-lengths, kind="stable")
        table, lengths, labels = np.stack(children)[:, order], lengths[order], labels[order]
        ends = []
        for direction, layer in enumerate(self._directions):
            hidden, cell = (states[direction][labels] for states in self._label_states)
            for step in range(len(table)):
                longer = int((lengths > step).sum())
                # Children are listed from right to left.
                places = np.full(longer, step) if direction else lengths[:longer] - 1 - step
                inputs = self._elements.rows(1, table[places, np.arange(longer)])
                gates = _product(inputs, layer.inputs, layer.bias) + _product(hidden[:longer], layer.recurrent)
                hidden[:longer], cell[:longer] = lstm_step(gates, cell[:longer])
            ends.append(hidden)
        last = self._network.composed
        composed = torch.relu(_product(torch.cat(ends, 1), last.weight.T, last.bias))
        return composed[np.argsort(order)], below

    def _add(self, tops: Numbers, readings: Numbers, history: Tensor) -> Numbers:
        network, width = self._network, self._network.stack.hidden_size
        parts = [_top(self._elements.rows(0, tops), width)]
        if self._actions:
            parts += [_top(history, width), _top(self._readings.rows(0, readings), width)]
        vectors = torch.relu(_product(torch.cat(parts, 1), network.state.weight.T, network.state.bias))
        logits = _product(vectors, network.action.weight.T, network.action.bias)
        frequent = self._log_sums(vectors, FREQUENT)[:, None]
        return self._states.add([tops, readings], [history, vectors, logits, frequent])

    def keep(self, states: Numbers) -> Numbers:
        kept, places = np.unique(states, return_inverse=True)
        tops, readings = self._states.numbers(kept)
        elements = reached = np.unique(tops)
        while len(reached):
            reached = np.setdiff1d(self._elements.numbers(reached)[0], elements)
            elements = np.union1d(elements, reached)
        words = np.unique(readings)
        self._elements.keep(elements, [np.searchsorted(elements, self._elements.numbers(elements)[0])])
        if self._actions:
            self._readings.keep(words, [])
        self._states.keep(kept, [np.searchsorted(elements, tops), np.searchsorted(words, readings)])
        return places


class _Pool:
    """Rows that are added one batch after the other: columns of whole numbers and of vectors."""

    def __init__(self) -> None:
        self._size = 0
        self._numbers: list[Numbers] = []
        self._vectors: list[Tensor] = []

    def add(self, numbers: list[Numbers], vectors: list[Tensor]) -> Numbers:
        first, last = self._size, self._size + len(vectors[0])
        if not self._vectors:
            self._numbers = [np.empty(0, np.int64) for _ in numbers]
            self._vectors = [column[:0] for column in vectors]
        if last > len(self._vectors[0]):
            more = max(last - len(self._vectors[0]), len(self._vectors[0]))
            self._numbers = [np.concatenate([column, np.empty(more, np.int64)]) for column in self._numbers]
            self._vectors = [torch.cat([column, column.new_empty(more, column.shape[1])]) for column in self._vectors]
        for column, values in zip(self._numbers, numbers, strict=True):
            column[first:last] = values
        for vector, rows in zip(self._vectors, vectors, strict=True):
            vector[first:last] = rows
        self._size = last
        return np.arange(first, last)

    def numbers(self, index: Numbers) -> list[Numbers]:
        return [column[index] for column in self._numbers]

    def rows(self, column: int, index: Numbers) -> Tensor:
        vectors = self._vectors[column]
        return vectors.index_select(0, torch.from_numpy(index).to(vectors.device))

    def keep(self, index: Numbers, numbers: list[Numbers]) -> None:
        """Remove all rows but these; the first columns of numbers get new values."""
        kept = numbers + [column[index] for column in self._numbers[len(numbers) :]]
        vectors = [self.rows(column, index) for column in range(len(self._vectors))]
        for old, new in zip(self._numbers, kept, strict=True):
            old[: len(index)] = new
        for vector, rows in zip(self._vectors, vectors, strict=True):
            vector[: len(index)] = rows
        self._size = len(index)


def _layer(lstm: nn.LSTM, name: str) -> _Layer:
    inputs, recurrent = (getattr(lstm, f"weight_{kind}_{name}").T for kind in ("ih", "hh"))
    return _Layer(inputs, recurrent, getattr(lstm, f"bias_ih_{name}") + getattr(lstm, f"bias_hh_{name}"))


def _run(layers: list[_Layer], inputs: Tensor, before: Tensor, places: Numbers) -> Tensor:
    """Return the states of an LSTM after one more step."""
    rows = torch.from_numpy(places).to(inputs.device)
    after: list[Tensor] = []
    width = before.shape[1] // (2 * len(layers))
    for number, layer in enumerate(layers):
        hidden, cell = before[:, 2 * number * width :][:, : 2 * width].chunk(2, 1)
        gates = _product(hidden, layer.recurrent, layer.bias if number else None).index_select(0, rows)
        gates += _product(after[-2], layer.inputs) if number else inputs
        after += lstm_step(gates, cell.index_select(0, rows))
    return torch.cat(after, 1)


def _top(states: Tensor, width: int) -> Tensor:
    """Return the hidden state of the last layer, given hidden and cell states of all layers."""
    return states[:, -2 * width : -width]


def _product(rows: Tensor, weights: Tensor, bias: Tensor | None = None) -> Tensor:
    """Multiply rows by transposed weights, in numbers of rows that don't change the result."""
    missing = -len(rows) % ROWS
    if missing:
        rows = torch.cat([rows, rows.new_zeros(missing, rows.shape[1])])
    product = rows @ weights if bias is None else torch.addmm(bias, rows, weights)
    return product[: len(product) - missing]
