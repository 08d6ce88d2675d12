"""The saved state of training: weights, optimiser, random number generators and position, in one safetensors file.

The file is written atomically, so training that was killed resumes exactly from the last saved state. The best weights
so far are in a separate file, which the state names. New best weights are written before the state; outdated ones are
deleted after it.
"""

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from syntagm.core import RunError, atomic, regular
from syntagm.training.record import STATE_FILE


@dataclass(slots=True)
class Place:
    """The position of training: finished steps, the best evaluation so far, and the history of evaluations.

    `averaged_after` is the step after which the optimiser asgd began to average weights; 0 if it has not. `values` are the
    numbers that decided which weights were best; see `Learner.judged`.
    """

    epoch: int = 0
    index: int = 0
    step: int = 0
    tokens: int = 0
    reductions: int = 0
    without_gain: int = 0
    averaged_after: int = 0
    best: float | None = None
    best_file: str = ""
    best_checksum: str = ""
    seconds: float = 0.0
    loss_sum: float = 0.0
    loss_tokens: int = 0
    values: list[float] = field(default_factory=list)
    history: list[dict[str, float]] = field(default_factory=list)
    identity: dict[str, Any] = field(default_factory=dict)


def save(folder: Path, place: Place, tensors: Mapping[str, Tensor]) -> None:
    """Write the state and delete outdated best weights."""
    _save(folder / STATE_FILE, tensors, {"place": json.dumps(asdict(place))})
    for old in folder.glob("best-*.safetensors"):
        if old.name != place.best_file:
            old.unlink(missing_ok=True)


def save_best(folder: Path, step: int, tensors: Mapping[str, Tensor]) -> tuple[str, str]:
    """Write the best weights so far and return the name of their file and its checksum, which the state records."""
    name = f"best-{step}.safetensors"
    return name, _save(folder / name, tensors, {})


def load(folder: Path) -> tuple[Place, dict[str, Tensor]] | None:
    """Load the state, or return None if there is none."""
    path = folder / STATE_FILE
    if not path.exists():
        return None
    try:
        tensors, metadata = _load(path)
        return Place(**json.loads(metadata["place"])), tensors
    except (SafetensorError, KeyError, TypeError, ValueError, OSError) as error:
        cure = "Delete the folder to start again."
        raise RunError(str(path), f"a damaged state ({error})", "a saved training state", cure) from error


def load_best(folder: Path, place: Place) -> dict[str, Tensor]:
    path = folder / place.best_file
    try:
        tensors, metadata = _load(path)
        if metadata["checksum"] != place.best_checksum:
            raise ValueError("the weights are not those that the state names")
        return tensors
    except (SafetensorError, ValueError, OSError) as error:
        cure = "Delete the folder to start again."
        raise RunError(str(path), f"a damaged or missing file ({error})", "the best weights so far", cure) from error


def tensors_of(
    module: torch.nn.Module, optimiser: torch.optim.Optimizer, carried: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Collect all tensors of a state by name: weights, optimiser, carried state and random number generators."""
    tensors = {f"module.{name}": tensor for name, tensor in weights_of(module).items()}
    for index, state in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{index}.{key}": torch.as_tensor(value) for key, value in state.items()}
    tensors |= {f"carried.{name}": tensor for name, tensor in carried.items()}
    tensors["random.cpu"] = torch.get_rng_state()
    if (device := next(module.parameters()).device).type == "cuda":
        tensors["random.cuda"] = torch.cuda.get_rng_state(device)
    return tensors


def weights_of(module: torch.nn.Module) -> dict[str, Tensor]:
    """Return the parameters and buffers of a module by name, with tied ones only once."""
    seen: set[int] = set()
    weights = {}
    for name, tensor in module.state_dict().items():
        if tensor.data_ptr() not in seen or not tensor.numel():
            weights[name] = tensor
        seen.add(tensor.data_ptr())
    return weights


def restore(
    module: torch.nn.Module, optimiser: torch.optim.Optimizer, tensors: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Load a state into a module and its optimiser; return the carried state."""
    load_weights(module, part(tensors, "module."))
    states: dict[int, dict[str, Tensor]] = {}
    for name, tensor in part(tensors, "optimiser.").items():
        index, _, key = name.partition(".")
        states.setdefault(int(index), {})[key] = tensor
    optimiser.load_state_dict({"state": states, "param_groups": optimiser.state_dict()["param_groups"]})
    torch.set_rng_state(tensors["random.cpu"])
    device = next(module.parameters()).device
    # A training may resume on another device; then its random numbers differ anyway.
    if device.type == "cuda" and "random.cuda" in tensors:
        torch.cuda.set_rng_state(tensors["random.cuda"], device)
    return {name: tensor.to(device) for name, tensor in part(tensors, "carried.").items()}


def load_weights(module: torch.nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Copy weights into a module; tied parameters share them."""
    with torch.no_grad():
        own = module.state_dict()
        for name, tensor in tensors.items():
            own[name].copy_(tensor)


def part(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Return the tensors whose names begin with `prefix`, with the prefix removed."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _load(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    with safe_open(regular.checked(path), framework="pt") as file:
        # A copy, because the file's own tensors lie anywhere in memory, and sums are rounded by where their numbers lie.
        tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118, `file` is no dict
        metadata = file.metadata() or {}
    if metadata.get("checksum") != _checksum(tensors, metadata):
        raise ValueError("the checksum does not match")
    return tensors, metadata


def _checksum(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> str:
    rest = {key: value for key, value in metadata.items() if key != "checksum"}
    checksum = zlib.crc32(json.dumps(rest, sort_keys=True).encode())
    for name in sorted(tensors):
        # As bytes: numpy has no bfloat16.
        content = tensors[name].reshape(-1).view(torch.uint8).numpy().tobytes()
        checksum = zlib.crc32(content, zlib.crc32(name.encode(), checksum))
    return f"{checksum:08x}"


def _save(path: Path, tensors: Mapping[str, Tensor], metadata: dict[str, str]) -> str:
    """Write tensors with metadata, and return the checksum of both."""
    plain = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    try:
        checksum = _checksum(plain, metadata)
        with atomic.replacing(path) as written:
            save_file(plain, written, metadata | {"checksum": checksum})
        return checksum
    except SafetensorError as error:
        # The library passes on the system's message without the error number.
        raise RunError(str(path), f"can't be written ({error})", "a writable folder with free space") from error
