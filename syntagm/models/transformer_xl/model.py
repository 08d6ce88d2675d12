"""Word-level Transformer-XL models (Dai et al. 2019), imported by `syntagm import transformer_xl`.

The name is `transformer_xl:FOLDER`, or just the folder, which contains `model.json`, `model.safetensors` and
`vocabulary.txt`. The memory is reset before each text.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from itertools import pairwise
from typing import Any, ClassVar

from syntagm.models.device import device
from syntagm.models.family import Family
from syntagm.models.recurrent.model import RecurrentModel
from syntagm.models.transformer_xl.family import FAMILY
from syntagm.models.transformer_xl.network import Network, Size
from syntagm.models.words import vocabulary, weights
from syntagm.models.words.vocabulary import Vocabulary
from syntagm.models.words.words import KINDS

FORMAT = 1


class TransformerXl(RecurrentModel):
    """A Transformer-XL with its vocabulary."""

    family: ClassVar[Family] = FAMILY
    scorer: ClassVar[str] = "transformer_xl 1"
    symbols: ClassVar[tuple[str, str]] = ("<eos>", "<eos>")

    def __init__(
        self, network: Network, vocabulary: Vocabulary, tokens: str, label: str, options: Mapping[str, str]
    ) -> None:
        super().__init__(network, vocabulary, tokens, label, options)
        # Each layer looks further back.
        self.reach = network.size.layers * (network.size.memory - 1)


def load(path: str, **options: str) -> TransformerXl:
    """Load a Transformer-XL from its folder.

    Raises:
        UsageError: an option is invalid.
        ModelError: the folder was not written by `syntagm import transformer_xl`, or is damaged.
    """
    chosen = FAMILY.choose(options)
    folder, label = weights.opened(path)
    words = vocabulary.read(folder / "vocabulary.txt")
    checks: dict[str, Callable[[Any], bool]] = dict.fromkeys((field.name for field in fields(Size)), weights.is_size)
    checks |= {"tokens": lambda value: value in KINDS, "cutoffs": lambda value: are_cutoffs(value, len(words))}
    stored = weights.described(folder / "model.json", FAMILY.name, FORMAT, checks)
    sizes = {field.name: stored[field.name] for field in fields(Size)}
    size = Size(**(sizes | {"cutoffs": tuple(sizes["cutoffs"])}))

    def built() -> Network:
        return Network(len(words), size, chosen["memory"] == "zeros", chosen["clusters"] == "reversed")

    network = weights.read(folder / "model.safetensors", size.layers, built)
    network.to(device(chosen["device"]))
    return TransformerXl(network, words, stored["tokens"], label, options)


def are_cutoffs(value: object, words: int) -> bool:
    """Return whether a value may be the first words of the clusters of a softmax, of which there is at least one."""
    if not isinstance(value, list) or not value or not all(type(first) is int for first in value):
        return False
    return all(first < after for first, after in pairwise([0, *value, words]))
