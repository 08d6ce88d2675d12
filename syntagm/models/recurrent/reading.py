"""Reading of texts by a recurrent network, word by word: each distinct prefix is one state and one row of the output layer."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from syntagm.models.device import FullPrecision
from syntagm.models.recurrent.network import Network, Portion, State
from syntagm.models.reduction import reduce

# Rows of the output layer computed at a time, so that logits stay in the CPU's cache.
HEAD_ROWS = 256
# The same where all logits are needed, of clustered words, too; vocabularies may have 800,000 words.
_REDUCED_ROWS = 64


class Reader(Protocol):
    """What reads a word of several texts at a time, such as a network."""

    def fresh(self, columns: int) -> State:
        """Return the initial state of several texts."""

    def step(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
        """Return a row for each text, and the state after one more word; see `Network.step`."""


@FullPrecision()
def surprisals(
    network: Network, sequences: Sequence[Sequence[int]], batch: int, share: bool = True,
    done: Callable[[Sequence[int]], None] | None = None,
) -> Iterator[tuple[int, NDArray[np.float64]]]:  # fmt: skip
    """Compute the surprisals, in nats, of all words but the first of each sequence, starting from the initial state."""
    # Sequences are sorted and processed in batches. A batch is read word by word: at each step, all distinct prefixes
    # of that length are computed together.
    for index, (nats,) in _numbers(network, sequences, batch, share, done, reducing=False):
        yield index, nats


@FullPrecision()
def reductions(
    network: Network, sequences: Sequence[Sequence[int]], batch: int, share: bool = True,
    done: Callable[[Sequence[int]], None] | None = None,
) -> Iterator[tuple[int, NDArray[np.float64]]]:  # fmt: skip
    """Compute surprisals, entropies and ranks; the arguments are those of `surprisals`."""
    yield from _numbers(network, sequences, batch, share, done, reducing=True)


def _numbers(
    network: Network, sequences: Sequence[Sequence[int]], batch: int, share: bool,
    done: Callable[[Sequence[int]], None] | None, reducing: bool,
) -> Iterator[tuple[int, NDArray[np.float64]]]:  # fmt: skip
    """Yield the index of a sequence and its numbers: shape (1, words - 1), or (3, words - 1) with reductions."""
    for indices in batches(sequences, batch):
        numbers = _read(network, [sequences[index] for index in indices], share, reducing)
        if done:
            done(indices)
        yield from zip(indices, numbers, strict=True)


@FullPrecision()
def read_in_portions(network: Network, sequence: Sequence[int], portion: int) -> Iterator[NDArray[np.float64]]:
    """Compute the surprisals of one long sequence like `surprisals`, carrying the state from portion to portion."""
    state = network.fresh(1)
    ids = torch.tensor(sequence, device=state[0].device)
    for first in range(0, len(sequence) - 1, portion):
        targets = np.array(sequence[first + 1 : first + 1 + portion], np.int64)
        hidden, state = network(ids[first : first + len(targets), None], state)
        yield _nats(network, hidden[:, 0], np.arange(len(targets)), targets)


def batches(sequences: Sequence[Sequence[int]], batch: int) -> Iterator[list[int]]:
    """Split the sorted sequences into batches: neighbours in sorted order share the longest prefixes."""
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


def _read(
    network: Network, sequences: Sequence[Sequence[int]], share: bool, reducing: bool
) -> list[NDArray[np.float64]]:
    numbers, lengths = _padded(sequences)
    tops, owners, targets, actives, nodes = [], [], [], [], 0
    for length, (active, node, top) in enumerate(_states(network, numbers, lengths - 1, share)):
        tops.append(top)
        owners.append(node + nodes)
        targets.append(numbers[active, length + 1])
        actives.append(active)
        nodes += len(top)
    answers = np.empty((3 if reducing else 1, len(sequences), max(lengths) - 1))
    if nodes:
        hidden, rows, words = torch.cat(tops), np.concatenate(owners), np.concatenate(targets)
        flat = _nats(network, hidden, rows, words)[None]
        if reducing:
            flat = np.concatenate([flat, _reduced(network, hidden, rows, words)])
        ends = np.cumsum([len(active) for active in actives])[:-1]
        for length, (active, part) in enumerate(zip(actives, np.split(flat, ends, axis=1), strict=True)):
            answers[:, active, length] = part
    return [answers[:, row, : length - 1] for row, length in enumerate(lengths)]


def _padded(sequences: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ids of several sequences in one array, shape (sequences, longest), and their lengths."""
    lengths = np.array([len(sequence) for sequence in sequences], np.int64)
    numbers = np.zeros((len(sequences), max(lengths)), np.int64)
    for row, sequence in enumerate(sequences):
        numbers[row, : len(sequence)] = sequence
    return numbers, lengths


