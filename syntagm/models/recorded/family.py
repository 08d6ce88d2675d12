"""The family `recorded`: what it has and what can be chosen."""

from syntagm.models.family import Family
from syntagm.models.option import NO_YES, YES_NO, Option, Text, choice

FAMILY = Family(
    name="recorded",
    summary="Surprisals from a file: any model's numbers, without the model.",
    module="syntagm.models.recorded.model",
    settings=(
        Option("bos", YES_NO, "yes", "`no`: first tokens were not scored (their bits are `nan` and count 0 in sums)"),
        Option(
            "model", Text(("a name",)), "", "which model, where a file holds several", effect="source",
            depends="the only one in the file",
        ),
        Option(
            "sides", choice(["left", "both"]), "",
            "what the model saw. `both`: predictions about parts of sentences are left out as for a masked model",
            depends="what the column `model` says; else `left`",
        ),
        Option(
            "regions", NO_YES, "",
            "are predictions about parts of a sentence computed for a model that saw both sides?",
            depends="what the column `model` says; else `no`",
        ),
    ),
)  # fmt: skip
