"""The declaration of the family `multitask`."""

from dataclasses import replace

from syntagm.models.lstm.family import FAMILY as LSTM

FAMILY = replace(
    LSTM,
    name="multitask",
    summary="Word-level LSTMs that have also learned to tag words, trained by `syntagm train multitask`.",
    module="syntagm.models.multitask.model",
    references=(*LSTM.references, "marvin-linzen-2018-targeted"),
)
