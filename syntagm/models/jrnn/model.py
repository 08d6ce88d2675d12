"""The LSTM of Jozefowicz et al. 2016 (lm_1b), imported by `syntagm import jrnn`."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import conv1d

from syntagm.models.family import Family
from syntagm.models.jrnn.family import FAMILY
from syntagm.models.recurrent.model import RecurrentModel
from syntagm.models.recurrent.network import Network, Softmax, State
from syntagm.models.words import weights
from syntagm.models.words.vocabulary import Vocabulary

# A letter is a byte of UTF-8. A word stands between two symbols, and is filled up to 50 letters; a longer one is cut.
# The symbols are bytes that no word of the vocabulary contains.

# The number of letters of a word, with its beginning and its end.
LENGTH = 50
# The bits of the hash that distinguishes unknown words. A number and one of eight million texts fit into 63 bits.
_BITS = 40


class Symbols(NamedTuple):
    """The letters that are no characters: beginning and end of a text, beginning and end of a word, and filling."""

    text_begin: int
    text_end: int
    word_begin: int
    word_end: int
    filling: int


def symbols(words: Iterable[bytes]) -> Symbols | None:
    """Return the symbols of a vocabulary: the first bytes that occur in none of its words; None if too few are left.

    >>> symbols([b"the", b"\\x01"])
    Symbols(text_begin=0, text_end=2, word_begin=3, word_end=4, filling=5)
    """
    used = set(b"".join(words))
    free = [byte for byte in range(256) if byte not in used]
    return Symbols(*free[: len(Symbols._fields)]) if len(free) >= len(Symbols._fields) else None


@dataclass(frozen=True, slots=True)
class Letters:
    """A mapping from numbers of words to their letters, for words inside and outside the vocabulary."""

    # A word of the vocabulary has its number there. The number of any other word is above these and comes from a hash
    # of the word, so that neither it nor the order in which texts are computed depends on the texts before.

    vocabulary: Vocabulary  # Word 0 is read as the beginning of a text, because the end is never read
    symbols: Symbols
    _unknown: dict[int, str] = field(default_factory=dict, init=False)

    def number(self, word: str) -> int:
        """Return the number of an unknown word.

        >>> letters = Letters(Vocabulary(("</s>", "<unk>", "the")), Symbols(0, 1, 2, 3, 4))
        >>> bytes(letters.read(np.array([0, 2, letters.number("dogs")]))[2, :6].tolist())
        b'\\x02dogs\\x03'
        """
        digest = hashlib.blake2b(_bytes(word), digest_size=8).digest()
        number = len(self.vocabulary) + (int.from_bytes(digest, "big") >> (64 - _BITS))
        while self._unknown.setdefault(number, word) != word:
            number += 1
        return number

    def read(self, numbers: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return the letters of words, shape (words, LENGTH)."""
        rows = np.full((len(numbers), LENGTH), self.symbols.filling, np.uint8)
        for row, number in zip(rows, numbers.tolist(), strict=True):
            word = self._word(number)[: LENGTH - 2]
            row[: len(word) + 2] = [self.symbols.word_begin, *word, self.symbols.word_end]
        return rows

    def _word(self, number: int) -> bytes:
        if number == 0:
            return bytes([self.symbols.text_begin])
        words = self.vocabulary.words
        return _bytes(words[number] if number < len(words) else self._unknown[number])


def _bytes(word: str) -> bytes:
    return word.encode("utf-8", "surrogateescape")


# The embedding of a word (Kim et al. 2016), with the letters of the word as rows of E, filters F of several widths, and
# two highway layers:
#
#     x = max over places of ReLU(E_(place .. place + width - 1) F + b)
#     x = t ReLU(x W_h + b_h) + (1 - t) x        with t = sigmoid(x W_t + b_t - 2)
#     embedding = x W + b
#
# The LSTM has projections (Sak et al. 2014) and peepholes:
#
#     i, g, f, o = W [x; h] + b                  in this order
#     c' = sigmoid(f + 1 + p_f c) c + sigmoid(i + p_i c) tanh(g)
#     h' = P (sigmoid(o + p_o c') tanh(c'))

