"""The declaration of the family `recorded`."""

from syntagm.core import Text
from syntagm.models.family import NO_YES, YES_NO, Choice, Family, Option, Value, choice

FAMILY = Family(
    name="recorded",
    summary="Surprisals read from a file, for example of a model that you can't run.",
    module="syntagm.models.recorded.model",
    checks="syntagm.models.recorded.model",
    endings=(".csv",),
    settings=(
        Option("bos", YES_NO, "yes", "`no`: first tokens were not scored (their bits are `nan` and count as 0 in sums)"),
        Option(
            "model", Text(("a name",)), "", "name of the model to read, if the file has several", effect="source",
            depends="the only one in the file",
        ),
        Option(
            "sides", Choice((Value("left", sees="left"), Value("both", sees="both"))), "",
            "the context that the model saw. `both`: predictions about parts of sentences are skipped, as for a masked model",
            depends="by the column `model`; else `left`",
        ),
        Option(
            "regions", NO_YES, "",
            "whether predictions about parts of a sentence are computed for a model that saw both sides",
            depends="by the column `model`; else `no`",
        ),
        Option(
            "exact", YES_NO, "",
            "`no`: the bits of texts are upper bounds, as in a beam search, so that single tokens may have negative bits",
            depends="by the column `model`; else `yes`",
        ),
        Option(
            "boundary", choice(["token", "word"]), "",
            "`word`: the bits of words are corrected for where they end, so that single tokens may have negative bits",
            depends="by the column `model`; else `token`",
        ),
    ),
)  # fmt: skip
