"""Hashes of checkpoints, and refusal of weights that are not what they should be."""

import hashlib
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from syntagm.core import ModelError, UsageError, hashing, regular
from syntagm.models.contract import changed
from syntagm.models.devices import FullPrecision
from syntagm.models.hugging_face.quantised import plain
from syntagm.models.hugging_face.unsafe import PICKLES

# Packages whose hooks are parts of a model, or only look at what it computes.
_PARTS = frozenset({
    "accelerate", "bitsandbytes", "compressed_tensors", "gptqmodel", "optimum", "peft", "syntagm", "torch", "torchao",
    "transformers", "transformers_modules", "wandb",
})  # fmt: skip
# The attributes of PEFT's layers that decide what an adapter adds.
_ADAPTERS = ("active_adapters", "disable_adapters", "merged_adapters", "scaling", "use_dora")
# The number of tokens by which the effect of hooks is identified.
_TOKENS = 16

# Packages whose classes keep settings in attributes, and change few of them as they compute.
_LIBRARIES = frozenset({"torch", "transformers", "peft"})
_PLAIN = (bool, int, float, str, tuple)
_OWN = frozenset({"training", "gradient_checkpointing", "max_seq_len_cached", "layers_are_rescaled"})

State = Mapping[str, object]


def state_of(model: Any, tokenizer: Any) -> State:
    """Return what a model's numbers depend on besides its weights: what it is called in messages -> a description of it."""
    # It is cheap, so it can be compared before each computation. A forward method that is replaced is not seen, since
    # wrappers put another one in its place for a time, such as those for mixed precision.
    backend = tokenizer.backend_tokenizer
    parts = (backend.normalizer, backend.pre_tokenizer, backend.post_processor)
    return {
        "hooks": [(name, key) for name, key, _ in _hooks(model, replaced=False)],
        "adapters that are on": adapters(model),
        "an attention implementation": getattr(model.config, "_attn_implementation", None),
        "a device": str(model.device),
        "settings of its parts": _settings(model),
        "a tokenizer": (backend.get_vocab_size(), *map(str, parts), tokenizer.unk_token_id),
    }


def refuse_other(before: State, model: Any, tokenizer: Any, name: str) -> None:
    now = state_of(model, tokenizer)
    for part, known in before.items():
        if now[part] != known:
            raise changed(name, f"{part}, changed since the model was created")


def adapters(model: Any) -> list[tuple[str, Mapping[str, object]]]:
    """Return for each layer with adapters of PEFT its name, and which of them are on."""
    layers: list[tuple[str, Mapping[str, object]]] = []
    for name, module in model.named_modules():
        if type(module).__module__.startswith("peft."):
            values = {key: getattr(module, key, None) for key in _ADAPTERS}
            if known := {key: _copy(value) for key, value in values.items() if isinstance(value, bool | list | dict)}:
                layers.append((name, known))
    return layers


def _settings(model: Any) -> list[tuple[str, Mapping[str, object]]]:
    """Return the plain attributes of parts whose classes are a library's, such as the factor and the window of attention."""
    return [
        (name, {
            key: value for key, value in vars(module).items()
            if isinstance(value, _PLAIN) and key not in _OWN and not key.startswith("_")
        })
        for name, module in model.named_modules()
        if type(module).__module__.partition(".")[0] in _LIBRARIES
    ]  # fmt: skip


def described(model: Any) -> dict[str, object]:
    """Return what is to be recorded of hooks and adapters; empty if there are none."""
    on = {json.dumps(values, sort_keys=True) for _, values in adapters(model)}
    hooks = [f"{name or 'the model'}: {shown}" for name, _, shown in _hooks(model)]
    found: dict[str, object] = {"hooks": hooks, "adapters": sorted(on)}
    return {key: value for key, value in found.items() if value}


def with_state(weights: str, model: Any) -> str | Callable[[], str]:
    """Return a hash of the weights, and of hooks and adapters if there are any; or a function that computes it."""
    # What a hook does can't be told from its code, which may depend on anything. So it is identified by the logits of
    # the model after some tokens, when they are first needed. They are others on a processor that rounds differently.
    known = described(model)
    if not known:
        return weights
    digest = hashlib.sha256(json.dumps([weights, known, adapters(model)], sort_keys=True).encode())

    def with_effect() -> str:
        whole = digest.copy()
        whole.update(_logits(model).cpu().contiguous().view(torch.uint8).numpy().tobytes())
        return whole.hexdigest()

    return with_effect if "hooks" in known else digest.hexdigest()


def effect(model: Any) -> torch.Tensor:
    """Return the logits of a model after some tokens, which tell whether it computes as before; those masked are 0."""
    return _logits(model).float().nan_to_num(0.0, 0.0, 0.0)


def _logits(model: Any) -> torch.Tensor:
    size = int(model.get_input_embeddings().weight.shape[0])
    positions = getattr(model.config.get_text_config(), "max_position_embeddings", _TOKENS)
    count = min(_TOKENS, positions if isinstance(positions, int) and positions > 0 else _TOKENS)
    tokens = torch.from_numpy(np.random.default_rng(21).integers(0, size, (1, count))).to(model.device)
    with torch.inference_mode(), FullPrecision():
        return own_pass(model, input_ids=tokens)


def own_pass(model: Any, **inputs: Any) -> torch.Tensor:
    """Return the logits of a model's own forward pass, in which all hooks take part."""
    # What `model.compile()` has compiled does not see a hook that is added later.
    compiled = getattr(model, "_compiled_call_impl", None) is not None
    logits: torch.Tensor = (model._call_impl if compiled else model)(**inputs).logits
    return logits


def _copy(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))


def _hooks(model: Any, replaced: bool = True) -> Iterator[tuple[str, int, str]]:
    """Yield the hooks on the forward passes of a model: name of the module, number of the hook, and what it is called."""
    for name, module in model.named_modules():
        # In one step each, since another thread that computes may add a hook of its own.
        found: list[tuple[int, Any]] = [*module._forward_pre_hooks.items(), *module._forward_hooks.items()]
        if replaced and (other := vars(module).get("forward")):
            found.append((0, other))
        for key, hook in found:
            package = str(getattr(hook, "__module__", None)).partition(".")[0]
            if package not in _PARTS:
                yield name, key, str(getattr(hook, "__qualname__", type(hook).__qualname__))


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
