"""Scoring and gap filling by a word-level recurrent network, whatever its family.

Each text is read from the initial state, so its surprisals do not depend on other texts. A word that is not in the
vocabulary is replaced by its class of unknown words, and marked as unknown. With `bos=no` the first word has no surprisal
(nan). A gap is filled from the text before it; candidates may have several words.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray

from syntagm.models.answers import Entry, Fill, Gap, InContext, Reductions, Surprisals
from syntagm.models.batching import in_batches, once
from syntagm.models.contract import LanguageModel
from syntagm.models.device import device
from syntagm.models.family import Family
from syntagm.models.rank import likeliest, rank
from syntagm.models.recurrent.network import Network
from syntagm.models.recurrent.reading import next_logits, read_in_portions, reductions, surprisals
from syntagm.models.unchanged import checksum
from syntagm.models.windows import refuse_overlap
from syntagm.models.words import weights
from syntagm.models.words.gaps import divide, single
from syntagm.models.words.vocabulary import END, Vocabulary
from syntagm.models.words.words import words

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
        """Build the network that `model.json` describes."""
        return cls.kind(len(vocabulary), **{key: description[key] for key in cls.keys})

    def __init__(
        self, network: Network, vocabulary: Vocabulary, tokens: str, label: str, options: Mapping[str, str]
    ) -> None:
        """Create the model."""
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
        """Compute the surprisals of each text; see `LanguageModel.score`."""
        return self._scored(texts, done)

    def reduce(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        """Compute surprisals, entropies and ranks; see `LanguageModel.reduce`."""
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

        read = reductions if reducing else surprisals
        batches = read(self.network, [sequences[index] for index in scored], self._batch, self._share, finished)
        numbers = {scored[index]: text_numbers for index, text_numbers in batches}
        if done and (empty := sum(repeats[text] for index, text in enumerate(distinct) if index not in numbers)):
            done(empty)
        answers = {text: self._answer(text, *divided[i], numbers.get(i), reducing) for i, text in enumerate(distinct)}
        for text in texts:
            yield answers[text]

    def read(
        self, texts: Sequence[str], overlap: int | None = None, done: Callable[[int], None] | None = None
    ) -> Iterator[InContext]:
        """Compute the surprisals of texts of any length; see `LanguageModel.read`."""
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
        """Compute the surprisal of each candidate, given the text before the gap; see `LanguageModel.fill`."""
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
        """Return whether each candidate is one word; see `LanguageModel.single`."""
        return single(words, self._tokens, self.name)

    def ids(self, words: Sequence[str]) -> list[int]:
        """Return the ids by which the network reads words."""
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
