"""Word-level LSTM language models, trained by `syntagm train lstm` (Gulordava et al. 2018; Hu et al. 2020)."""

from typing import ClassVar

from syntagm.models.family import Family
from syntagm.models.lstm.family import FAMILY
from syntagm.models.lstm.network import Network
from syntagm.models.recurrent.model import RecurrentModel
from syntagm.models.words import weights


class Lstm(RecurrentModel):
    """An LSTM with its vocabulary."""

    family: ClassVar[Family] = FAMILY
    scorer: ClassVar[str] = "lstm 1"
    keys: ClassVar[weights.Keys] = {
        **dict.fromkeys(("embedding", "hidden", "layers"), weights.is_size),
        "tied": weights.is_flag,
    }
    kind = Network


load = Lstm.load
