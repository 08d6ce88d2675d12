"""The declaration of the family `jrnn`."""

from syntagm.models.recurrent.declaration import family, settings

FAMILY = family(
    "jrnn",
    "The LSTM of Jozefowicz et al. 2016 (lm_1b), imported by `syntagm import jrnn`.",
    settings("the symbol for the beginning of a sentence is read before a text, as in training"),
    ("jozefowicz-etal-2016-exploring",),
)
