"""The family `lstm`: what it has and what can be chosen."""

from syntagm.models.family import Family, Program
from syntagm.models.option import DEVICE, NO_YES, YES_NO, Choice, Fixed, Option, Value, Whole, choice
from syntagm.models.words.words import KINDS

FAMILY = Family(
    name="lstm",
    summary="Word-level LSTMs, as `syntagm train lstm` makes them.",
    module="syntagm.models.lstm.model",
    settings=(
        Option(
            "bos",
            Choice((
                Value("yes"),
                Value("no", "the first word has no surprisal (`nan`), as in the published numbers of Hu et al. and of "
                      "Gulordava's model in lm-zoo"),
            )),
            "yes",
            "is the end symbol read before a text? It stood before sentences in training.",
        ),
        Option("eos", NO_YES, "no", "is the end symbol's surprisal listed? It counts in whole sentences only"),
        Fixed("dtype", Value("f32", words="32-bit floats")),
        Option(
            "tokens", choice(["saved", *KINDS]), "saved", "how a text is divided into words; `saved`: as in training"
        ),
        DEVICE,
        Option("batch", Whole(), "8192", "words a batch", effect="speed"),
        Option("sharing", YES_NO, "yes", "are shared prefixes computed once?", effect="speed"),
    ),
    references=("hochreiter-schmidhuber-1997-long",),
    programs=(Program("torch", "PyTorch"),),
)  # fmt: skip
