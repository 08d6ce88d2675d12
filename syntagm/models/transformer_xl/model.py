"""Word-level Transformer-XL models (Dai et al. 2019), imported by `syntagm import transformer_xl`.

The memory is reset before each text.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from syntagm.models.family import Family
from syntagm.models.recurrent.model import RecurrentModel
from syntagm.models.recurrent.network import Clusters, Network, State, refuse_odd_cutoffs
from syntagm.models.transformer_xl.family import FAMILY
from syntagm.models.words import weights
from syntagm.models.words.vocabulary import Vocabulary

# The equations of the network:
#
#     x_w = sqrt(d) P_c E_c[w]                                       embedding of the word w in the cluster c
#     a_ij = ((q_i + u) k_j + (q_i + v) W_r R_(i-j)) / sqrt(d_head)  attention of the word i to the word j, in each head
#     y = LayerNorm(x + W_o sum_j softmax_j(a_ij) v_j)
#     z = LayerNorm(y + W_2 ReLU(W_1 y + b_1) + b_2)
#
# R_n has the sines, then the cosines, of n / 10000^(2k/d), with n at most `clamp`. A word attends to itself and to the
# words before it, `memory` in all (in the original: `same_length`). So the numbers don't depend on how a text is cut
# into segments. The state of a text is the keys and values of its last words in each layer.
#
# The original programs differ in what precedes a text: nothing, or a memory of zeros. Keys and values of zeros are
# zeros, but the model attends to their positions.
#
# The output layer is an adaptive softmax. Its weights are those of the embeddings, after another projection.


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a network."""

    cutoffs: tuple[int, ...]  # the first word of each cluster of rarer words, in increasing order
    width: int  # width of the layers
    embedding: int  # width of the embeddings of the most frequent words
    divisor: int  # the width of embeddings is divided by this from one cluster to the next
    heads: int
    head_width: int  # width of a head
    inner: int  # width of the feed-forward layers
    layers: int
    memory: int  # number of words that a word attends to, with itself
    clamp: int  # the largest distance between words that is distinguished

    def clusters(self, words: int) -> list[tuple[int, int, int]]:
        """Return the first word, the last word + 1, and the width of the embeddings of each cluster."""
        refuse_odd_cutoffs(self.cutoffs, words)
        bounds = pairwise([0, *self.cutoffs, words])
        return [(first, last, self.embedding // self.divisor**at) for at, (first, last) in enumerate(bounds)]


class Layer(nn.Module):
    """A layer: relative attention and a feed-forward layer, each followed by normalisation."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        heads = size.heads * size.head_width
        self.queries_keys_values = nn.Linear(size.width, 3 * heads, bias=False)
        self.positions = nn.Linear(size.width, heads, bias=False)
        self.attended = nn.Linear(heads, size.width, bias=False)
        self.key_bias = nn.Parameter(torch.zeros(size.heads, size.head_width))
        self.position_bias = nn.Parameter(torch.zeros(size.heads, size.head_width))
        self.attention_norm = nn.LayerNorm(size.width)
        self.inner = nn.Linear(size.width, size.inner)
        self.outer = nn.Linear(size.inner, size.width)
        self.norm = nn.LayerNorm(size.width)


class TransformerXlNetwork(Network):
    def __init__(self, words: int, size: Size, zeros: bool = True, reverse: bool = False) -> None:
        super().__init__()
        self.size, self._zeros = size, zeros
        # Each layer looks further back.
        self.reach = size.layers * (size.memory - 1)
        self.embeddings = nn.ParameterList(
            torch.empty(last - first, width) for first, last, width in size.clusters(words)
        )
        self.projections = nn.ParameterList(torch.empty(size.width, width) for _, _, width in size.clusters(words))
        self.layers: Sequence[Layer] = nn.ModuleList(  # type: ignore[assignment]
            Layer(size) for _ in range(size.layers)
        )
        self.decoder: ProjectedSoftmax = ProjectedSoftmax(self.embeddings, words, size, reverse)
        for weight in (*self.embeddings, *self.projections, *self.decoder.projections):
            nn.init.normal_(weight, 0.0, 0.02)
        # The keys of distances in each layer; computed once.
        self._distances: list[Tensor] = []

    def fresh(self, columns: int) -> State:
        size = self.size
        none = self.embeddings[0].new_zeros(size.layers, columns, 0, size.heads, size.head_width)
        if not self._distances or self._distances[0].device != none.device:
            self._distances = self._keys_of_distances()
        return none, none

    def step(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
        size, hidden = self.size, self._embedded(ids)
        all_keys, all_values = [], []
        for layer, distances, old_keys, old_values in zip(self.layers, self._distances, *state, strict=True):
            parts = layer.queries_keys_values(hidden).view(len(ids), 3, size.heads, size.head_width).unbind(1)
            query, keys, values = parts[0], _appended(old_keys, parts[1], size), _appended(old_values, parts[2], size)
            attended = self._attended(layer, query, keys, values, distances)
            hidden = layer.attention_norm(hidden + layer.attended(attended))
            hidden = layer.norm(hidden + layer.outer(torch.relu(layer.inner(hidden))))
            all_keys.append(keys)
            all_values.append(values)
        return hidden, (torch.stack(all_keys), torch.stack(all_values))

    def _embedded(self, ids: Tensor) -> Tensor:
        """Return the embeddings of words, shape (words, width)."""
        hidden = self.projections[0].new_empty(len(ids), self.size.width)
        for (first, last, _), weight, projection in zip(
            self.size.clusters(self.decoder.words), self.embeddings, self.projections, strict=True
        ):
            places = ((ids >= first) & (ids < last)).nonzero()[:, 0]
            hidden[places] = linear(weight[ids[places] - first], projection)
        scaled: Tensor = hidden * self.size.width**0.5
        return scaled

    def _attended(self, layer: Layer, query: Tensor, keys: Tensor, values: Tensor, distances: Tensor) -> Tensor:
        """Return the attended values of each text, shape (texts, heads * width of a head)."""
        length, scale = keys.shape[1], self.size.head_width**-0.5
        of_keys = torch.einsum("nhd,nthd->nht", query + layer.key_bias, keys)
        # Column n is for the distance n, and for all distances from `clamp` on.
        of_distances = torch.einsum("nhd,phd->nhp", query + layer.position_bias, distances)
        # The words before the text come last.
        columns = torch.arange(self.size.memory if self._zeros else length, device=keys.device)
        columns = columns.clamp(max=distances.shape[0] - 1)
        scores = of_distances[:, :, columns] * scale
        # The nearest word has the distance 0.
        scores[:, :, :length] += of_keys.flip(2) * scale
        probabilities = scores.softmax(2)[:, :, :length].flip(2)
        return torch.einsum("nht,nthd->nhd", probabilities, values).flatten(1)

    @torch.no_grad()
    def _keys_of_distances(self) -> list[Tensor]:
        """Return W_r R for all distances in each layer, shape (distances, heads, width of a head)."""
        size = self.size
        weight = self.embeddings[0]
        distances = torch.arange(min(size.memory - 1, size.clamp) + 1, device=weight.device, dtype=weight.dtype)
        powers = torch.arange(0.0, size.width, 2.0, device=weight.device, dtype=weight.dtype) / size.width
        angles = distances[:, None] / 10000**powers
        sinusoids = torch.cat([angles.sin(), angles.cos()], 1)
        keys = [layer.positions(sinusoids) for layer in self.layers]
        return [each.view(len(distances), size.heads, size.head_width) for each in keys]


def _appended(old: Tensor, new: Tensor, size: Size) -> Tensor:
    """Append the newest word, and forget what no later word attends to."""
    return torch.cat([old, new[:, None]], 1)[:, -size.memory :]


class ProjectedSoftmax(Clusters, nn.Module):
    """An adaptive softmax whose weights are those of the embeddings; the inputs are projected to their widths."""

    def __init__(self, embeddings: Iterable[Tensor], words: int, size: Size, reverse: bool) -> None:
        super().__init__()
        self.words, self._reverse = words, reverse
        self._embeddings = list(embeddings)
        self.projections = nn.ParameterList(torch.empty(size.width, width) for _, _, width in size.clusters(words))
        self.bias = nn.Parameter(torch.zeros(words))
        self.tails = nn.Linear(size.embedding, len(size.cutoffs))
        self._set_cutoffs(size.cutoffs, words)

    def _head(self, hidden: Tensor) -> Tensor:
        tails = (self.tails.weight, self.tails.bias)
        weight, bias = (part.flip(0) if self._reverse else part for part in tails)
        all_weights = torch.cat([self._embeddings[0], weight])
        all_biases = torch.cat([self.bias[: self._cutoffs[0]], bias])
        return linear(hidden @ self.projections[0], all_weights, all_biases).log_softmax(1)

    def _tail(self, hidden: Tensor, tail: int) -> Tensor:
        words = slice(*self._tails[tail])
        inputs = hidden @ self.projections[tail + 1]
        return linear(inputs, self._embeddings[tail + 1], self.bias[words]).log_softmax(1)


class TransformerXl(RecurrentModel):
    """A Transformer-XL with its vocabulary."""

    family: ClassVar[Family] = FAMILY
    scorer: ClassVar[str] = "transformer_xl 1"
    keys: ClassVar[weights.Keys] = {
        **dict.fromkeys((field.name for field in fields(Size)), weights.is_size),
        "cutoffs": lambda value: isinstance(value, list) and all(type(first) is int for first in value),
    }
    symbols: ClassVar[tuple[str, str]] = ("<eos>", "<eos>")

    @classmethod
    def build(
        cls, description: weights.Description, vocabulary: Vocabulary, chosen: Mapping[str, str]
    ) -> TransformerXlNetwork:
        sizes = {key: description[key] for key in cls.keys}
        size = Size(**(sizes | {"cutoffs": tuple(sizes["cutoffs"])}))
        return TransformerXlNetwork(
            len(vocabulary), size, chosen["memory"] == "zeros", chosen["clusters"] == "reversed"
        )


load = TransformerXl.load
