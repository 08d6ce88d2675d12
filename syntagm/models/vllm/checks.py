"""Checks of a model for vLLM that need neither vLLM nor weights."""

import sys
from collections.abc import Mapping

from syntagm.core import ModelError, extras
from syntagm.models.hugging_face import location


def check(name: str, path: str, chosen: Mapping[str, str], trust_remote_code: bool = False) -> None:
    """Refuse a model if vLLM is not installed, or if it can't be found; see `Family.checks`."""
    if "vllm" not in sys.modules and not extras.installed("vllm"):
        raise extras.missing("vllm", f"{name}:{path}", ModelError, "use causal:, which needs no vLLM")
    location.check(name, path, chosen, trust_remote_code=trust_remote_code)