def _states(
    reader: Reader, numbers: NDArray[np.int64], lengths: NDArray[np.int64], share: bool
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], Tensor]]:
    """Read texts word by word, processing all distinct prefixes of the same length together."""
    state, words = reader.fresh(1), int(numbers.max(initial=0)) + 1
    device = state[0].device
    # For each text, the index of the prefix read so far among all distinct prefixes of this length.
    node = np.zeros(len(numbers), np.int64)
    for length in range(max(lengths)):
        active = np.flatnonzero(lengths > length)
        parents, last, node[active] = _next(node[active], numbers[active, length], words, share)
        before = torch.from_numpy(parents).to(device)
        top, state = reader.step(
            torch.from_numpy(last).to(device), tuple(part.index_select(1, before) for part in state)
        )
        yield active, node[active], top


@FullPrecision()
def next_logits(network: Network, sequences: Sequence[Sequence[int]], share: bool = True) -> Tensor:
    """Compute the logits for the word after each sequence, from the initial state; shape (sequences, words)."""
    numbers, lengths = _padded(sequences)
    endings, tops = [], []
    for length, (active, node, top) in enumerate(_states(network, numbers, lengths, share), 1):
        ending = np.flatnonzero(lengths[active] == length)
        endings.append(active[ending])
        tops.append(top[torch.from_numpy(node[ending]).to(top.device)])
    return network.decoder.logits(torch.cat(tops)[torch.from_numpy(np.argsort(np.concatenate(endings)))])


@FullPrecision()
def rows(reader: Reader, sequences: Sequence[Sequence[int]], share: bool = True) -> list[NDArray[np.floating]]:
    """Return what a reader returns after each word of each sequence."""
    numbers, lengths = _padded(sequences)
    values = np.empty(numbers.shape)
    for length, (active, node, top) in enumerate(_states(reader, numbers, lengths, share)):
        values[active, length] = top.cpu().double().numpy()[node]
    return [row[:length] for row, length in zip(values, lengths, strict=True)]


def _next(
    node: NDArray[np.int64], word: NDArray[np.int64], words: int, share: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct prefixes that are one word longer: their parents, their last words, and the prefix of each text."""
    if not share:
        return node, word, np.arange(len(node))
    distinct, prefix_of_text = np.unique(node * words + word, return_inverse=True)
    return distinct // words, distinct % words, prefix_of_text


def _nats(
    network: Network, hidden: Tensor, owners: NDArray[np.int64], targets: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the surprisal of each target after its prefix, in nats. Logits are computed once for each prefix."""
    targets = network.targets(targets)
    order = np.argsort(owners, kind="stable")
    bounds = np.searchsorted(owners[order], np.arange(0, len(hidden) + HEAD_ROWS, HEAD_ROWS))
    selections = [order[left:right] for left, right in pairwise(bounds)]
    portions = (
        _portion(hidden[first : first + HEAD_ROWS], targets[selected], owners[selected] - first)
        for first, selected in zip(range(0, len(hidden), HEAD_ROWS), selections, strict=True)
    )
    nats = np.empty(len(owners))
    for selected, values in zip(selections, network.decoder.nats(portions), strict=True):
        nats[selected] = values.cpu().double().numpy()
    return nats


def _reduced(
    network: Network, hidden: Tensor, owners: NDArray[np.int64], targets: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the entropy after each target's prefix in bits, and the rank of the target; shape (2, targets)."""
    targets = network.targets(targets)
    order = np.argsort(owners, kind="stable")
    reduced = np.empty((2, len(owners)))
    bounds = np.searchsorted(owners[order], np.arange(0, len(hidden) + _REDUCED_ROWS, _REDUCED_ROWS))
    for first, (left, right) in zip(range(0, len(hidden), _REDUCED_ROWS), pairwise(bounds), strict=True):
        selected = order[left:right]
        portion = _portion(hidden[first : first + _REDUCED_ROWS], targets[selected], owners[selected] - first)
        logits = network.decoder.logits(portion[0])
        reduced[:, selected] = reduce(logits, portion[2], portion[1]).cpu().numpy()
    return reduced


def _portion(hidden: Tensor, targets: NDArray[np.int64], rows: NDArray[np.int64]) -> Portion:
    return hidden, torch.from_numpy(targets).to(hidden.device), torch.from_numpy(rows).to(hidden.device)
