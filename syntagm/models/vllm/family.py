"""The declaration of the family `vllm`, and the check of a model that needs neither vLLM nor weights."""

import sys
from collections.abc import Mapping
from dataclasses import replace

from syntagm.core import ModelError, Whole, extras
from syntagm.models.family import Choice, Family, Option, Program
from syntagm.models.hugging_face.options import ARCHITECTURES, BOS, DTYPE, EOS, FLOATS, PROGRAMS

FAMILY = Family(
    name="vllm",
    summary="A Hugging Face causal language model computed by vLLM, which must be installed, in this process.",
    module="syntagm.models.vllm.model",
    checks="syntagm.models.vllm.family",
    permissions=("trust_remote_code",),
    settings=(
        BOS,
        EOS,
        replace(
            DTYPE, values=Choice(FLOATS), default="f32", depends="",
            help="dtype of the computation, regardless of the dtype of the stored weights",
        ),
        Option(
            "positions", Whole(2), "", "the largest number of tokens that are scored at once. vLLM reserves memory for as "
            "many, which may be too much for a model with very many", effect="source", depends="those of the model",
            loading=True,
        ),
        Option("gpus", Whole(1, 1024), "1", "number of GPUs over which the model is spread", effect="speed", loading=True),
        Option(
            "memory", Whole(1, 100), "", "percentage of the memory of each GPU, or of the machine if vLLM computes on a CPU, "
            "that vLLM reserves. Loading fails if less is free", effect="speed", depends="vLLM's own, about 90",
            loading=True,
        ),
    ),
    architectures=ARCHITECTURES,
    programs=(Program("vllm", "vLLM"), *PROGRAMS[1:]),
)  # fmt: skip


def check(name: str, path: str, chosen: Mapping[str, str], trust_remote_code: bool = False) -> None:
    """Refuse a model if vLLM is not installed, or if it can't be found; see `Family.checks`."""
    from syntagm.models.hugging_face import location

    if "vllm" not in sys.modules and not extras.installed("vllm"):
        raise extras.missing("vllm", f"{name}:{path}", ModelError, "use causal:, which needs no vLLM")
    location.check(name, path, chosen, trust_remote_code=trust_remote_code)
