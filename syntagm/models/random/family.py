"""The family `random`: what it has and what can be chosen."""

from syntagm.models.family import Family
from syntagm.models.option import NO_YES, Fixed, Option, Value, Whole

FAMILY = Family(
    name="random",
    summary="A model without knowledge: bits drawn by a hash of the text up to the end of each word.",
    module="syntagm.models.random.model",
    settings=(
        Fixed("bos", Value("yes")),
        Fixed("eos", Value("no")),
        Option("seed", Whole(0, 10**18 - 1), "1", "another seed, another model", always_named=True),
        Option("unigram", NO_YES, "no", "hash the word alone, in lower case: a model that is blind to context"),
    ),
    bundled={"random": ""},
)
