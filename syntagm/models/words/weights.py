"""The weights of word-level networks: reading them from a model folder, and hashes that identify them."""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn

from syntagm.errors import ModelError
from syntagm.io import regular, seal
from syntagm.io.json import record
from syntagm.models.words.folder import FILES

Network = TypeVar("Network", bound=nn.Module)
# More than any network has of anything.
_MOST = 1_000_000


def opened(path: str) -> tuple[Path, str]:
    """Return a model folder whose files match its seal, and its name with a short hash of these files.

    Raises:
        ModelError: a file is damaged, edited, missing or new.
    """
    folder = Path(path)
    hashes, hashed = seal.demand(folder, ModelError)["files"], hashlib.sha256()
    for name in FILES:
        if name not in hashes:
            raise ModelError(str(folder / name), "no such file", "a folder with " + ", ".join(FILES))
        hashed.update(f"{name}|{hashes[name]}|".encode())
    return folder, f"{folder.resolve().name}@{hashed.hexdigest()[:8]}"


def described(path: Path, family: str, format: int, checks: Mapping[str, Callable[[Any], bool]]) -> dict[str, Any]:
    """Read the description of a network, `model.json`.

    Arguments:
        path: the file.
        family: the family that it must name.
        format: the format that it must name.
        checks: functions that tell whether the value of a key is valid.

    Raises:
        ModelError: the file can't be read, or a value is not valid.
    """
    expected = f"a value for a model of the family {family}"
    settings = record(path, ModelError, expected)
    if settings.get("family") != family:
        raise ModelError(str(path), "a model of another family", f'"family": "{family}"')
    if settings.get("format") != format:
        raise ModelError(str(path), f"format {settings.get('format')!r}", f"{format}", "Use the version that wrote it.")
    for name, is_valid in checks.items():
        if not is_valid(value := settings.get(name)):
            raise ModelError(str(path), f"{name} = {value!r}", expected)
    return settings


def is_size(value: object) -> bool:
    """Return whether a value may be the number of layers, or their width."""
    return type(value) is int and 0 < value <= _MOST


def read(path: Path, layers: int, build: Callable[[], Network]) -> Network:
    """Build a network and give it the stored weights; tied weights are stored once.

    Arguments:
        path: a safetensors file.
        layers: the number of layers that the network would have.
        build: a function that builds the network.

    Raises:
        ModelError: the file can't be read, or does not have the weights of the network.
    """
    try:
        stored = load_file(regular.checked(path))
    except (OSError, SafetensorError) as error:
        raise ModelError(str(path), f"can't be read ({error})", "a safetensors file") from error
    if layers > len(stored):
        raise ModelError(str(path), f"{len(stored)} arrays", f"the arrays of {layers} layers, as in model.json")
    # A network without memory tells the shapes, whatever sizes model.json names.
    with torch.device("meta"):
        own = dict(build().named_parameters())
    if wrong := sorted(stored.keys() ^ own.keys()):
        raise ModelError(str(path), f"{wrong[0]!r} missing or unexpected", ", ".join(own))
    for name, tensor in stored.items():
        if tensor.shape != own[name].shape:
            raise ModelError(str(path), f"{name} of shape {tuple(tensor.shape)}", f"{tuple(own[name].shape)}")
        if not tensor.isfinite().all():
            raise ModelError(str(path), f"a weight in {name} that is not a number", "numbers")
    network = build()
    with torch.no_grad():
        for name, tensor in network.named_parameters():
            tensor.copy_(stored[name])
    return network


def digest(network: nn.Module) -> str:
    """Return a hash of all weights of a network."""
    hashed = hashlib.sha256()
    for name, tensor in network.named_parameters():
        hashed.update(f"{name}|{tuple(tensor.shape)}|".encode())
        hashed.update(tensor.detach().float().cpu().numpy().tobytes())
    return hashed.hexdigest()
