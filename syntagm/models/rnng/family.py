"""The declaration of the family `rnng`."""

from syntagm.core import Whole
from syntagm.models.family import DEVICE, NO_YES, Choice, Family, Fixed, Option, Program, Scoring, Value, choice
from syntagm.models.words.splitting import KINDS

FAMILY = Family(
    name="rnng",
    summary="Recurrent neural network grammars, trained on trees by `syntagm train rnng`; scored by a beam search.",
    module="syntagm.models.rnng.model",
    checks="syntagm.models.words.vocabulary",
    settings=(
        Fixed("bos", Value("yes")),
        Option(
            "eos", NO_YES, "no",
            "whether the surprisal of closing the tree after the last word is listed, as that of an end symbol. It only "
            "counts in whole sentences",
        ),
        Option(
            "beam", Whole(), "100",
            "number of extended derivations kept in each step of the search. The larger it is, the less mass is lost",
        ),
        Option(
            "word_beam", Whole(), "10",
            "number of derivations kept after each word; their mass gives the surprisal. Above a third of `beam`, there is a "
            "warning: the next word can be generated `beam` times before constituents are closed and opened, which ends the "
            "search, in the published algorithm, too. A word that needs them can then become far too surprising",
        ),
        Option(
            "fast_track", Whole(0), "5",
            "number of further derivations kept in each step if they generate the next word. Above a third of `beam`, the "
            "same can happen, with the same warning",
        ),
        Option(
            "root",
            Choice((
                Value("drop", "it is scored, and the derivation is dropped, as in Hu et al."),
                Value("mask", "it is no valid action, and at most 8 constituents are opened in a row, as in rnng-pytorch"),
            )),
            "drop",
            "what happens to an action that closes the tree before the last word.",
        ),
        Fixed("dtype", Value("f32", words="32-bit floats")),
        Option(
            "tokens", choice(["saved", *KINDS]), "saved", "how a text is split into words. `saved`: as in training"
        ),
        DEVICE,
        Option("batch", Whole(), "16", "number of texts in a batch", effect="speed"),
    ),
    can=("score", "parse"),
    exact=False,
    scoring=Scoring(
        "The surprisal of a word is the decrease, in bits, of the log-probability of the best derivations found by "
        "word-synchronous beam search (action beam {beam}, word beam {word_beam}, fast track {fast_track})",
        ("hale-2001-probabilistic", "levy-2008-expectation", "stern-etal-2017-effective"),
        ("beam", "word_beam", "fast_track"),
    ),
    references=("dyer-etal-2016-recurrent",),
    programs=(Program("torch", "PyTorch"),),
)  # fmt: skip
