"""Loading of the checkpoint that training of a GPT-2 starts from."""

import hashlib
from pathlib import Path
from typing import Any

import torch
import transformers

from syntagm.core import ModelError
from syntagm.models import described, is_foreign, refuse_incomplete, refuse_unsafe, unused_weights
from syntagm.training.record import finished


def load_checkpoint(start: str, config: Any) -> Any:
    """Load the model of a checkpoint with the dropout of `config`; refuse a model of a different size."""
    dropout = {name: getattr(config, name) for name in ("resid_pdrop", "embd_pdrop", "attn_pdrop")}
    gpt2: Any = transformers.GPT2LMHeadModel
    if Path(start).is_dir():
        refuse_unsafe(Path(start), pickle=False, code=False, kind="causal")
    try:
        loaded, loading = gpt2.from_pretrained(
            start, dtype=torch.float32, use_safetensors=True, output_loading_info=True, **dropout
        )
    except Exception as error:  # transformers raises exceptions of many types
        if not is_foreign(error):
            raise
        raise ModelError(
            f"--init-from {start}", described(error), "the folder or name of a GPT-2 model in safetensors format"
        ) from error
    refuse_incomplete(f"--init-from {start}", loading)
    unused_weights(f"--init-from {start}", loaded.config, loading)
    for name in ("n_layer", "n_embd", "n_head", "n_positions", "vocab_size"):
        if (actual := getattr(loaded.config, name)) != (expected := getattr(config, name)):
            raise ModelError(f"--init-from {start}", f"{name} = {actual}", f"{expected}, as in the settings")
    return loaded


def origin(start: str, model: Any) -> dict[str, Any]:
    """Describe the checkpoint that training starts from: its name, the hash of its weights, and its own training if known."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name}|{tuple(tensor.shape)}|".encode())
        digest.update(tensor.detach().float().cpu().numpy().tobytes())
    training = finished(Path(start)) if Path(start).is_dir() else None
    return {"name": Path(start).name, "weights": digest.hexdigest(), "training": training}
