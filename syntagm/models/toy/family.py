"""The family `toy`: what it has and what can be chosen."""

from syntagm.models.family import Family
from syntagm.models.option import NO_YES, Fixed, Option, Value

FAMILY = Family(
    name="toy",
    summary="A model computed by pencil: add-one bigrams over twelve sentences, or over a file with one sentence a line.",
    module="syntagm.models.toy.model",
    settings=(
        Fixed("bos", Value("yes")),
        Option("eos", NO_YES, "no", "is the end symbol's surprisal listed? It counts in whole sentences only"),
    ),
    bundled={"toy": ""},
)