_CARRY, _FORGET = 2.0, 1.0
_UNKNOWN = 1
# Words embedded at a time, so that the outputs of all filters of one width stay small.
_WORDS = 64


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a network."""

    width: int  # width of the embeddings, the hidden states and the inputs of the output layer
    cells: int  # number of cells in a layer
    layers: int
    letters: int  # width of the embeddings of letters
    filters: tuple[tuple[int, int], ...]  # widths of filters, and how many have each; a width may occur twice
    highways: int  # number of highway layers


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
        gates = torch.addmm(self.bias, torch.cat([inputs, hidden], 1), self.weight)
        enter, new, forget, leave = gates.chunk(4, 1)
        kept = torch.sigmoid(forget + _FORGET + self.peepholes[1] * cell) * cell
        cell = kept + torch.sigmoid(enter + self.peepholes[0] * cell) * torch.tanh(new)
        return (torch.sigmoid(leave + self.peepholes[2] * cell) * torch.tanh(cell)) @ self.projection, cell


class JrnnNetwork(Network):
    def __init__(self, size: Size, letters: Letters) -> None:
        super().__init__()
        self.size, self._letters = size, letters
        self.characters = Characters(size)
        self.layers = nn.ModuleList(Layer(size.width, size.cells) for _ in range(size.layers))
        self.decoder: Softmax = Softmax(size.width, len(letters.vocabulary))

    def fresh(self, columns: int) -> State:
        weight, size = self.decoder.weight, self.size
        return weight.new_zeros(size.layers, columns, size.width), weight.new_zeros(size.layers, columns, size.cells)

    def step(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
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
        return np.where(ids < self.decoder.out_features, ids, _UNKNOWN)

    def _embedded(self, ids: Tensor) -> Tensor:
        distinct, places = torch.unique(ids, return_inverse=True)
        letters = torch.from_numpy(self._letters.read(distinct.cpu().numpy())).to(ids.device, torch.int64)
        return torch.cat([self.characters(part) for part in torch.split(letters, _WORDS)])[places]


def _are_filters(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_filter, value))


def _is_filter(value: object) -> bool:
    """Return whether a value may be the width of filters and their number."""
    return isinstance(value, list) and len(value) == 2 and all(map(weights.is_size, value)) and value[0] <= LENGTH


def _are_symbols(value: object) -> bool:
    if not isinstance(value, list) or len(value) != len(Symbols._fields):
        return False
    return all(type(byte) is int and 0 <= byte < 256 for byte in value) and len(set(value)) == len(value)


class Jrnn(RecurrentModel):
    """The model with its vocabulary."""

    family: ClassVar[Family] = FAMILY
    scorer: ClassVar[str] = "jrnn 2"
    format: ClassVar[int] = 2
    keys: ClassVar[weights.Keys] = {
        **dict.fromkeys(("width", "cells", "layers", "letters", "highways"), weights.is_size),
        "filters": _are_filters,
        "symbols": _are_symbols,
    }
    repeated: ClassVar[tuple[str, ...]] = ("layers", "highways", "filters")
    symbols: ClassVar[tuple[str, str]] = ("<S>", "</S>")
    network: JrnnNetwork

    @classmethod
    def build(cls, description: weights.Description, vocabulary: Vocabulary, chosen: Mapping[str, str]) -> JrnnNetwork:
        filters = tuple((width, number) for width, number in description["filters"])
        sizes = {key: description[key] for key in ("width", "cells", "layers", "letters", "highways")}
        return JrnnNetwork(Size(**sizes, filters=filters), Letters(vocabulary, Symbols(*description["symbols"])))

    def ids(self, words: Sequence[str]) -> list[int]:
        """Return the number of each word; an unknown one has a number of its own, by which its letters are read."""
        found = zip(words, self.vocabulary.ids(words), strict=True)
        return [number if self.vocabulary.known(word) else self.network.number(word) for word, number in found]


load = Jrnn.load
