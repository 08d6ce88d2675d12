"""The LSTM language model of Gulordava et al. 2018 and Hu et al. 2020: words in, a distribution over words out.

Embedding, dropout, LSTM with dropout between its layers, dropout, a linear layer. The names of the weights are those of
PyTorch's word language model, on which both papers build.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

State = tuple[Tensor, Tensor]
# Rows of the output layer at a time: its numbers then stay in a processor's cache.
HEAD_ROWS = 256


class Network(nn.Module):
    """The network.

    Arguments:
        words: entries of the vocabulary.
        embedding: width of the embeddings.
        hidden: width of the layers.
        layers: how many.
        dropout: share of units left out in training.
        tied: do embeddings and output layer share one matrix? Then `embedding` must equal `hidden`.
        sparse: is the gradient of the embeddings given for the rows in use only? Plain SGD can take that.
    """

    def __init__(
        self, words: int, embedding: int, hidden: int, layers: int, dropout: float = 0.0, tied: bool = False,
        sparse: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(words, embedding, sparse=sparse)
        # Dropout stands between layers; PyTorch warns where there is only one.
        self.rnn = nn.LSTM(embedding, hidden, layers, dropout=dropout if layers > 1 else 0.0)
        self.decoder = nn.Linear(hidden, words)
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)
        nn.init.uniform_(self.decoder.weight, -0.1, 0.1)
        if tied:
            self.decoder.weight = self.encoder.weight

    def forward(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
        """What the output layer is given for each token, shape (steps, columns, hidden), and the state after the last.

        Arguments:
            ids: shape (steps, columns).
            state: hidden and cell state before the first step, each of shape (layers, columns, hidden).
        """
        hidden, state = self.rnn(self.drop(self.encoder(ids)), state)
        return self.drop(hidden), state

    def fresh(self, columns: int) -> State:
        """The state before anything was read: zeros."""
        weight = self.decoder.weight
        zeros = weight.new_zeros(self.rnn.num_layers, columns, self.rnn.hidden_size)
        return zeros, zeros.clone()

    def step(self, ids: Tensor, state: State) -> State:
        """The state after one more word in each of several texts; without dropout.

        Arguments:
            ids: shape (texts,).
            state: as in `forward`.
        """
        given, hiddens, cells = self.encoder(ids), [], []
        for layer, (hidden, cell) in enumerate(zip(*state, strict=True)):
            weights = [
                getattr(self.rnn, f"{name}_l{layer}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            ]
            given, cell = torch.lstm_cell(given, (hidden, cell), *weights)
            hiddens.append(given)
            cells.append(cell)
        return torch.stack(hiddens), torch.stack(cells)


@torch.no_grad()
def surprisals(
    network: Network, sequences: Sequence[Sequence[int]], batch: int, share: bool = True,
    done: Callable[[Sequence[int]], None] | None = None,
) -> Iterator[tuple[int, NDArray[np.float64]]]:  # fmt: skip
    """The surprisal in nats of each number of a sequence but the first, given those before it, from a fresh state.

    Sequences, sorted, are taken in batches; a batch is read word by word, all its distinct prefixes of one length at once.

    Arguments:
        network: in evaluation mode.
        sequences: numbers of words, at least one each.
        batch: at most so many numbers at a time; a longer sequence goes alone.
        share: is a prefix of several sequences computed once?
        done: called with the indices of the sequences of each batch.

    Yields:
        The index of a sequence and its surprisals, in the order of computation.
    """
    for indices in _batches(sequences, batch):
        nats = _read(network, [sequences[index] for index in indices], share)
        if done:
            done(indices)
        yield from zip(indices, nats, strict=True)


def _batches(sequences: Sequence[Sequence[int]], batch: int) -> Iterator[list[int]]:
    """Runs of the sorted sequences: neighbours share the most."""
    gathered: list[int] = []
    size = 0
    for index in sorted(range(len(sequences)), key=lambda index: tuple(sequences[index])):
        if gathered and size + len(sequences[index]) > batch:
            yield gathered
            gathered, size = [], 0
        gathered.append(index)
        size += len(sequences[index])
    if gathered:
        yield gathered


def _read(network: Network, sequences: Sequence[Sequence[int]], share: bool) -> list[NDArray[np.float64]]:
    numbers, lengths = _padded(sequences)
    tops, owners, targets, actives, nodes = [], [], [], [], 0
    for length, (active, node, top) in enumerate(_states(network, numbers, lengths - 1, share)):
        tops.append(top)
        owners.append(node + nodes)
        targets.append(numbers[active, length + 1])
        actives.append(active)
        nodes += len(top)
    answers = np.empty((len(sequences), max(lengths) - 1))
    if nodes:
        flat = _nats(network, torch.cat(tops), np.concatenate(owners), np.concatenate(targets))
        ends = np.cumsum([len(active) for active in actives])[:-1]
        for length, (active, nats) in enumerate(zip(actives, np.split(flat, ends), strict=True)):
            answers[active, length] = nats
    return [row[: length - 1] for row, length in zip(answers, lengths, strict=True)]


def _padded(sequences: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    lengths = np.array([len(sequence) for sequence in sequences], np.int64)
    numbers = np.zeros((len(sequences), max(lengths)), np.int64)
    for row, sequence in enumerate(sequences):
        numbers[row, : len(sequence)] = sequence
    return numbers, lengths


def _states(
    network: Network, numbers: NDArray[np.int64], lengths: NDArray[np.int64], share: bool
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], Tensor]]:
    """Read texts word by word, all distinct prefixes of one length at once.

    Arguments:
        numbers: shape (texts, longest): their words.
        lengths: shape (texts,): how many of them to read.

    Yields:
        After each word: which texts have one there, which row is whose, and what the output layer is given for each row.
    """
    device, state = network.decoder.weight.device, network.fresh(1)
    # For each text the node of the prefix read so far, among those of its length.
    node = np.zeros(len(numbers), np.int64)
    for length in range(max(lengths)):
        active = np.flatnonzero(lengths > length)
        parents, words, node[active] = _next(node[active], numbers[active, length], len(network.encoder.weight), share)
        before = torch.from_numpy(parents).to(device)
        hidden, cell = (part.index_select(1, before) for part in state)
        state = network.step(torch.from_numpy(words).to(device), (hidden, cell))
        yield active, node[active], state[0][-1]


@torch.no_grad()
def foretold(network: Network, sequences: Sequence[Sequence[int]], share: bool = True) -> Tensor:
    """The logits of what comes after each sequence, read from a fresh state; shape (sequences, words).

    Arguments:
        network: in evaluation mode.
        sequences: numbers of words, at least one each.
        share: as in `surprisals`.
    """
    numbers, lengths = _padded(sequences)
    last = network.decoder.weight.new_empty(len(sequences), network.decoder.in_features)
    for length, (active, node, top) in enumerate(_states(network, numbers, lengths, share), 1):
        ending = np.flatnonzero(lengths[active] == length)
        last[torch.from_numpy(active[ending])] = top[torch.from_numpy(node[ending])]
    found: Tensor = network.decoder(last)
    return found


def _next(
    node: NDArray[np.int64], word: NDArray[np.int64], words: int, share: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The nodes one word longer: the parent and the word of each, and which is whose."""
    if not share:
        return node, word, np.arange(len(node))
    distinct, whose = np.unique(node * words + word, return_inverse=True)
    return distinct // words, distinct % words, whose


