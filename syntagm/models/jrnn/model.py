"""The LSTM of Jozefowicz et al. 2016 (lm_1b), imported by `syntagm import jrnn`."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from syntagm.models.family import Family
from syntagm.models.jrnn.family import FAMILY
from syntagm.models.jrnn.letters import LENGTH, Letters, Symbols
from syntagm.models.jrnn.network import Network, Size
from syntagm.models.recurrent.model import RecurrentModel
from syntagm.models.words import weights
from syntagm.models.words.vocabulary import Vocabulary


def _are_filters(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_filter, value))


def _is_filter(value: object) -> bool:
    """Return whether a value may be the width of filters and their number."""
    return isinstance(value, list) and len(value) == 2 and all(map(weights.is_size, value)) and value[0] <= LENGTH


def _are_symbols(value: object) -> bool:
    if not isinstance(value, list) or len(value) != len(Symbols._fields):
        return False
    return all(type(byte) is int and 0 <= byte < 256 for byte in value) and len(set(value)) == len(value)


class Jrnn(RecurrentModel):
    """The model with its vocabulary."""

    family: ClassVar[Family] = FAMILY
    scorer: ClassVar[str] = "jrnn 2"
    format: ClassVar[int] = 2
    keys: ClassVar[weights.Keys] = {
        **dict.fromkeys(("width", "cells", "layers", "letters", "highways"), weights.is_size),
        "filters": _are_filters,
        "symbols": _are_symbols,
    }
    repeated: ClassVar[tuple[str, ...]] = ("layers", "highways", "filters")
    symbols: ClassVar[tuple[str, str]] = ("<S>", "</S>")
    network: Network

    @classmethod
    def build(cls, description: weights.Description, vocabulary: Vocabulary, chosen: Mapping[str, str]) -> Network:
        """Build the network; see `RecurrentModel.build`."""
        filters = tuple((width, number) for width, number in description["filters"])
        sizes = {key: description[key] for key in ("width", "cells", "layers", "letters", "highways")}
        return Network(Size(**sizes, filters=filters), Letters(vocabulary, Symbols(*description["symbols"])))

    def ids(self, words: Sequence[str]) -> list[int]:
        """Return the number of each word; an unknown one has a number of its own, by which its letters are read."""
        found = zip(words, self.vocabulary.ids(words), strict=True)
        return [number if self.vocabulary.known(word) else self.network.number(word) for word, number in found]


load = Jrnn.load
