"""The declaration of the family `toy`."""

from syntagm.models.family import NO_YES, Family, Fixed, Option, Value

FAMILY = Family(
    name="toy",
    summary="A toy model: bigrams with add-one smoothing, from twelve sentences or a file with one sentence per line.",
    module="syntagm.models.toy.model",
    checks="syntagm.models.toy.model",
    settings=(
        Fixed("bos", Value("yes")),
        Option(
            "eos",
            NO_YES,
            "no",
            "whether the end-of-text symbol's surprisal is listed. It only counts in whole sentences",
        ),
    ),
    can=("score", "reduce", "fill", "best"),
    bundled={"toy": ""},
)
