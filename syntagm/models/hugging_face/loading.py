"""Loading of models from Hugging Face transformers, with their path, dtype, label and batch size."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A model in evaluation mode, with its tokenizer and its label.

    Arguments:
        weights: a hash of its weights; empty for a model that is being trained.
        unused: the stored weights that the model doesn't use.
        training: for a model that is being trained, what identifies its weights, for its record; else empty.
    """

    model: Any
    tokenizer: Any
    label: str
    weights: str
    unused: Sequence[str] = ()
    training: Mapping[str, object] = field(default_factory=dict)


def read(kind: Kind, path: str, chosen: Mapping[str, str], bundled: Mapping[str, str]) -> Loaded:
    """Load a model and its tokenizer.

    Arguments:
        kind: the kind of language model.
        path: a folder, or a name on the hub, optionally with `@revision`.
        chosen: options, of which `dtype`, `device`, `allow_pickle` and `remote_code` are used.
        bundled: labels of bundled models -> their folders.

    Raises:
        UsageError: no path was given, or there is no such device.
        ModelError: the model can't be found, its weights are not those that its configuration describes, or it has pickled
            weights or own code without permission.
    """
    name, at, revision = path.partition("@")
    if Path(path).is_dir():
        name, at, revision = path, "", ""
    if not name:
        raise UsageError(f"model '{kind}:'", "no path", "a folder, or the name of a model on the Hugging Face Hub")
    dtype, pickle, code = _TYPES[chosen["dtype"]], chosen["allow_pickle"] == "yes", chosen["remote_code"] == "yes"
    if Path(name).is_dir():
        refuse_unsafe(Path(name), pickle, code, kind)
        refuse_damaged(Path(name))
    elif name.startswith((".", "/", "~")):
        raise ModelError(f"{kind}:{path}", "no such folder", "a folder with config.json and model.safetensors")
    model, tokenizer, unused = read_checkpoint(name, revision, dtype, pickle, code, kind)
    model = fuse_gelu(model.to(device(chosen["device"])).eval())
    label = next((bundled_label for bundled_label, folder in bundled.items() if folder == name), None) or _label(
        name, at + revision
    )
    return Loaded(model, tokenizer, label, hash_weights(model, tokenizer), unused)


def refuse_damaged(folder: Path) -> None:
    """Refuse a folder whose files don't match its seal, and one that was trained here without a seal.

    Raises:
        ModelError: a file is damaged, edited, missing or new.
    """
    trained_here = (folder / "training.json").exists()
    (seal.demand if trained_here else seal.verify)(folder, ModelError)


def spelled(dtype: torch.dtype) -> str:
    """Return the name of a dtype in options and settings.

    >>> spelled(torch.bfloat16)
    'bf16'
    """
    return _SPELLED.get(dtype, str(dtype).removeprefix("torch."))


def batch_tokens(chosen: Mapping[str, str], place: torch.device, processor: int) -> int:
    """Return the number of tokens in a batch: the option `batch` if given, else the default of the device.

    Arguments:
        chosen: the options.
        place: the device.
        processor: default on a CPU.
    """
    return int(chosen.get("batch", processor if place.type == "cpu" else CARD))


def _label(name: str, revision: str) -> str:
    if Path(name).is_dir():
        return f"{Path(name).resolve().name}@{hash_folder(Path(name))[:8]}"
    return name + revision
