"""What the numbers of a model in memory depend on besides its weights: hooks, adapters that are on, and its tokenizer."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch

from syntagm.models.contract import changed
from syntagm.models.device import FullPrecision

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
    """Refuse a model in memory whose state is not the one that it had."""
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
