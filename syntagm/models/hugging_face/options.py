"""Declarations shared by the families of Hugging Face transformers: options, architectures, programs."""

from dataclasses import replace

from syntagm.core import Text, Whole
from syntagm.models.family import DEVICE, NO_YES, Choice, Option, Program, Value

BOS = Option(
    "bos",
    Choice(
        (
            Value(
                "auto",
                "the tokenizer's bos; or the symbol that `config.json` names as bos and as eos, if it is special in the "
                "tokenizer; or none",
            ),
            Value("yes", "the tokenizer's bos, or that which `config.json` names; a model that has none is refused"),
            Value(
                "no",
                "none, so the first token has no surprisal (`nan`) and counts as 0 in sums, as for Hugging Face "
                "models in SyntaxGym",
            ),
        )
    ),
    "auto",
    "the start-of-text symbol before a text.",
)
EOS = Option(
    "eos",
    NO_YES,
    "no",
    "whether the end-of-text symbol's surprisal is listed. It belongs to no region and only counts in whole sentences",
)
FLOATS = (Value("f32", words="32-bit floats"), Value("bf16", words="bfloat16"), Value("f16", words="16-bit floats"))
DTYPE = Option(
    "dtype",
    Choice((*FLOATS, Value("f64", words="64-bit floats"))),
    "",
    "dtype of the computation, regardless of the dtype of the stored weights. A checkpoint with quantised weights has a "
    "dtype of its own, and another one is refused. Log-sum-exp is computed in float32 or wider",
    depends="`f32`, or that of a quantised checkpoint", loading=True,
)  # fmt: skip
FILES = (
    Option(
        "gguf", Text(("a file in the folder",)), "",
        "the GGUF file to read. Its weights are dequantised while loading, to `dtype`. A path that ends in `.gguf` needs no "
        "option",
        effect="source", depends="none", loading=True,
    ),
    Option(
        "adapter",
        Choice((
            Value("separate", "its layers are computed beside those of the base model"),
            Value("merged", "its weights are added to those of the base model first, which rounds differently"),
        )),
        "", "how an adapter of PEFT is computed.", depends="`separate`", loading=True,
    ),
)  # fmt: skip
DEVICES = replace(
    DEVICE, values=Text(("`auto`", "`cpu`", "`cuda`", "`cuda:1`", "`spread`", "...")),
    help=f"{DEVICE.help}; `spread`: all GPUs, with some layers on each",
)  # fmt: skip
PERMISSIONS = ("allow_pickle", "trust_remote_code")
PROGRAMS = (Program("torch", "PyTorch"), Program("transformers", "Transformers", ("wolf-etal-2020-transformers",)))
ARCHITECTURES = {
    "gpt2": ("radford-etal-2019-language",),
    "bert": ("devlin-etal-2019-bert",),
    "roberta": ("liu-etal-2019-roberta",),
    "distilbert": ("sanh-etal-2019-distilbert",),
}
# Default number of tokens in a batch on a GPU.
CARD = 16_384


def batch(processor: int) -> Option:
    """Return the option `batch` of a family whose default on a CPU is `processor` tokens."""
    return Option(
        "batch", Whole(), "", "number of tokens in a batch. It is halved automatically when memory runs out", effect="speed",
        depends=f"{processor:,} on a CPU, {CARD:,} on a GPU",
    )  # fmt: skip