def _nats(
    network: Network, hidden: Tensor, owners: NDArray[np.int64], targets: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The surprisal of each target after the prefix of its owner; a row of the output layer is computed once."""
    order = np.argsort(owners, kind="stable")
    bounds = np.searchsorted(owners[order], np.arange(0, len(hidden) + HEAD_ROWS, HEAD_ROWS))
    found = np.empty(len(owners))
    logits = hidden.new_empty(min(HEAD_ROWS, len(hidden)), len(network.decoder.bias))
    for number, (left, right) in enumerate(pairwise(bounds)):
        first, mine = number * HEAD_ROWS, order[left:right]
        rows = torch.from_numpy(owners[mine] - first).to(hidden.device)
        columns = torch.from_numpy(targets[mine]).to(hidden.device)
        part = hidden[first : first + HEAD_ROWS]
        normalisers, chosen = _head(network.decoder, part, logits[: len(part)], rows, columns)
        found[mine] = (normalisers[rows] - chosen).double().cpu().numpy()
    return found


def _head(decoder: nn.Linear, hidden: Tensor, logits: Tensor, rows: Tensor, columns: Tensor) -> tuple[Tensor, Tensor]:
    """Log-sum-exp of each row, and the logits at some places; `logits` is room to compute in."""
    torch.addmm(decoder.bias, hidden, decoder.weight.T, out=logits)
    chosen = logits[rows, columns]
    highest = logits.amax(1, keepdim=True)
    return logits.sub_(highest).exp_().sum(1).log_().add_(highest[:, 0]), chosen
