"""The declaration of the family `lstm`."""

from syntagm.models.family import Family
from syntagm.models.recurrent.options import PROGRAMS, settings

FAMILY = Family(
    name="lstm",
    summary="Word-level LSTMs, trained by `syntagm train lstm` or imported.",
    module="syntagm.models.lstm.model",
    checks="syntagm.models.words.folder",
    settings=settings(
        "the end-of-sentence symbol is read before a text, as before each sentence in training",
        published="the published numbers of Hu et al. and of Gulordava's model in lm-zoo",
    ),
    can=("score", "fill", "best"),
    references=("hochreiter-schmidhuber-1997-long",),
    programs=PROGRAMS,
)
