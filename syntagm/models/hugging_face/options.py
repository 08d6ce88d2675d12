"""Declarations shared by the families of Hugging Face transformers: options, architectures, programs."""

from syntagm.models.family import Program
from syntagm.models.option import NO_YES, Choice, Option, Value, Whole

DTYPE = Option(
    "dtype",
    Choice((
        Value("f32", words="32-bit floats"), Value("bf16", words="bfloat16"), Value("f16", words="16-bit floats"),
        Value("f64", words="64-bit floats"),
    )),
    "f32",
    "dtype of the computation, regardless of the dtype of the stored weights. Log-sum-exp is computed in float32 or wider",
    loading=True,
)  # fmt: skip
PERMISSIONS = (
    Option(
        "allow_pickle", NO_YES, "no",
        "whether pickled weights may be loaded. A pickle can run arbitrary code. On the command line: `--allow-pickle`",
        effect="permission", loading=True,
    ),
    Option(
        "remote_code", NO_YES, "no",
        "whether code that comes with the model may be run. On the command line: `--trust-remote-code`",
        effect="permission", loading=True,
    ),
)  # fmt: skip
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
