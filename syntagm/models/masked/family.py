"""The declaration of the family `masked`."""

from syntagm.models.family import NO_YES, Choice, Family, Fixed, Option, Scoring, Value
from syntagm.models.hugging_face.options import ARCHITECTURES, DEVICES, DTYPE, FILES, PERMISSIONS, PROGRAMS, batch
from syntagm.models.masked.masking import KINDS

# Default number of tokens in a batch on a CPU.
BATCH = 4_096

FAMILY = Family(
    name="masked",
    summary="Any Hugging Face masked language model: BERT, RoBERTa, DeBERTa, ModernBERT, ELECTRA's generator and others.",
    module="syntagm.models.masked.model",
    checks="syntagm.models.hugging_face.location",
    permissions=PERMISSIONS,
    settings=(
        Option(
            "masking",
            Choice(tuple(Value(kind.name, kind.help, kind.words, kind.references, kind.sees) for kind in KINDS)),
            KINDS[0].name,
            "which tokens are masked when a token is scored. Always part of the model's name.",
            always_named=True,
            texts_only=True,
        ),
        Option(
            "masks",
            Choice((
                Value("one", "only candidates of one token", "one mask"),
                Value(
                    "several",
                    "also candidates of several tokens, with a mask for each, unmasked from left to right",
                    "a mask for each of its tokens, unmasked from left to right,",
                ),
            )),
            "one",
            "for gaps: which candidates are scored.",
            gaps_only=True,
        ),
        Option(
            "regions", NO_YES, "no",
            "whether predictions about parts of a sentence are computed, from sums of pseudo-surprisals",
            texts_only=True,
        ),
        Fixed("bos", Value("yes")),
        Fixed("eos", Value("no")),
        DTYPE,
        *FILES,
        DEVICES,
        batch(BATCH),
    ),
    can=("score", "reduce", "fill", "best"),
    sees="both",
    scoring=Scoring(
        "Masked models were scored by pseudo-log-likelihood, masking {masking}", ("salazar-etal-2020-masked",), ("masking",)
    ),
    filling=Scoring(
        "The probability of a word in a gap under a masked model is that of the word under {masks} in its place, given the "
        "text on both sides",
        (),
        ("masks",),
    ),
    architectures=ARCHITECTURES,
    programs=PROGRAMS,
)  # fmt: skip
