"""The declaration of the family `random`."""

from syntagm.core import Whole
from syntagm.models.family import NO_YES, Family, Fixed, Option, Scoring, Value

FAMILY = Family(
    name="random",
    summary="A random baseline: pseudo-random surprisals, from a hash of the text up to the end of each word.",
    module="syntagm.models.random.model",
    checks="syntagm.models.random.model",
    settings=(
        Fixed("bos", Value("yes", words="each text was scored from its first word")),
        Fixed("eos", Value("no")),
        Option(
            "seed", Whole(0, 10**18 - 1), "1", "seed of the hash; each seed gives a different model", always_named=True
        ),
        Option("unigram", NO_YES, "no", "hash only the word, in lower case: a baseline that ignores the context"),
    ),
    can=("score", "fill"),
    scoring=Scoring(
        "The surprisals of the random baseline are pseudo-random numbers, one for each word and punctuation mark: normally "
        "distributed, with a mean of 16 and a standard deviation of 2 bits",
        (),
    ),
    bundled={"random": ""},
)
