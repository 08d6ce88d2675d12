"""A checkpoint that a GPT-2 begins with, instead of with random weights."""

import hashlib
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import SafetensorError

from syntagm.errors import ModelError
from syntagm.training.record import finished


def begun(start: str, config: Any) -> Any:
    """The model of a checkpoint, with the dropout asked for."""
    dropout = {name: getattr(config, name) for name in ("resid_pdrop", "embd_pdrop", "attn_pdrop")}
    model: Any = transformers.GPT2LMHeadModel
    try:
        made = model.from_pretrained(start, dtype=torch.float32, use_safetensors=True, **dropout)
    except (OSError, ValueError, SafetensorError) as error:
        shown = str(error).splitlines()[0]
        raise ModelError(f"start {start}", shown, "a folder or name of a GPT-2 in safetensors") from error
    for name in ("n_layer", "n_embd", "n_head", "n_positions", "vocab_size"):
        if (found := getattr(made.config, name)) != (asked := getattr(config, name)):
            raise ModelError(f"start {start}", f"{name} = {found}", f"{asked}, as asked for")
    return made


def origin(start: str, model: Any) -> dict[str, Any]:
    """What a training began with: a checkpoint, the hash of its weights, and how it was made, if its folder says so."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name}|{tuple(tensor.shape)}|".encode())
        digest.update(tensor.detach().float().cpu().numpy().tobytes())
    made = finished(Path(start)) if Path(start).is_dir() else None
    return {"name": Path(start).name, "weights": digest.hexdigest(), "training": made}
