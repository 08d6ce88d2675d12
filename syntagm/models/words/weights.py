"""The folders of word-level networks: reading networks from them, and hashes that identify weights."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn

from syntagm.core import ModelError, UsageError, json, regular, seal
from syntagm.models.words import vocabulary
from syntagm.models.words.splitting import KINDS
from syntagm.models.words.vocabulary import FILES, Vocabulary

Network = TypeVar("Network", bound=nn.Module)
# The content of `model.json`.
Description = Mapping[str, Any]
# Key of `model.json` -> whether a value is valid.
Keys = Mapping[str, Callable[[Any], bool]]
# More than any network has of anything.
_MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class Stored(Generic[Network]):
    """What a model folder contains."""

    network: Network  # the network with its weights
    description: Description  # the content of `model.json`
    vocabulary: Vocabulary
    label: str  # the name of the folder with a short hash of its files


def stored(
    path: str,
    family: str,
    format: int,
    keys: Keys,
    build: Callable[[Description, Vocabulary], Network],
    repeated: Sequence[str] = ("layers",),
) -> Stored[Network]:
    """Read a model folder whose files match its seal."""
    folder, label = _opened(path)
    words = vocabulary.read(folder / "vocabulary.txt")
    place = folder / "model.json"
    description = _described(place, family, format, {**keys, "tokens": lambda value: value in KINDS})
    parts = sum(_count(description[key]) for key in repeated)
    try:
        network = _read(folder / "model.safetensors", parts, lambda: build(description, words))
    except UsageError as error:
        raise ModelError(str(place), f"{error.place} = {error.found}", error.expected) from None
    return Stored(network, description, words, label)


def _opened(path: str) -> tuple[Path, str]:
    folder = Path(path)
    hashes, hashed = seal.demand(folder, ModelError)["files"], hashlib.sha256()
    for name in FILES:
        if name not in hashes:
            raise ModelError(str(folder / name), "no such file", "a folder with " + ", ".join(FILES))
        hashed.update(f"{name}|{hashes[name]}|".encode())
    return folder, f"{folder.resolve().name}@{hashed.hexdigest()[:8]}"


def _described(path: Path, family: str, format: int, keys: Keys) -> Description:
    expected = f"a value for a model of the family {family}"
    description: Description = json.record(path, ModelError, expected)
    if description.get("family") != family:
        raise ModelError(str(path), "a model of another family", f'"family": "{family}"')
    if description.get("format") != format:
        found = f"format {description.get('format')!r}"
        raise ModelError(str(path), found, f"{format}", "Use the version that wrote it.")
    for name, is_valid in keys.items():
        if not is_valid(value := description.get(name)):
            raise ModelError(str(path), f"{name} = {value!r}", expected)
    return description


def _count(value: int | Sequence[object]) -> int:
    return value if isinstance(value, int) else len(value)


def is_size(value: object) -> bool:
    """Return whether a value may be the number of layers, or their width."""
    return type(value) is int and 0 < value <= _MOST


def is_flag(value: object) -> bool:
    return type(value) is bool


def are_names(value: object) -> bool:
    """Return whether a value may be the names of tags or labels, of which there is at least one."""
    return isinstance(value, list) and len(value) > 0 and all(isinstance(name, str) and name for name in value)


def _read(path: Path, parts: int, build: Callable[[], Network]) -> Network:
    """Build a network and give it the stored weights; tied weights are stored once."""
    try:
        stored = load_file(regular.checked(path))
    except (OSError, SafetensorError) as error:
        raise ModelError(str(path), f"can't be read ({error})", "a safetensors file") from error
    if parts > len(stored):
        raise ModelError(str(path), f"{len(stored)} arrays", f"the arrays of {parts} layers, as in model.json")
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
    # Whatever a program that uses the package has set with `torch.set_default_dtype` and `torch.set_default_device`. The
    # first weights, which are replaced, take none of its random numbers.
    with torch.device("cpu"), torch.random.fork_rng(devices=[]):
        network = build().float()
    with torch.no_grad():
        for name, tensor in network.named_parameters():
            tensor.copy_(stored[name])
    return network


def digest(network: nn.Module) -> str:
    hashed = hashlib.sha256()
    for name, tensor in network.named_parameters():
        hashed.update(f"{name}|{tuple(tensor.shape)}|".encode())
        hashed.update(tensor.detach().float().cpu().numpy().tobytes())
    return hashed.hexdigest()
