"""What the families of Hugging Face transformers have in common: where a model is found, its type, its label, its batches."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from syntagm.errors import ModelError, UsageError
from syntagm.io import seal
from syntagm.models.device import device
from syntagm.models.hugging_face.checkpoint import Kind, fuse_gelu, read_checkpoint
from syntagm.models.hugging_face.options import CARD
from syntagm.models.hugging_face.weights import hash_folder, hash_weights, refuse_unsafe

_TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "f64": torch.float64}
_SPELLED = {dtype: name for name, dtype in _TYPES.items()}


def read(kind: Kind, path: str, chosen: Mapping[str, str], bundled: Mapping[str, str]) -> tuple[Any, Any, str, str]:
    """A model in evaluation mode, where the options say and in their type; its tokenizer, its label, a hash of its weights.

    Arguments:
        path: a folder, or a name on the hub, perhaps with a revision after `@`.
        chosen: options, of which `dtype`, `device`, `allow_pickle` and `remote_code` are read.
        bundled: labels of the models in this package -> their folders.

    Raises:
        UsageError: no path, or no such device.
        ModelError: it can't be found, or is not what it should be: pickled weights, code of its own, missing weights.
    """
    name, at, revision = path.partition("@")
    if Path(path).is_dir():
        name, at, revision = path, "", ""
    if not name:
        raise UsageError(f"model {kind}:", "no path", "a folder or a name on the hub")
    dtype, pickle, code = _TYPES[chosen["dtype"]], chosen["allow_pickle"] == "yes", chosen["remote_code"] == "yes"
    if Path(name).is_dir():
        refuse_unsafe(Path(name), pickle, code, kind)
        if seal.verify(Path(name), ModelError) is None and (Path(name) / "training.json").exists():
            cure = "If the files are right, `syntagm seal` seals them."
            raise ModelError(
                f"{kind}:{path}", "training.json, but no seal.json", "both, as `syntagm train` writes", cure
            )
    elif name.startswith((".", "/", "~")):
        raise ModelError(f"{kind}:{path}", "no such folder", "a folder with config.json and model.safetensors")
    model, tokenizer = read_checkpoint(name, revision, dtype, pickle, code, kind)
    model = fuse_gelu(model.to(device(chosen["device"])).eval())
    label = next((known for known, folder in bundled.items() if folder == name), None) or _label(name, at + revision)
    return model, tokenizer, label, hash_weights(model, tokenizer)


def spelled(dtype: torch.dtype) -> str:
    """A type as options and policies call it.

    >>> spelled(torch.bfloat16)
    'bf16'
    """
    return _SPELLED.get(dtype, str(dtype).removeprefix("torch."))


def batch_tokens(chosen: Mapping[str, str], place: torch.device, processor: int) -> int:
    """The tokens of a batch: what the option `batch` says, or what suits the place; `processor` on one."""
    return int(chosen.get("batch", processor if place.type == "cpu" else CARD))


def _label(name: str, revision: str) -> str:
    if Path(name).is_dir():
        return f"{Path(name).resolve().name}@{hash_folder(Path(name))[:8]}"
    return name + revision
