"""Word-level ON-LSTM language models, trained by `syntagm train onlstm` (Shen et al. 2019; Hu et al. 2020)."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from syntagm.core import UsageError
from syntagm.models.family import Family
from syntagm.models.onlstm import tree
from syntagm.models.onlstm.family import FAMILY
from syntagm.models.onlstm.network import Network
from syntagm.models.recurrent import reading
from syntagm.models.recurrent.model import RecurrentModel
from syntagm.models.recurrent.network import State
from syntagm.models.words import weights
from syntagm.models.words.vocabulary import Vocabulary
from syntagm.models.words.words import split

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
    kind = Network

    def __init__(
        self, network: Network, vocabulary: Vocabulary, tokens: str, label: str, options: Mapping[str, str]
    ) -> None:
        super().__init__(network, vocabulary, tokens, label, options)
        layers = len(network.layers)
        self._layer = int(self.family.choose(options).get("layer", min(_LAYER, layers)))
        if self._layer > layers:
            raise UsageError("model option layer", str(self._layer), f"at most {layers}, the number of layers")
        self._reader = _Distances(network, self._layer - 1)

    def parse(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[tuple[str, ...]]:
        """Return the induced tree of each prefix of each text; see `LanguageModel.parse`."""
        divided = {text: split(text, self._tokens) for text in texts}
        repeats = Counter(texts)
        if done and (empty := sum(repeats[text] for text, text_words in divided.items() if not text_words)):
            done(empty)
        # The end symbol is read before the words, and has no distance.
        bos = [0] * (self.bos is not None)
        filled = [text for text, text_words in divided.items() if text_words]
        sequences = [bos + self.vocabulary.ids(divided[text]) for text in filled]
        distances: dict[str, NDArray[np.floating]] = {}
        for indices in reading.batches(sequences, self._batch):
            rows = reading.rows(self._reader, [sequences[index] for index in indices], self._share)
            distances.update((filled[index], row[len(bos) :]) for index, row in zip(indices, rows, strict=True))
            if done:
                done(sum(repeats[filled[index]] for index in indices))
        for text in texts:
            text_words = divided[text]
            lengths = range(1, len(text_words) + 1)
            yield tuple(tree.of_distances(text_words[:n], distances[text][:n]) for n in lengths)


load = OnLstm.load


class _Distances:
    """Reads texts and returns the distance of each word from the one before, in one layer."""

    def __init__(self, network: Network, layer: int) -> None:
        self._network, self._layer = network, layer
        self.fresh = network.fresh

    def step(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
        """Return the distance of each text's word from the one before, and the state."""
        _, state, distances = self._network.distances(ids, state)
        return distances[self._layer], state
