"""The declaration of the family `lstm`."""

from syntagm.models.family import Family, Program
from syntagm.models.option import DEVICE, NO_YES, YES_NO, Choice, Fixed, Option, Value, Whole, choice
from syntagm.models.words.words import KINDS

FAMILY = Family(
    name="lstm",
    summary="Word-level LSTMs, trained by `syntagm train lstm` or imported.",
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
            "whether the end-of-sentence symbol is read before a text, as before each sentence in training.",
        ),
        Option("eos", NO_YES, "no", "whether the end-of-text symbol's surprisal is listed. It only counts in whole sentences"),
        Fixed("dtype", Value("f32", words="32-bit floats")),
        Option(
            "tokens", choice(["saved", *KINDS]), "saved", "how a text is split into words. `saved`: as in training"
        ),
        DEVICE,
        Option("batch", Whole(), "8192", "number of words in a batch", effect="speed"),
        Option("sharing", YES_NO, "yes", "whether shared prefixes are computed once", effect="speed"),
    ),
    references=("hochreiter-schmidhuber-1997-long",),
    programs=(Program("torch", "PyTorch"),),
)  # fmt: skip
