"""The ordered-neurons LSTM of Shen et al. 2019, with the regularisation of Merity et al. 2018 (AWD-LSTM).

Neurons are ordered: where one is forgotten, so are those before it. Each layer has `width` neurons in chunks of `chunk`,
and two master gates with a value for each chunk. With cumax(x) = cumsum(softmax(x)), the equations are

    f~ = cumax(master forget),  i~ = 1 - cumax(master input),  w = f~ i~
    f^ = f w + (f~ - w),        i^ = i w + (i~ - w)
    c_t = f^ c_{t-1} + i^ tanh(cell),   h_t = o tanh(c_t)

The last layer is as wide as the embeddings, whose matrix is that of the output layer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from syntagm.core import UsageError
from syntagm.models.recurrent import network
from syntagm.models.recurrent.network import State
from syntagm.models.recurrent.softmax import AdaptiveSoftmax, Softmax


@dataclass(frozen=True, slots=True)
class Dropout:
    """Probabilities of dropout in training. But for the recurrent weights, what is kept is scaled up."""

    output: float = 0.0  # before the output layer
    layers: float = 0.0  # between layers
    inputs: float = 0.0  # after the embeddings. These three drop the same neurons at all steps of a column.
    words: float = 0.0  # of words in the whole embedding matrix
    recurrent: float = 0.0  # of recurrent weights; they are the same at all steps, and scaled down after training


class Layer(nn.Module):
    """A layer of ordered neurons."""

    def __init__(self, inputs: int, width: int, chunk: int) -> None:
        super().__init__()
        self.width, self.chunk, self.chunks = width, chunk, width // chunk
        # Rows: master input, master forget; output, cell, input, forget.
        rows = 2 * self.chunks + 4 * width
        self.input, self.recurrent = nn.Linear(inputs, rows), nn.Linear(width, rows)

    def cell(self, gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the hidden and the cell state after a step, and the distance d_f to the word before."""
        n = self.chunks
        enter = 1 - gates[:, :n].softmax(1).cumsum(1)
        keep = gates[:, n : 2 * n].softmax(1).cumsum(1)
        out, new, enter_now, keep_now = gates[:, 2 * n :].view(-1, 4, n, self.chunk).unbind(1)
        overlap = (keep * enter)[:, :, None]
        keep_now = keep_now.sigmoid() * overlap + (keep[:, :, None] - overlap)
        enter_now = enter_now.sigmoid() * overlap + (enter[:, :, None] - overlap)
        cells = keep_now * cell.view(-1, n, self.chunk) + enter_now * new.tanh()
        hidden = out.sigmoid() * cells.tanh()
        return hidden.flatten(1), cells.flatten(1), 1 - keep.mean(1)


class Network(network.Network):
    """An ON-LSTM language model."""

    def __init__(
        self, words: int, embedding: int, hidden: int, layers: int, chunk: int, cutoffs: Sequence[int] = (),
        dropout: Dropout | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        for name, width in (("embedding", embedding), ("hidden", hidden)):
            if width % chunk:
                raise UsageError(name, str(width), f"a multiple of chunk, {chunk}")
        self.dropout, self._cutoffs = dropout or Dropout(), list(cutoffs)
        self.decoder: Softmax | AdaptiveSoftmax
        widths = [embedding, *[hidden] * (layers - 1), embedding]
        self.encoder = nn.Embedding(words, embedding)
        self.layers: Sequence[Layer] = nn.ModuleList(  # type: ignore[assignment]
            Layer(inputs, width, chunk) for inputs, width in pairwise(widths)
        )
        self.decoder = AdaptiveSoftmax(embedding, words, tuple(cutoffs)) if cutoffs else Softmax(embedding, words)
        self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)

    def forward(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
        """Read several words; see `recurrent.network.Network.forward`."""
        raw, state = self.raw(ids, state)
        return self.dropped(raw, self.dropout.output), state

    def raw(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
        """Return the states of the last layer without dropout, and the state after the last step."""
        # Weights of words that are dropped are not looked up, so a number for each word suffices.
        kept = self.dropped(self.encoder.weight.new_ones(1, len(self.encoder.weight), 1), self.dropout.words)
        outputs = self.dropped(self.encoder(ids) * kept[0, ids], self.dropout.inputs)
        states = []
        for number, (layer, (hidden, cell)) in enumerate(zip(self.layers, state, strict=True)):
            if number:
                outputs = self.dropped(outputs, self.dropout.layers)
            gates, recurrent, hiddens = layer.input(outputs), self._recurrent(layer), []
            for step_gates in gates:
                hidden, cell, _ = layer.cell(step_gates + linear(hidden, recurrent, layer.recurrent.bias), cell)
                hiddens.append(hidden)
            outputs = torch.stack(hiddens)
            states.append(torch.stack([hidden, cell]))
        return outputs, tuple(states)

    def fresh(self, columns: int) -> State:
        """Return the initial state: zeros."""
        return tuple(self.decoder.weight.new_zeros(2, columns, layer.width) for layer in self.layers)

    def step(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
        """Read one more word in each of several texts; see `recurrent.network.Network.step`."""
        hidden, state, _ = self.distances(ids, state)
        return hidden, state

    def distances(self, ids: Tensor, state: State) -> tuple[Tensor, State, list[Tensor]]:
        """Do the same as `step`, and also return the distance d_f between this word and the one before in each layer."""
        inputs, states, distances = self.encoder(ids), [], []
        for layer, (hidden, cell) in zip(self.layers, state, strict=True):
            gates = layer.input(inputs) + linear(hidden, self._recurrent(layer), layer.recurrent.bias)
            inputs, cell, distance = layer.cell(gates, cell)
            states.append(torch.stack([inputs, cell]))
            distances.append(distance)
        return inputs, tuple(states), distances

    def dropped(self, values: Tensor, probability: float) -> Tensor:
        """Drop the same neurons at all steps, the first dimension, and scale up the others; in training only."""
        if not self.training or not probability:
            return values
        mask = torch.empty_like(values[:1]).bernoulli_(1 - probability)
        return values * mask.div_(1 - probability)

    def _recurrent(self, layer: Layer) -> Tensor:
        """Return the recurrent weights: some dropped in training, all scaled down afterwards."""
        weight: Tensor = layer.recurrent.weight
        if not (probability := self.dropout.recurrent):
            return weight
        if self.training:
            return weight.masked_fill(torch.empty_like(weight).bernoulli_(probability).bool(), 0.0)
        return weight * (1 - probability)

    def identity(self) -> list[object]:
        """Return the cut-offs."""
        return [self._cutoffs]

    def record(self) -> dict[str, object]:
        """Return the kind of softmax."""
        return {"softmax": "adaptive " + ", ".join(map(str, self._cutoffs)) if self._cutoffs else "full"}

    def stored(self) -> dict[str, Tensor]:
        """Return the weights of a network without dropout that computes the same as this one after training."""
        weights = super().stored()
        for number, layer in enumerate(self.layers):
            weights[f"layers.{number}.recurrent.weight"] = layer.recurrent.weight * (1 - self.dropout.recurrent)
        return weights
