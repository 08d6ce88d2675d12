"""Hashes of checkpoints, and refusal of weights that are not what they should be."""

import hashlib
import inspect
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from syntagm.core import ModelError, UsageError, hashing, regular
from syntagm.models.hugging_face.quantised import plain
from syntagm.models.hugging_face.unsafe import PICKLES

# Architectures of transformers that change their weights at the first forward pass: RWKV divides those of later layers.
_CHANGING = frozenset({"rwkv"})
# Dtypes with so many exponents that a division by a power of 2 loses no digits.
_WIDE = (torch.float32, torch.bfloat16, torch.float64)


def hash_of_weights(model: Any, tokenizer: Any) -> Callable[[], str]:
    """Return a function that computes a hash of configuration, weights (in the dtype of the computation) and tokenizer."""
    # The weights are hashed as they are when it is called, the rest as it is now: weights, not files, so the hash does
    # not depend on how the weights are split into files.
    settings, tokenization = _configuration(model), _tokenization(tokenizer)

    def digest() -> str:
        digest = hashlib.sha256(settings)
        for name, tensor in stored(model):
            flat = tensor.detach().cpu().contiguous().reshape(-1)
            digest.update(f"{name}|{tensor.dtype}|{tuple(tensor.shape)}|".encode())
            digest.update(memoryview(flat.view(torch.uint8).numpy()))
        digest.update(tokenization)
        return digest.hexdigest()

    return digest


def stored(model: Any) -> Iterator[tuple[str, Any]]:
    """Yield what is stored of a model, by name, in the order of names: as it was loaded; see `_divisors` for errors."""
    divisors = _divisors(model)
    for name, tensor in sorted(model.state_dict(keep_vars=True).items()):
        divisor = divisors.get(id(tensor))
        yield name, tensor.detach() * divisor if divisor else tensor


def _divisors(model: Any) -> dict[int, int]:
    """Return by which powers of 2 a model has divided its weights as it computed, by the identity of the weight."""
    # RWKV divides those of later layers at the first forward pass in evaluation mode (`rescale_every`).
    if model.config.model_type not in _CHANGING or hash_code(model) is not None:
        return {}
    every = model.config.rescale_every
    divided = [
        (part.weight, 2 ** (layer // every))
        for module in model.modules()
        if getattr(module, "layers_are_rescaled", False) and every > 0
        for layer, block in enumerate(module.blocks)
        if layer >= every
        for part in (block.attention.output, block.feed_forward.value)
    ]
    if any(not plain(weight) or weight.dtype not in _WIDE for weight, _ in divided):
        raise ModelError(
            f"a model of the architecture {model.config.model_type}",
            "weights that its first computation has divided, in a dtype that loses digits", "the weights as loaded",
            "Call from_transformers before the model first computes, or load it in f32 or bf16.",
        )  # fmt: skip
    return {id(weight): divisor for weight, divisor in divided}


def hash_settings(model: Any, tokenizer: Any) -> str:
    """Return a hash of configuration and tokenizer, without the weights."""
    return hashlib.sha256(_configuration(model) + _tokenization(tokenizer)).hexdigest()


def hash_folder(folder: Path) -> str:
    """Return a hash of the stored files of a checkpoint, which does not depend on the dtype of the computation."""
    digest = hashlib.sha256()
    patterns = ("config.json", "tokenizer.json", "*.safetensors", *PICKLES)
    for path in sorted({path for pattern in patterns for path in folder.glob(pattern)}):
        digest.update(f"{path.name}|{hashing.of_file(path)}|".encode())
    return digest.hexdigest()


def hash_stored(files: str, tokenizer: Any) -> str:
    """Return a hash of quantised weights and of the tokenizer, from a hash of the stored files."""
    return hashlib.sha256(files.encode() + _tokenization(tokenizer)).hexdigest()


def sample(model: Any) -> str:
    """Return a hash of a few numbers of each weight, which changes with every training step."""
    values: dict[torch.device, list[torch.Tensor]] = {}
    for tensor in filter(plain, model.parameters()):
        # A matrix may be stored column by column; its rows would be copied here.
        flat = (tensor.detach() if tensor.is_contiguous() else tensor.detach().t()).reshape(-1)
        chosen = flat[:: max(1, len(flat) // 8)].contiguous()
        values.setdefault(tensor.device, []).append(chosen.view(torch.uint8))
    digest = hashlib.sha256()
    for parts in values.values():
        # One copy for all weights, since a GPU is waited for at each.
        digest.update(torch.cat(parts).cpu().numpy().tobytes())
    return digest.hexdigest()


def refuse_nan(model: Any, name: str) -> None:
    """Refuse a model with a weight that is not a number, as after training that diverged."""
    for weights, parameter in model.named_parameters():
        if not plain(parameter):
            continue
        tensor = parameter.detach()
        if tensor.is_floating_point() and tensor.itemsize == 1:
            tensor = tensor.float()  # PyTorch can't test 8-bit floats
        # Whatever is added to NaN or to an infinite number, the sum is not finite; it is computed much faster.
        if bool(tensor.sum().isfinite()):
            continue
        # A vector may hold -inf: the bias of symbols that the model never predicts.
        broken = tensor.isnan() if tensor.dim() < 2 else ~tensor.isfinite()
        if count := int(broken.sum()):
            raise ModelError(
                name, f"{count:,} of {tensor.numel():,} weights of {weights} are not numbers", "finite numbers",
                "Check that training did not diverge, and that the dtype is not too narrow for the weights.",
            )  # fmt: skip


def refuse_training(model: Any, label: str) -> None:
    """Refuse a model in memory that is in training mode, or a part of it, because dropout would be active."""
    # The model itself is the first of its modules, and has no name.
    for name, module in model.named_modules():
        if module.training:
            found = f"a model whose part {name} is in training mode" if name else "a model in training mode"
            raise UsageError(f"model {label}", found, "evaluation mode", "Call model.eval() first.")


def hash_code(model: Any) -> str | None:
    """Return a hash of the code that came with a checkpoint; None for an architecture of transformers itself."""
    if not type(model).__module__.startswith("transformers_modules."):
        return None
    folder = Path(inspect.getfile(type(model))).parent
    return hashlib.sha256(b"\0".join(map(regular.content, sorted(folder.glob("*.py"))))).hexdigest()


def may_change(model: Any) -> bool:
    """Return whether a model may change, as it computes, what is stored with its weights."""
    return hash_code(model) is not None or model.config.model_type in _CHANGING


def _configuration(model: Any) -> bytes:
    settings = {
        key: value
        for key, value in model.config.to_dict().items()
        if key not in ("_name_or_path", "transformers_version")
    }
    return json.dumps(settings, sort_keys=True, default=str).encode()


def _tokenization(tokenizer: Any) -> bytes:
    # A tokenizer remembers the last settings of truncation and padding, which are not used here.
    settings = json.loads(tokenizer.backend_tokenizer.to_str()) | {"truncation": None, "padding": None}
    return json.dumps(settings, sort_keys=True).encode()
