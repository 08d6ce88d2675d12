"""Scoring and gap filling by a word-level recurrent network, whatever its family.

Each text is read from the initial state, so its surprisals do not depend on other texts. A word that is not in the
vocabulary is replaced by its class of unknown words, and marked as unknown. With `bos=no` the first word has no surprisal
(nan). A gap is filled from the text before it; candidates may have several words.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import ClassVar, Protocol, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from syntagm.models.answers import Entry, Fill, Gap, InContext, Reductions, Surprisals
from syntagm.models.contract import LanguageModel
from syntagm.models.devices import FullPrecision, checksum, device, reduce
from syntagm.models.family import Family
from syntagm.models.rank import likeliest, rank
from syntagm.models.recurrent.network import Network, Portion, State
from syntagm.models.windows import in_batches, once, refuse_overlap
from syntagm.models.words import weights
from syntagm.models.words.splitting import divide, single, words
from syntagm.models.words.vocabulary import END, Vocabulary

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


# Contexts of gaps in a batch.
_CONTEXTS = 256


class RecurrentModel(LanguageModel):
    """A recurrent network with its vocabulary, created by `load`, or from a network during training."""

    family: ClassVar[Family]  # the declaration of the family
    scorer: ClassVar[str]  # the name and version of the computation, for the fingerprint
    format: ClassVar[int] = 1  # the format of `model.json`
    # The keys of `model.json` that describe the network, each with a function that tells whether a value is valid. They
    # are arguments of the network.
    keys: ClassVar[weights.Keys]
    repeated: ClassVar[tuple[str, ...]] = ("layers",)  # the keys that tell how many parts of a kind the network has
    kind: ClassVar[Callable[..., Network]]
    # The symbols before and after a text; both are the word 0 of the vocabulary.
    symbols: ClassVar[tuple[str, str]] = (END, END)

    @classmethod
    def load(cls, path: str, **options: str) -> Self:
        """Load a model from its folder, which contains `model.json`, `model.safetensors` and `vocabulary.txt`."""
        chosen = cls.family.choose(options)

        def build(description: weights.Description, vocabulary: Vocabulary) -> Network:
            return cls.build(description, vocabulary, chosen)

        stored = weights.stored(path, cls.family.name, cls.format, cls.keys, build, cls.repeated)
        stored.network.to(device(chosen["device"]))
        return cls(stored.network, stored.vocabulary, stored.description["tokens"], stored.label, options)

    @classmethod
    def build(cls, description: weights.Description, vocabulary: Vocabulary, chosen: Mapping[str, str]) -> Network:
        return cls.kind(len(vocabulary), **{key: description[key] for key in cls.keys})

    def __init__(
        self, network: Network, vocabulary: Vocabulary, tokens: str, label: str, options: Mapping[str, str]
    ) -> None:
        chosen = self.family.choose(options)
        self.can, self.reach = self.family.able(chosen), network.reach
        self.network, self.vocabulary, self.name = network.eval(), vocabulary, self.family.canonical(label, options)
        self._tokens = tokens if chosen["tokens"] == "saved" else chosen["tokens"]
        self._share, self._batch = chosen["sharing"] == "yes", int(chosen["batch"])
        self.bos = self.symbols[0] if chosen["bos"] == "yes" else None
        self.eos = self.symbols[1] if chosen["eos"] == "yes" else None
        self.settings = self.family.scoring_settings(chosen, tokens=self._tokens)
        digest = weights.digest(network)
        dependencies = [
            self.scorer, digest, vocabulary.words, vocabulary.threshold, vocabulary.classes, self.settings,
            *network.identity(),
        ]  # fmt: skip
        self.fingerprint = hashlib.sha256(json.dumps(dependencies).encode()).hexdigest()
        self.record = {
            "architecture": self.family.name,
            "weights": digest,
            "vocabulary": len(vocabulary),
            "unknown": vocabulary.classes,
            "options": dict(options),
            "device": str(next(network.parameters()).device),
            "prefixes": "shared (word by word)" if self._share else "not shared (word by word)",
            "torch": torch.__version__,
            **network.record(),
        }

    def _weights_now(self) -> str:
        return checksum(self.network.state_dict().values())

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        return self._scored(texts, done)

    def reduce(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        return self._scored(texts, done, reducing=True)

    def _scored(
        self, texts: Sequence[str], done: Callable[[int], None] | None, reducing: bool = False
    ) -> Iterator[Surprisals]:
        distinct = list(dict.fromkeys(texts))
        repeats = dict.fromkeys(distinct, 0)
        for text in texts:
            repeats[text] += 1
        divided = [words(text, self._tokens) for text in distinct]
        sequences = [self._sequence(text_words) for text_words, _ in divided]
        scored = [index for index, sequence in enumerate(sequences) if sequence]

        def finished(batch: Sequence[int]) -> None:
            if done:
                done(sum(repeats[distinct[scored[index]]] for index in batch))

        read = [sequences[index] for index in scored]
        batches = _numbers(self.network, read, self._batch, self._share, finished, reducing)
        numbers = {scored[index]: text_numbers for index, text_numbers in batches}
        if done and (empty := sum(repeats[text] for index, text in enumerate(distinct) if index not in numbers)):
            done(empty)
        answers = {text: self._answer(text, *divided[i], numbers.get(i), reducing) for i, text in enumerate(distinct)}
        for text in texts:
            yield answers[text]

    def read(
        self, texts: Sequence[str], overlap: int | None = None, done: Callable[[int], None] | None = None
    ) -> Iterator[InContext]:
        # A text with more words than a batch is read in portions, and the state is carried from one portion to the
        # next.
        refuse_overlap(overlap, self.name, "a recurrent network carries its state through a text of any length")
        waiting: list[str] = []
        for text in texts:
            split_words, starts = words(text, self._tokens)
            if len(split_words) <= self._batch:
                waiting.append(text)
                continue
            yield from super().read(waiting, None, done)
            waiting = []
            nats = self._continued(self._sequence(split_words), len(text), done)
            answer = self._answer(text, split_words, starts, nats)
            yield InContext(answer, self._context(len(answer.starts)))
        yield from super().read(waiting, None, done)

    def _continued(
        self, sequence: Sequence[int], characters: int, done: Callable[[int], None] | None
    ) -> NDArray[np.float64]:
        """Read a long text in portions, and report a proportional number of characters after each."""
        nats = np.empty(len(sequence) - 1)
        read = 0
        for portion in read_in_portions(self.network, sequence, self._batch):
            nats[read : read + len(portion)] = portion
            if done:
                done(characters * (read + len(portion)) // len(nats) - characters * read // len(nats))
            read += len(portion)
        return nats

    def fill(self, gaps: Sequence[Gap], done: Callable[[int], None] | None = None) -> Iterator[Fill]:
        divided = [divide(gap, self._tokens, self.name) for gap in gaps]
        lists = {id(gap.candidates): gap.candidates for gap in divided}
        candidates = {number: [self.ids(words) for words in candidate_list] for number, candidate_list in lists.items()}
        in_vocabulary = {
            number: [all(map(self.vocabulary.known, words)) for words in candidate_list]
            for number, candidate_list in lists.items()
        }
        keys = [(gap.before, id(gap.candidates), asked.best) for gap, asked in zip(divided, gaps, strict=True)]

        def answer(batch: list[tuple[tuple[str, ...], int, int]]) -> list[Fill]:
            before = [[0] * (self.bos is not None) + self.ids(words) for words, _, _ in batch]
            rows = self._next_logits(before)
            return [
                self._filled(context, row, candidates[number], np.array(in_vocabulary[number], bool), best)
                for context, row, (_, number, best) in zip(before, rows, batch, strict=True)
            ]

        return once(keys, in_batches(_CONTEXTS, answer), done)

    def single(self, words: Sequence[str]) -> NDArray[np.bool_]:
        return single(words, self._tokens, self.name)

    def ids(self, words: Sequence[str]) -> list[int]:
        return self.vocabulary.ids(words)

    def _next_logits(self, before: Sequence[Sequence[int]]) -> Iterator[NDArray[np.floating] | None]:
        """Yield the logits for the word after each sequence; None for an empty sequence."""
        nonempty = [sequence for sequence in before if sequence]
        rows = iter(next_logits(self.network, nonempty, self._share).cpu().numpy() if nonempty else [])
        for sequence in before:
            yield next(rows) if sequence else None

    def _filled(
        self,
        before: list[int],
        logits: NDArray[np.floating] | None,
        words: Sequence[list[int]],
        in_vocabulary: NDArray[np.bool_],
        best: int,
    ) -> Fill:
        bits, above, below = np.full((3, len(words)), np.nan)
        entries: tuple[Entry, ...] = ()
        if logits is not None:
            entries = self._best(logits, best)
            single = [index for index, ids in enumerate(words) if len(ids) == 1]
            targets = self.network.targets(np.array([words[index][0] for index in single], np.int64))
            bits[single], above[single], below[single] = rank(logits, targets)
            several = [index for index, ids in enumerate(words) if len(ids) > 1]
            sequences = [before + words[index] for index in several]
            for at, nats in surprisals(self.network, sequences, self._batch, self._share):
                bits[several[at]] = nats[-len(words[several[at]]) :].sum() / np.log(2)
        return Fill(bits, above, below, in_vocabulary, entries)

    def _best(self, logits: NDArray[np.floating], count: int) -> tuple[Entry, ...]:
        rows = likeliest(logits, count)
        words = [self.vocabulary.words[row] for row in rows.tolist()]
        bits = rank(logits, rows)[0].tolist() if count else []
        return tuple(Entry(word, self.vocabulary.known(word), cost) for word, cost in zip(words, bits, strict=True))

    def _sequence(self, words: Sequence[str]) -> list[int]:
        """Return the ids to read: end symbol, words, end symbol, depending on `bos` and `eos`."""
        return [0] * (self.bos is not None) + self.ids(words) + [0] * (self.eos is not None)

    def _answer(
        self,
        text: str,
        words: Sequence[str],
        starts: NDArray[np.int32],
        numbers: NDArray[np.float64] | None,
        reducing: bool = False,
    ) -> Surprisals:
        """Return an answer from what the network gave: nats, or nats, entropies and ranks; None for an empty sequence."""
        in_vocabulary = np.array([self.vocabulary.known(word) for word in words], bool)
        if self.eos is not None:
            starts, in_vocabulary = np.append(starts, np.int32(len(text))), np.append(in_vocabulary, True)
        rows = np.full((3 if reducing else 1, len(starts)), np.nan)
        if numbers is not None and len(starts):
            rows[:, len(starts) - numbers.shape[-1] :] = numbers
        reduced = Reductions(*rows[1:]) if reducing else None
        return Surprisals(text, starts, rows[0] / np.log(2), in_vocabulary, reduced)
