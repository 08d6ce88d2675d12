"""The declaration of the family `onlstm`."""

from syntagm.models.family import Family
from syntagm.models.lstm.family import FAMILY as LSTM
from syntagm.models.option import Option, Whole

FAMILY = Family(
    name="onlstm",
    summary="Word-level ON-LSTMs, trained by `syntagm train onlstm`; they also induce trees.",
    module="syntagm.models.onlstm.model",
    checks="syntagm.models.words.folder",
    settings=(
        *LSTM.settings,
        Option(
            "layer",
            Whole(),
            "",
            "the layer whose distances between words give the trees",
            effect="trees",
            depends="the second layer, as in Shen et al. 2019, or the only one",
        ),
    ),
    can=(*LSTM.can, "parse"),
    references=("shen-etal-2019-ordered",),
    programs=LSTM.programs,
)
