"""The LSTM of Jozefowicz et al. 2016 (lm_1b), imported by `syntagm import jrnn`.

The name is `jrnn:FOLDER`, or just the folder, which contains `model.json`, `model.safetensors` and `vocabulary.txt`.
"""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from syntagm.models.device import device
from syntagm.models.family import Family
from syntagm.models.jrnn.family import FAMILY
from syntagm.models.jrnn.letters import LENGTH, Letters, Symbols
from syntagm.models.jrnn.network import Network, Size
from syntagm.models.recurrent.model import RecurrentModel
from syntagm.models.words import vocabulary, weights
from syntagm.models.words.words import KINDS

FORMAT = 2


class Jrnn(RecurrentModel):
    """The model with its vocabulary."""

    family: ClassVar[Family] = FAMILY
    scorer: ClassVar[str] = "jrnn 2"
    symbols: ClassVar[tuple[str, str]] = ("<S>", "</S>")
    network: Network

    def ids(self, words: Sequence[str]) -> list[int]:
        """Return the number of each word; an unknown one has a number of its own, by which its letters are read."""
        found = zip(words, self.vocabulary.ids(words), strict=True)
        return [number if self.vocabulary.known(word) else self.network.number(word) for word, number in found]


def load(path: str, **options: str) -> Jrnn:
    """Load the model from its folder.

    Raises:
        UsageError: an option is invalid.
        ModelError: the folder was not written by `syntagm import jrnn`, or is damaged.
    """
    chosen = FAMILY.choose(options)
    folder, label = weights.opened(path)
    checks: dict[str, Callable[[Any], bool]] = dict.fromkeys(
        ("width", "cells", "layers", "letters", "highways"), weights.is_size
    )
    checks |= {"tokens": lambda value: value in KINDS, "filters": _are_filters, "symbols": _are_symbols}
    stored = weights.described(folder / "model.json", FAMILY.name, FORMAT, checks)
    words = vocabulary.read(folder / "vocabulary.txt")
    symbols = Symbols(*stored["symbols"])
    filters = tuple((width, number) for width, number in stored["filters"])
    size = Size(stored["width"], stored["cells"], stored["layers"], stored["letters"], filters, stored["highways"])

    def built() -> Network:
        return Network(size, Letters(words, symbols))

    network = weights.read(folder / "model.safetensors", size.layers + size.highways + len(filters), built)
    network.to(device(chosen["device"]))
    return Jrnn(network, words, stored["tokens"], label, options, list(symbols))


def _are_filters(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_filter, value))


def _is_filter(value: object) -> bool:
    """Return whether a value may be the width of filters and their number."""
    return isinstance(value, list) and len(value) == 2 and all(map(weights.is_size, value)) and value[0] <= LENGTH


def _are_symbols(value: object) -> bool:
    if not isinstance(value, list) or len(value) != len(Symbols._fields):
        return False
    return all(type(byte) is int and 0 <= byte < 256 for byte in value) and len(set(value)) == len(value)
