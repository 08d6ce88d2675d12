"""Damaged and missing files of checkpoints: which file it is, what is wrong with it, and how to replace it."""

import json
import math
import re
import struct
from pathlib import Path
from typing import Any

from syntagm.core import ModelError, hub, json as strict_json, regular
from syntagm.models.hugging_face.foreign import one_error

_INDEX = "model.safetensors.index.json"
_SHARD = re.compile(r"-\d{5}-of-\d{5}\.safetensors")
# The longest header that the safetensors library reads.
_LONGEST = 100_000_000
_SETTINGS = ("config.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")


def refuse_damaged_weights(folder: Path) -> None:
    """Refuse the safetensors files of a checkpoint or adapter if one is damaged, incomplete or missing."""
    # Only headers are read: they give the sizes of the files, and the index the names of all files.
    for path in sorted(folder.glob("*.safetensors")):
        _refuse_damaged_safetensors(path)
    index, single = folder / _INDEX, folder / "model.safetensors"
    if single.exists():
        return
    if index.is_file():
        for name in sorted(set(_names_in(index))):
            if not (folder / name).is_file():
                found = f"no such file, which {_INDEX} names"
                raise ModelError(str(folder / name), found, "all files of the weights", hub.again(folder / name))
    elif shards := [path for path in sorted(folder.glob("model-*.safetensors")) if _SHARD.search(path.name)]:
        found = f"no such file, beside weights in several files ({shards[0].name}, ...)"
        raise ModelError(str(index), found, "an index of weight files", hub.again(index))


def stored_types(folder: Path) -> dict[str, str]:
    """Return the type of each tensor in the weight files of a model, which are safetensors files and not damaged."""
    # A folder may have other such files, in other formats, which are not read.
    types: dict[str, str] = {}
    index, single = folder / _INDEX, folder / "model.safetensors"
    named = set(_names_in(index)) if index.is_file() and not single.exists() else {single.name}
    for path in (path for path in sorted(folder.glob("*.safetensors")) if path.name in named):
        types |= {name: str(entry.get("dtype")) for name, entry in _header(path).items()}
    return types


def count_stored_numbers(folder: Path) -> int:
    """Return how many numbers the weight files of a folder have, which must not be damaged; of pickles, the most possible."""
    tensors = [entry for path in folder.glob("*.safetensors") for entry in _header(path).values()]
    pickles = sum(
        path.stat().st_size for suffix in ("bin", "pt", "pth", "ckpt", "pkl") for path in folder.glob(f"*.{suffix}")
    )
    numbers: int = sum(math.prod(entry["shape"]) for entry in tensors)
    return numbers + pickles


def refuse_damaged_settings(folder: Path) -> None:
    """Refuse a damaged configuration or tokenizer of a checkpoint."""
    for path in (folder / name for name in _SETTINGS):
        if path.exists():
            strict_json.record(path, ModelError, "a complete file in JSON", hub.again(path))
    if (path := folder / "tokenizer.json").exists():
        from tokenizers import Tokenizer

        with one_error(str(path), "a tokenizer of the tokenizers library", hub.again(path)):
            try:
                Tokenizer.from_str(regular.content(path).decode())
            except Exception as error:  # the library raises Exception itself
                raise ValueError(f"no tokenizer ({error})") from error


def _names_in(index: Path) -> list[str]:
    listed = strict_json.record(index, ModelError, "an index of weight files", hub.again(index)).get("weight_map")
    return [name for name in listed.values() if isinstance(name, str)] if isinstance(listed, dict) else []


def _header(path: Path) -> dict[str, Any]:
    with regular.opened(path) as file:
        header: dict[str, Any] = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    return {name: entry for name, entry in header.items() if name != "__metadata__"}


def _refuse_damaged_safetensors(path: Path) -> None:
    """Refuse a safetensors file whose header can't be read, names a tensor twice, or gives another size than the file has."""
    # Of several tensors of one name, the library uses the last; other readers may not.

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            repeated = next(name for name in names if names.count(name) > 1)
            raise ModelError(str(path), f"the name {repeated!r} twice in the header", "each tensor once")
        return dict(pairs)

    expected = "a complete safetensors file"
    try:
        with regular.opened(path) as file:
            actual = file.seek(0, 2)
            file.seek(0)
            start = file.read(8)
            length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
            if start == b"version ":
                raise ModelError(str(path), "a pointer of Git LFS instead of the weights", expected, hub.again(path))
            if not 2 <= length <= _LONGEST:
                raise ModelError(
                    str(path), f"not a safetensors file, or truncated ({actual:,} bytes)", expected, hub.again(path)
                )
            if actual < 8 + length:
                found = f"truncated: the header alone has {8 + length:,} bytes, the file {actual:,}"
                raise ModelError(str(path), found, expected, hub.again(path))
            header = json.loads(file.read(length), object_pairs_hook=unique)
            entries = [entry for name, entry in header.items() if name != "__metadata__"]
            ends = [entry["data_offsets"][1] for entry in entries]
            size = 8 + length + max(ends, default=0)
            if wrong := [
                entry["shape"] for entry in entries if not all(type(n) is int and n >= 0 for n in entry["shape"])
            ]:
                raise ValueError(f"the shape {wrong[0]!r:.100}")
    except OSError as error:
        raise ModelError(str(path), f"can't be read ({error.strerror})", expected, hub.again(path)) from error
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise ModelError(str(path), f"a damaged header ({error})", expected, hub.again(path)) from error
    if size != actual:
        found = f"{'truncated' if actual < size else 'too long'}: by its header it has {size:,} bytes, but it has {actual:,}"
        raise ModelError(str(path), found, expected, hub.again(path))
