"""The LSTM of Jozefowicz et al. 2016, with projections (Sak et al. 2014) and peepholes.

    i, g, f, o = W [x; h] + b                      in this order
    c' = sigmoid(f + 1 + p_f c) c + sigmoid(i + p_i c) tanh(g)
    h' = P (sigmoid(o + p_o c') tanh(c'))

The embeddings are those that the character CNN of the original gives each word of the vocabulary.
"""

import torch
from torch import Tensor, nn

from syntagm.models.recurrent import network
from syntagm.models.recurrent.network import State

_FORGET = 1.0


class Layer(nn.Module):
    """A layer; its arrays have the shapes of the original."""

    def __init__(self, width: int, cells: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(2 * width, 4 * cells))
        self.bias = nn.Parameter(torch.zeros(4 * cells))
        self.projection = nn.Parameter(torch.zeros(cells, width))
        # Of the gates i, f and o.
        self.peepholes = nn.Parameter(torch.zeros(3, cells))

    def forward(self, inputs: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        """Return hidden and cell state after one more word."""
        gates = torch.addmm(self.bias, torch.cat([inputs, hidden], 1), self.weight)
        enter, new, forget, leave = gates.chunk(4, 1)
        kept = torch.sigmoid(forget + _FORGET + self.peepholes[1] * cell) * cell
        cell = kept + torch.sigmoid(enter + self.peepholes[0] * cell) * torch.tanh(new)
        return (torch.sigmoid(leave + self.peepholes[2] * cell) * torch.tanh(cell)) @ self.projection, cell


class Network(network.Network):
    """The network.

    Arguments:
        words: size of the vocabulary.
        width: width of the embeddings, the hidden states and the inputs of the output layer.
        cells: number of cells in a layer.
        layers: number of layers.
    """

    def __init__(self, words: int, width: int, cells: int, layers: int) -> None:
        super().__init__()
        self._width, self._cells = width, cells
        # The first row is the start symbol here, and the end symbol in the output layer.
        self.encoder = nn.Embedding(words, width)
        self.layers = nn.ModuleList(Layer(width, cells) for _ in range(layers))
        self.decoder: nn.Linear = nn.Linear(width, words)

    def fresh(self, columns: int) -> State:
        """Return the initial hidden and cell states: zeros."""
        weight, layers = self.decoder.weight, len(self.layers)
        return weight.new_zeros(layers, columns, self._width), weight.new_zeros(layers, columns, self._cells)

    def forward(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
        """Read several words, one after the other; see `recurrent.network.Network.forward`."""
        return network.one_by_one(self, ids, state)

    def step(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
        """Read one more word in each of several texts; see `recurrent.network.Network.step`."""
        inputs, hiddens, cells = self.encoder(ids), [], []
        for layer, hidden, cell in zip(self.layers, *state, strict=True):
            inputs, cell = layer(inputs, hidden, cell)
            hiddens.append(inputs)
            cells.append(cell)
        return inputs, (torch.stack(hiddens), torch.stack(cells))
