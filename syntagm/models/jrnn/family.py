"""The declaration of the family `jrnn`."""

from syntagm.models.family import Family
from syntagm.models.lstm.family import FAMILY as LSTM

FAMILY = Family(
    name="jrnn",
    summary="The LSTM of Jozefowicz et al. 2016 (lm_1b), imported by `syntagm import jrnn`.",
    module="syntagm.models.jrnn.model",
    settings=LSTM.settings,
    references=("jozefowicz-etal-2016-exploring",),
    programs=LSTM.programs,
)
