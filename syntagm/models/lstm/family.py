"""The declaration of the family `lstm`."""

from syntagm.models.recurrent.declaration import family, settings

FAMILY = family(
    "lstm",
    "Word-level LSTMs, trained by `syntagm train lstm` or imported.",
    settings(
        "the end-of-sentence symbol is read before a text, as before each sentence in training",
        published="the published numbers of Hu et al. and of Gulordava's model in lm-zoo",
    ),
    ("hochreiter-schmidhuber-1997-long",),
)
