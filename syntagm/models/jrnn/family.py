"""The declaration of the family `jrnn`."""

from syntagm.models.family import Family
from syntagm.models.recurrent.options import PROGRAMS, settings

FAMILY = Family(
    name="jrnn",
    summary="The LSTM of Jozefowicz et al. 2016 (lm_1b), imported by `syntagm import jrnn`.",
    module="syntagm.models.jrnn.model",
    checks="syntagm.models.words.folder",
    settings=settings("the symbol for the beginning of a sentence is read before a text, as in training"),
    can=("score", "fill", "best"),
    references=("jozefowicz-etal-2016-exploring",),
    programs=PROGRAMS,
)
