"""Word-level LSTM language models, trained by `syntagm train lstm` (Gulordava et al. 2018; Hu et al. 2020).

The name is `lstm:FOLDER`, or just the folder, which contains `model.json`, `model.safetensors` and `vocabulary.txt`.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from syntagm.models.device import device
from syntagm.models.family import Family
from syntagm.models.lstm.family import FAMILY
from syntagm.models.lstm.network import Network
from syntagm.models.recurrent.model import RecurrentModel
from syntagm.models.words import vocabulary, weights
from syntagm.models.words.words import KINDS

FORMAT = 1
# Key of `model.json` -> whether a value is valid.
CHECKS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("embedding", "hidden", "layers"), weights.is_size),
    "tied": lambda value: type(value) is bool,
    "tokens": lambda value: value in KINDS,
}


class Lstm(RecurrentModel):
    """An LSTM with its vocabulary."""

    family: ClassVar[Family] = FAMILY
    scorer: ClassVar[str] = "lstm 1"


def load(path: str, **options: str) -> Lstm:
    """Load an LSTM from its folder.

    Raises:
        UsageError: an option is invalid.
        ModelError: the folder was not written by `syntagm train lstm`, or is damaged.
    """
    chosen = FAMILY.choose(options)
    folder, label = weights.opened(path)
    sizes = weights.described(folder / "model.json", "lstm", FORMAT, CHECKS)
    words = vocabulary.read(folder / "vocabulary.txt")

    def built() -> Network:
        return Network(len(words), sizes["embedding"], sizes["hidden"], sizes["layers"], tied=sizes["tied"])

    network = weights.read(folder / "model.safetensors", sizes["layers"], built)
    network.to(device(chosen["device"]))
    return Lstm(network, words, sizes["tokens"], label, options)
