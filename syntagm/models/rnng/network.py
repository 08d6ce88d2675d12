"""The network of an RNNG (Dyer et al. 2016), with its computations for whole batches of derivations.

The state of a derivation is u = ReLU(W [s; a; y] + b). s is the top of a stack LSTM, whose elements are generated words,
open constituents, and closed ones; a is an LSTM over the actions, and y an LSTM over the words. `parts=stack` has s only
(Kuncoro et al. 2017). Two softmax layers give the probabilities of actions and of words.

REDUCE replaces the elements of a constituent by one vector: ReLU(W [f; b] + b'), with the last states of a forward and a
backward LSTM. Each reads the label, and then the children in its own order.

Both nonlinearities are those of the published program; the paper has tanh (docs/reference/differences.md, RNNG 1).
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from syntagm.models.rnng.search import OPEN

PARTS = ("all", "stack")
# Hidden and cell states, one tensor per layer, each of shape (derivations, hidden).
State = list[tuple[Tensor, Tensor]]
ACTION_WIDTH = 16


class Network(nn.Module):
    """An RNNG."""

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
