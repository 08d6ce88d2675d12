"""The family `causal`: what it has and what can be chosen."""

from pathlib import Path

from syntagm.models.family import Family
from syntagm.models.hugging_face.options import ARCHITECTURES, DTYPE, PERMISSIONS, PROGRAMS, batch
from syntagm.models.option import DEVICE, NO_YES, Choice, Option, Value, choice

# Tokens a batch on a processor.
BATCH = 1_536
_WORD_ENDS = ("pimentel-meister-2024-compute", "oh-schuler-2024-leading")

FAMILY = Family(
    name="causal",
    summary="Any Hugging Face causal language model: the bundled demo, a folder, or a name on the hub.",
    module="syntagm.models.causal.model",
    settings=(
        Option(
            "bos",
            Choice((
                Value("auto", "the tokenizer's start symbol, else the end symbol where the model uses one for both (GPT-2, "
                      "Pythia), else nothing"),
                Value("yes", "the same, and a model that has none is refused"),
                Value("no", "nothing, so the first token has no surprisal (`nan`) and counts 0 in sums, as in SyntaxGym's "
                      "Hugging Face path"),
            )),
            "auto",
            "what stands before a text, one symbol or nothing.",
        ),
        Option(
            "eos", NO_YES, "no",
            "is the end symbol's surprisal listed? It belongs to no region and counts in whole sentences",
        ),
        DTYPE,
        Option(
            "boundary",
            Choice((
                Value("token"),
                Value("word", "the correction of Pimentel & Meister (2024) and Oh & Schuler (2024)",
                      references=_WORD_ENDS),
            )),
            "token",
            "what a word's surprisal is, where the tokenizer puts the blank at the beginning of a token.",
        ),
        Option(
            "fill",
            Choice((
                Value("word", "of the word, which ends there", references=_WORD_ENDS),
                Value("token", "of its tokens, whatever comes after them"),
            )),
            "word",
            "blanks: what a candidate's probability is of.",
            gaps_only=True,
        ),
        DEVICE,
        batch(BATCH),
        Option(
            "sharing", choice(["auto", "no"]), "auto",
            "are shared prefixes computed once, where the model can take it?", effect="speed",
        ),
        *PERMISSIONS,
    ),
    architectures=ARCHITECTURES,
    programs=PROGRAMS,
    bundled={"demo": str(Path(__file__).resolve().parent.with_name("_demo"))},
)  # fmt: skip
