"""Word-level ON-LSTM language models, trained by `syntagm train onlstm` (Shen et al. 2019; Hu et al. 2020).

The name is `onlstm:FOLDER`, or just the folder, which contains `model.json`, `model.safetensors` and `vocabulary.txt`.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from syntagm.errors import ModelError, UsageError
from syntagm.models.device import device
from syntagm.models.family import Family
from syntagm.models.onlstm import tree
from syntagm.models.onlstm.family import FAMILY
from syntagm.models.onlstm.network import Network
from syntagm.models.recurrent import reading
from syntagm.models.recurrent.model import RecurrentModel
from syntagm.models.recurrent.network import State
from syntagm.models.words import vocabulary, weights
from syntagm.models.words.vocabulary import Vocabulary
from syntagm.models.words.words import KINDS, split

FORMAT = 1
# The layer of Shen et al. with the best trees.
_LAYER = 2


class OnLstm(RecurrentModel):
    """An ON-LSTM with its vocabulary."""

    labelled: ClassVar[bool] = False
    family: ClassVar[Family] = FAMILY
    scorer: ClassVar[str] = "onlstm 1"

    def __init__(
        self, network: Network, vocabulary: Vocabulary, tokens: str, label: str, options: Mapping[str, str],
        cutoffs: Sequence[int] = (),
    ) -> None:  # fmt: skip
        super().__init__(network, vocabulary, tokens, label, options, list(cutoffs))
        layers = len(network.layers)
        self._layer = int(self.family.choose(options).get("layer", min(_LAYER, layers)))
        if self._layer > layers:
            raise UsageError("model option layer", str(self._layer), f"at most {layers}, the number of layers")
        self.record = {**self.record, "softmax": "adaptive " + ", ".join(map(str, cutoffs)) if cutoffs else "full"}
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


def load(path: str, **options: str) -> OnLstm:
    """Load an ON-LSTM from its folder.

    Raises:
        UsageError: an option is invalid.
        ModelError: the folder was not written by `syntagm train onlstm`, or is damaged.
    """
    chosen = FAMILY.choose(options)
    folder, label = weights.opened(path)
    words = vocabulary.read(folder / "vocabulary.txt")
    checks: dict[str, Callable[[Any], bool]] = dict.fromkeys(
        ("embedding", "hidden", "layers", "chunk"), weights.is_size
    )
    checks |= {"tokens": lambda value: value in KINDS, "cutoffs": lambda value: _are_cutoffs(value, len(words))}
    sizes = weights.described(folder / "model.json", "onlstm", FORMAT, checks)
    for name in ("embedding", "hidden"):
        if sizes[name] % sizes["chunk"]:
            found = f"{name} = {sizes[name]}"
            raise ModelError(str(folder / "model.json"), found, f"a multiple of chunk, {sizes['chunk']}")

    def built() -> Network:
        return Network(
            len(words), sizes["embedding"], sizes["hidden"], sizes["layers"], sizes["chunk"], sizes["cutoffs"]
        )

    network = weights.read(folder / "model.safetensors", sizes["layers"], built)
    network.to(device(chosen["device"]))
    return OnLstm(network, words, sizes["tokens"], label, options, sizes["cutoffs"])


def _are_cutoffs(value: object, words: int) -> bool:
    """Return whether a value may be the first words of the tails of a softmax."""
    if not isinstance(value, list) or not all(type(first) is int for first in value):
        return False
    return all(first < after for first, after in pairwise([0, *value, words]))


class _Distances:
    """Reads texts and returns the distance of each word from the one before, in one layer."""

    def __init__(self, network: Network, layer: int) -> None:
        self._network, self._layer = network, layer
        self.fresh = network.fresh

    def step(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
        """Return the distance of each text's word from the one before, and the state."""
        _, state, distances = self._network.distances(ids, state)
        return distances[self._layer], state
