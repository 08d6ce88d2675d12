"""Word-level LSTMs with a second task, tagging, trained by `syntagm train multitask` (Marvin & Linzen 2018).

The language model scores texts like an LSTM; tags play no part in surprisals.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from syntagm.core import UsageError
from syntagm.models.devices import FullPrecision
from syntagm.models.family import Family
from syntagm.models.lstm import model
from syntagm.models.lstm.model import Lstm
from syntagm.models.multitask.family import FAMILY
from syntagm.models.recurrent.model import RecurrentModel
from syntagm.models.words import weights

# The second output layer: one of its own, or that of the words, whose first rows also stand for tags.
HEADS = ("linear", "shared")
# The number of a tag that did not occur in training.
UNKNOWN = -1


class MultitaskNetwork(model.LstmNetwork):
    """An LSTM with an output layer for words and one for tags."""

    def __init__(
        self, words: int, embedding: int, hidden: int, layers: int, tags: Sequence[str], head: str,
        dropout: float = 0.0, tied: bool = False, sparse: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(words, embedding, hidden, layers, dropout, tied, sparse)
        self.tags, self._shared = len(tags), head == "shared"
        if self._shared and self.tags > words:
            expected = "no more tags than words, which share an output layer"
            raise UsageError("head", f"shared, by {self.tags:,} tags and {words:,} words", expected)
        if not self._shared:
            self.tagger = nn.Linear(hidden, self.tags)

    def record(self) -> dict[str, object]:
        """Return the number of tags."""
        return {"tags": self.tags}

    def tag_logits(self, hidden: Tensor) -> Tensor:
        """Return the logits of the tags (with a shared head, those of all words), shape (rows, tags)."""
        logits: Tensor = self.decoder(hidden) if self._shared else self.tagger(hidden)
        return logits


@dataclass(frozen=True, slots=True)
class Tags:
    """The tags of a sentence according to a network."""

    best: NDArray[np.int64]  # shape (words,): the most probable tag of each word, by its number
    nats: NDArray[np.float64]  # shape (words,): the surprisal of the given tag; nan if it did not occur in training


@FullPrecision()
def tag(
    network: MultitaskNetwork, sentences: Sequence[tuple[Sequence[int], Sequence[int]]], tags: int, batch: int
) -> Iterator[tuple[int, Tags]]:
    """Tag sentences, each from the initial state with the end symbol before it."""
    device = network.decoder.weight.device
    # Sorted by length, so that little is padded.
    batches: list[list[int]] = []
    for index in sorted(range(len(sentences)), key=lambda index: len(sentences[index][0])):
        if not batches or len(sentences[index][0]) * (len(batches[-1]) + 1) > batch:
            batches.append([])
        batches[-1].append(index)
    for indices in batches:
        longest = len(sentences[indices[-1]][0])
        # The end symbol, then the words.
        ids = np.zeros((longest + 1, len(indices)), np.int64)
        for column, index in enumerate(indices):
            ids[1 : 1 + len(sentences[index][0]), column] = sentences[index][0]
        outputs, _ = network(torch.from_numpy(ids).to(device), network.fresh(len(indices)))
        for column, index in enumerate(indices):
            given = np.array(sentences[index][1], np.int64)
            logs = network.tag_logits(outputs[1 : 1 + len(given), column]).double().log_softmax(1).cpu().numpy()
            nats = np.full(len(given), np.nan)
            known = given != UNKNOWN
            nats[known] = -logs[np.flatnonzero(known), given[known]]
            # With a shared head, other rows are words.
            yield index, Tags(logs[:, :tags].argmax(1), nats)


class Multitask(RecurrentModel):
    """An LSTM with its vocabulary and its tags."""

    family: ClassVar[Family] = FAMILY
    scorer: ClassVar[str] = "multitask 1"
    keys: ClassVar[weights.Keys] = {**Lstm.keys, "tags": weights.are_names, "head": lambda value: value in HEADS}
    kind = MultitaskNetwork


load = Multitask.load
