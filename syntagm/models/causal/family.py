"""The declaration of the family `causal`."""

from pathlib import Path

from syntagm.models.family import Choice, Family, Option, Value, choice
from syntagm.models.hugging_face.options import (
    ARCHITECTURES,
    BOS,
    DEVICES,
    DTYPE,
    EOS,
    FILES,
    PERMISSIONS,
    PROGRAMS,
    batch,
)

# Default number of tokens in a batch on a CPU.
BATCH = 512
_WORD_ENDS = ("pimentel-meister-2024-compute", "oh-schuler-2024-leading")

FAMILY = Family(
    name="causal",
    summary="Any Hugging Face causal language model: the bundled demo, a folder, or a name on the hub.",
    module="syntagm.models.causal.model",
    checks="syntagm.models.hugging_face.location",
    endings=(".gguf",),
    permissions=PERMISSIONS,
    settings=(
        BOS,
        EOS,
        Option(
            "chat",
            Choice((
                Value("no", "none: texts are scored as they are, also by a model that was trained for chats"),
                Value("user", "a user's message, as the model's chat template writes it", words="a user's message",
                      can=("score", "reduce")),
                Value("assistant", "the same for a reply of the assistant", words="an assistant's message",
                      can=("score", "reduce")),
            )),
            "no",
            "the message whose content a text is. The symbols of the template that precede the content, and nothing else, "
            "precede the text; the template alone decides on bos.",
            texts_only=True,
        ),
        DTYPE,
        *FILES,
        Option(
            "boundary",
            Choice((
                Value("token", "none"),
                Value("word", "the correction of Pimentel & Meister (2024) and Oh & Schuler (2024)",
                      references=_WORD_ENDS, can=("score", "fill", "best")),
            )),
            "token",
            "the correction of words' surprisals for tokenizers that put the space at the beginning of a token.",
        ),
        Option(
            "fill",
            Choice((
                Value("word", "that of the whole word, including its end", references=_WORD_ENDS),
                Value("token", "that of its tokens, regardless of what follows"),
            )),
            "word",
            "for gaps: the probability of a candidate.",
            gaps_only=True,
        ),
        DEVICES,
        batch(BATCH),
        Option(
            "sharing", choice(["auto", "no"]), "auto",
            "whether shared prefixes are computed once, for models that support it", effect="speed",
        ),
    ),
    can=("score", "reduce", "fill", "best"),
    architectures=ARCHITECTURES,
    programs=PROGRAMS,
    bundled={"demo": str(Path(__file__).resolve().parent.with_name("_demo"))},
    taught={"demo": (
        "It was taught number agreement by 148,242 clauses chosen for that purpose, and the recipe was chosen by scores on "
        "the bundled suites, so its scores show what such lessons do to a small model, not what reading does."
    )},
)  # fmt: skip
