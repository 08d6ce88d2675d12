"""Word-level Transformer-XL models (Dai et al. 2019), imported by `syntagm import transformer_xl`.

The memory is reset before each text.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import ClassVar

from syntagm.models.family import Family
from syntagm.models.recurrent.model import RecurrentModel
from syntagm.models.transformer_xl.family import FAMILY
from syntagm.models.transformer_xl.network import Network, Size
from syntagm.models.words import weights
from syntagm.models.words.vocabulary import Vocabulary


class TransformerXl(RecurrentModel):
    """A Transformer-XL with its vocabulary."""

    family: ClassVar[Family] = FAMILY
    scorer: ClassVar[str] = "transformer_xl 1"
    keys: ClassVar[weights.Keys] = {
        **dict.fromkeys((field.name for field in fields(Size)), weights.is_size),
        "cutoffs": lambda value: isinstance(value, list) and all(type(first) is int for first in value),
    }
    symbols: ClassVar[tuple[str, str]] = ("<eos>", "<eos>")

    @classmethod
    def build(cls, description: weights.Description, vocabulary: Vocabulary, chosen: Mapping[str, str]) -> Network:
        """Build the network; see `RecurrentModel.build`."""
        sizes = {key: description[key] for key in cls.keys}
        size = Size(**(sizes | {"cutoffs": tuple(sizes["cutoffs"])}))
        return Network(len(vocabulary), size, chosen["memory"] == "zeros", chosen["clusters"] == "reversed")


load = TransformerXl.load
