"""The declaration of the family `jrnn`."""

from syntagm.models.family import Family
from syntagm.models.lstm.family import FAMILY as LSTM
from syntagm.models.option import Choice, Option, Value

FAMILY = Family(
    name="jrnn",
    summary="The LSTM of Jozefowicz et al. 2016 (lm_1b), imported by `syntagm import jrnn`.",
    module="syntagm.models.jrnn.model",
    settings=(
        Option(
            "bos",
            Choice((Value("yes"), Value("no", "the first word has no surprisal (`nan`)"))),
            "yes",
            "whether the symbol for the beginning of a sentence is read before a text, as in training.",
        ),
        *(setting for setting in LSTM.settings if setting.name != "bos"),
    ),
    references=("jozefowicz-etal-2016-exploring",),
    programs=LSTM.programs,
)
