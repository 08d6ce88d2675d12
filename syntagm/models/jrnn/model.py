"""The LSTM of Jozefowicz et al. 2016 (lm_1b), imported by `syntagm import jrnn`.

The name is `jrnn:FOLDER`, or just the folder, which contains `model.json`, `model.safetensors` and `vocabulary.txt`.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from syntagm.models.device import device
from syntagm.models.family import Family
from syntagm.models.jrnn.family import FAMILY
from syntagm.models.jrnn.network import Network
from syntagm.models.recurrent.model import FILES, RecurrentModel
from syntagm.models.words import vocabulary, weights
from syntagm.models.words.words import KINDS

FORMAT = 1


class Jrnn(RecurrentModel):
    """The model with its vocabulary."""

    family: ClassVar[Family] = FAMILY
    scorer: ClassVar[str] = "jrnn 1"


def load(path: str, **options: str) -> Jrnn:
    """Load the model from its folder.

    Raises:
        UsageError: an option is invalid.
        ModelError: the folder was not written by `syntagm import jrnn`, or is damaged.
    """
    chosen = FAMILY.choose(options)
    folder, label = weights.opened(path, FAMILY.name, FILES)
    checks: dict[str, Callable[[Any], bool]] = dict.fromkeys(("width", "cells", "layers"), weights.is_size)
    checks["tokens"] = lambda value: value in KINDS
    sizes = weights.described(folder / "model.json", FAMILY.name, FORMAT, checks)
    words = vocabulary.read(folder / "vocabulary.txt")

    def built() -> Network:
        return Network(len(words), sizes["width"], sizes["cells"], sizes["layers"])

    network = weights.read(folder / "model.safetensors", sizes["layers"], built)
    network.to(device(chosen["device"]))
    return Jrnn(network, words, sizes["tokens"], label, options)
