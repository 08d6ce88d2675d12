"""The declaration of the family `multitask`."""

from syntagm.models.lstm.family import FAMILY as LSTM
from syntagm.models.recurrent.declaration import family

FAMILY = family(
    "multitask",
    "Word-level LSTMs that have also learned to tag words, trained by `syntagm train multitask`.",
    LSTM.settings,
    (*LSTM.references, "marvin-linzen-2018-targeted"),
)
