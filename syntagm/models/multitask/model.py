"""Word-level LSTMs with a second task, tagging, trained by `syntagm train multitask` (Marvin & Linzen 2018).

The language model scores texts like an LSTM; tags play no part in surprisals.
"""

from typing import ClassVar

from syntagm.models.family import Family
from syntagm.models.lstm.model import Lstm
from syntagm.models.multitask.family import FAMILY
from syntagm.models.multitask.network import HEADS, Network
from syntagm.models.recurrent.model import RecurrentModel
from syntagm.models.words import weights


class Multitask(RecurrentModel):
    """An LSTM with its vocabulary and its tags."""

    family: ClassVar[Family] = FAMILY
    scorer: ClassVar[str] = "multitask 1"
    keys: ClassVar[weights.Keys] = {**Lstm.keys, "tags": weights.are_names, "head": lambda value: value in HEADS}
    kind = Network


load = Multitask.load
