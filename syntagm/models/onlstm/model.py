"""Word-level ON-LSTM language models, trained by `syntagm train onlstm` (Shen et al. 2019; Hu et al. 2020)."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import linear

from syntagm.core import UsageError
from syntagm.models.contract import UNLABELLED
from syntagm.models.family import Family
from syntagm.models.onlstm.family import FAMILY
from syntagm.models.recurrent.model import RecurrentModel, batches, rows
from syntagm.models.recurrent.network import AdaptiveSoftmax, Network, Softmax, State
from syntagm.models.words import weights
from syntagm.models.words.splitting import leaf, split
from syntagm.models.words.vocabulary import Vocabulary

# Neurons are ordered: where one is forgotten, so are those before it. Each layer has `width` neurons in chunks of
# `chunk`, and two master gates with a value for each chunk. With cumax(x) = cumsum(softmax(x)), the equations are
#
#     f~ = cumax(master forget),  i~ = 1 - cumax(master input),  w = f~ i~
#     f^ = f w + (f~ - w),        i^ = i w + (i~ - w)
#     c_t = f^ c_{t-1} + i^ tanh(cell),   h_t = o tanh(c_t)
#
# The last layer is as wide as the embeddings, whose matrix is that of the output layer.


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


class OnLstmNetwork(Network):
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
        return tuple(self.decoder.weight.new_zeros(2, columns, layer.width) for layer in self.layers)

    def step(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
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


def of_distances(words: Sequence[str], distances: NDArray[np.floating]) -> str:
    """Return the tree of a text.

    The word with the largest distance to the word before it begins a new constituent: the text is split into what stands
    before it, and the word with what stands after it. Both parts are split in the same way. (Of equal distances, the first
    counts.)

    There is at least one word. Each distance is that of a word to the word before it.

    >>> of_distances(["the", "dog", "barks"], np.array([0.5, 0.1, 0.7]))
    '(X (X the dog) barks)'
    >>> of_distances(["the", "dog", "barks", "loudly"], np.array([0.3, 0.5, 0.7, 0.1]))
    '(X (X the dog) (X barks loudly))'
    """
    if len(words) == 1:
        return f"({UNLABELLED} {leaf(words[0])})"
    left, right, root = _split(distances)
    parts: list[str] = []
    # Not recursive: texts may be long. A pair is a word, and whether what stands before it belongs to the constituent.
    stack: list[str | tuple[int, bool]] = [(root, True)]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            parts.append(part)
            continue
        word, whole = part
        if whole and word in left:
            stack += [")", (word, False), (left[word], True), f" ({UNLABELLED}"]
        elif word in right:
            stack += [")", (right[word], True), f" {leaf(words[word])}", f" ({UNLABELLED}"]
        else:
            parts.append(f" {leaf(words[word])}")
    return "".join(parts)[1:]


def _split(distances: NDArray[np.floating]) -> tuple[dict[int, int], dict[int, int], int]:
    """Return the word that splits the part before each word, that which splits the part after it, and that of the whole."""
    left: dict[int, int] = {}
    right: dict[int, int] = {}
    path: list[int] = []
    for word, distance in enumerate(distances.tolist()):
        while path and distances[path[-1]] < distance:
            left[word] = path.pop()
        if path:
            right[path[-1]] = word
        path.append(word)
    return left, right, path[0]


# The layer of Shen et al. with the best trees.
_LAYER = 2


class OnLstm(RecurrentModel):
    """An ON-LSTM with its vocabulary."""

    labelled: ClassVar[bool] = False
    family: ClassVar[Family] = FAMILY
    scorer: ClassVar[str] = "onlstm 1"
    keys: ClassVar[weights.Keys] = {
        **dict.fromkeys(("embedding", "hidden", "layers", "chunk"), weights.is_size),
        "cutoffs": lambda value: isinstance(value, list) and all(type(first) is int for first in value),
    }
    kind = OnLstmNetwork

    def __init__(
        self, network: OnLstmNetwork, vocabulary: Vocabulary, tokens: str, label: str, options: Mapping[str, str]
    ) -> None:
        super().__init__(network, vocabulary, tokens, label, options)
        layers = len(network.layers)
        self._layer = int(self.family.choose(options).get("layer", min(_LAYER, layers)))
        if self._layer > layers:
            raise UsageError("model option layer", str(self._layer), f"at most {layers}, the number of layers")
        self._reader = _Distances(network, self._layer - 1)

    def parse(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[tuple[str, ...]]:
        divided = {text: split(text, self._tokens) for text in texts}
        repeats = Counter(texts)
        if done and (empty := sum(repeats[text] for text, text_words in divided.items() if not text_words)):
            done(empty)
        # The end symbol is read before the words, and has no distance.
        bos = [0] * (self.bos is not None)
        filled = [text for text, text_words in divided.items() if text_words]
        sequences = [bos + self.vocabulary.ids(divided[text]) for text in filled]
        distances: dict[str, NDArray[np.floating]] = {}
        for indices in batches(sequences, self._batch):
            found = rows(self._reader, [sequences[index] for index in indices], self._share)
            distances.update((filled[index], row[len(bos) :]) for index, row in zip(indices, found, strict=True))
            if done:
                done(sum(repeats[filled[index]] for index in indices))
        for text in texts:
            text_words = divided[text]
            lengths = range(1, len(text_words) + 1)
            yield tuple(of_distances(text_words[:n], distances[text][:n]) for n in lengths)


load = OnLstm.load


class _Distances:
    """Reads texts and returns the distance of each word from the one before, in one layer."""

    def __init__(self, network: OnLstmNetwork, layer: int) -> None:
        self._network, self._layer = network, layer
        self.fresh = network.fresh

    def step(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
        _, state, distances = self._network.distances(ids, state)
        return distances[self._layer], state
