"""What the families of Hugging Face transformers declare alike: options, architectures, programs."""

from syntagm.models.family import Program
from syntagm.models.option import NO_YES, Choice, Option, Value, Whole

DTYPE = Option(
    "dtype",
    Choice((
        Value("f32", words="32-bit floats"), Value("bf16", words="bfloat16"), Value("f16", words="16-bit floats"),
        Value("f64", words="64-bit floats"),
    )),
    "f32",
    "the type computed in, whatever the weights are stored in. Log-sum-exp is in float32 at least",
    loading=True,
)  # fmt: skip
PERMISSIONS = (
    Option(
        "allow_pickle", NO_YES, "no",
        "may weights be unpickled? That can run anything as you. On the command line: `--allow-pickle`",
        effect="permission", loading=True,
    ),
    Option(
        "remote_code", NO_YES, "no",
        "may code that comes with the model be run? It can do anything as you. On the command line: `--trust-remote-code`",
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
# Tokens a batch on a graphics card, where the option `batch` doesn't say.
CARD = 16_384


def batch(processor: int) -> Option:
    """Return the option `batch` of a family that asks `processor` tokens at a time on a processor."""
    return Option(
        "batch", Whole(), "", "tokens a batch; halved by itself, for good, when memory runs out", effect="speed",
        depends=f"{processor:,} on a processor, {CARD:,} on a graphics card",
    )  # fmt: skip
