"""The network of Jozefowicz et al. 2016: a convolutional network over letters, and an LSTM over the words that it embeds.

The embedding of a word (Kim et al. 2016), with the letters of the word as rows of E, filters F of several widths, and two
highway layers:

    x = max over places of ReLU(E_(place .. place + width - 1) F + b)
    x = t ReLU(x W_h + b_h) + (1 - t) x        with t = sigmoid(x W_t + b_t - 2)
    embedding = x W + b

The LSTM has projections (Sak et al. 2014) and peepholes:

    i, g, f, o = W [x; h] + b                  in this order
    c' = sigmoid(f + 1 + p_f c) c + sigmoid(i + p_i c) tanh(g)
    h' = P (sigmoid(o + p_o c') tanh(c'))
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import conv1d

from syntagm.models.jrnn.letters import Letters
from syntagm.models.recurrent import network
from syntagm.models.recurrent.network import State
from syntagm.models.recurrent.softmax import Softmax

_CARRY, _FORGET = 2.0, 1.0
_UNKNOWN = 1
# Words embedded at a time, so that the outputs of all filters of one width stay small.
_WORDS = 64


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a network.

    Arguments:
        width: width of the embeddings, the hidden states and the inputs of the output layer.
        cells: number of cells in a layer.
        layers: number of layers.
        letters: width of the embeddings of letters.
        filters: widths of the filters, and the number of those of each width; a width may occur twice.
        highways: number of highway layers.
    """

    width: int
    cells: int
    layers: int
    letters: int
    filters: tuple[tuple[int, int], ...]
    highways: int


class Highway(nn.Module):
    """A highway layer (Srivastava et al. 2015): each output is a weighted mean of the input and of its transform."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gate = nn.Parameter(torch.zeros(width, width))
        self.gate_bias = nn.Parameter(torch.zeros(width))
        self.transform = nn.Parameter(torch.zeros(width, width))
        self.transform_bias = nn.Parameter(torch.zeros(width))

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the outputs for the embeddings of words, of the same shape."""
        share = torch.sigmoid(torch.addmm(self.gate_bias, inputs, self.gate) - _CARRY)
        return torch.lerp(inputs, torch.relu(torch.addmm(self.transform_bias, inputs, self.transform)), share)


class Characters(nn.Module):
    """The network that embeds words by their letters."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        total = sum(number for _, number in size.filters)
        self.letters = nn.Parameter(torch.zeros(256, size.letters))
        self.filters = nn.ParameterList(torch.zeros(number, size.letters, width) for width, number in size.filters)
        self.biases = nn.ParameterList(torch.zeros(number) for _, number in size.filters)
        self.highways = nn.ModuleList(Highway(total) for _ in range(size.highways))
        self.projection = nn.Parameter(torch.zeros(total, size.width))
        self.projection_bias = nn.Parameter(torch.zeros(size.width))

    def forward(self, letters: Tensor) -> Tensor:
        """Embed words; shape (words, width), from their letters, shape (words, LENGTH)."""
        rows = self.letters[letters].transpose(1, 2)
        found = [
            conv1d(rows, weight, bias).amax(2).relu() for weight, bias in zip(self.filters, self.biases, strict=True)
        ]
        inputs = torch.cat(found, 1)
        for highway in self.highways:
            inputs = highway(inputs)
        return torch.addmm(self.projection_bias, inputs, self.projection)


class Layer(nn.Module):
    """A layer of the LSTM; its arrays have the shapes of the original."""

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
    """The network."""

    def __init__(self, size: Size, letters: Letters) -> None:
        super().__init__()
        self.size, self._letters = size, letters
        self.characters = Characters(size)
        self.layers = nn.ModuleList(Layer(size.width, size.cells) for _ in range(size.layers))
        self.decoder: Softmax = Softmax(size.width, len(letters.vocabulary))

    def fresh(self, columns: int) -> State:
        """Return the initial hidden and cell states: zeros."""
        weight, size = self.decoder.weight, self.size
        return weight.new_zeros(size.layers, columns, size.width), weight.new_zeros(size.layers, columns, size.cells)

    def forward(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
        """Read several words, one after the other; see `recurrent.network.Network.forward`."""
        return network.one_by_one(self, ids, state)

    def step(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
        """Read one more word in each of several texts; see `recurrent.network.Network.step`."""
        inputs, hiddens, cells = self._embedded(ids), [], []
        for layer, hidden, cell in zip(self.layers, *state, strict=True):
            inputs, cell = layer(inputs, hidden, cell)
            hiddens.append(inputs)
            cells.append(cell)
        return inputs, (torch.stack(hiddens), torch.stack(cells))

    def identity(self) -> list[object]:
        return [list(self._letters.symbols)]

    def number(self, word: str) -> int:
        """Return the number by which the network reads an unknown word."""
        return self._letters.number(word)

    def targets(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of the output layer; see `recurrent.network.Network.targets`."""
        return np.where(ids < self.decoder.out_features, ids, _UNKNOWN)

    def _embedded(self, ids: Tensor) -> Tensor:
        distinct, places = torch.unique(ids, return_inverse=True)
        letters = torch.from_numpy(self._letters.read(distinct.cpu().numpy())).to(ids.device, torch.int64)
        return torch.cat([self.characters(part) for part in torch.split(letters, _WORDS)])[places]
