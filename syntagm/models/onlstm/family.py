"""The declaration of the family `onlstm`."""

from syntagm.core import Whole
from syntagm.models.family import Option
from syntagm.models.lstm.family import FAMILY as LSTM
from syntagm.models.recurrent.declaration import CAN, family

_LAYER = Option(
    "layer",
    Whole(),
    "",
    "the layer whose distances between words give the trees",
    effect="trees",
    depends="the second layer, as in Shen et al. 2019, or the only one",
)
FAMILY = family(
    "onlstm",
    "Word-level ON-LSTMs, trained by `syntagm train onlstm`; they also induce trees.",
    (*LSTM.settings, _LAYER),
    ("shen-etal-2019-ordered",),
    can=(*CAN, "parse"),
)
