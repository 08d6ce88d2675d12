"""What a checkpoint is made of: its hash, and what must not be opened unasked."""

import hashlib
import inspect
import json
import struct
from pathlib import Path
from typing import Any

import torch

from syntagm.errors import ModelError, UsageError
from syntagm.io.json import record

_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")


def hash_weights(model: Any, tokenizer: Any) -> str:
    """A hash of configuration, weights as they are computed with, and tokenizer; 64 hexadecimal digits.

    The weights' own bytes are hashed, not the file's: a checkpoint in one file or ten gives one hash.
    """
    digest = hashlib.sha256(json.dumps(_settings(model.config), sort_keys=True, default=str).encode())
    for name, tensor in sorted(model.state_dict(keep_vars=True).items()):
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        digest.update(f"{name}|{tensor.dtype}|{tuple(tensor.shape)}|".encode())
        digest.update(memoryview(flat.view(torch.uint8).numpy()))
    # A tokenizer remembers how it last cut and padded; texts are never cut or padded here.
    settings = json.loads(tokenizer.backend_tokenizer.to_str()) | {"truncation": None, "padding": None}
    digest.update(json.dumps(settings, sort_keys=True).encode())
    return digest.hexdigest()


def hash_folder(folder: Path) -> str:
    """A hash of the files that make a checkpoint, as they are stored: the same in whatever type it is computed with."""
    digest = hashlib.sha256()
    patterns = ("config.json", "tokenizer.json", "*.safetensors", *_PICKLES)
    for path in sorted({path for pattern in patterns for path in folder.glob(pattern)}):
        with open(path, "rb") as file:
            digest.update(f"{path.name}|{hashlib.file_digest(file, 'sha256').hexdigest()}|".encode())
    return digest.hexdigest()


def sample(model: Any) -> str:
    """A hash of a few numbers of each weight: enough to see that a training step has been made since."""
    digest = hashlib.sha256()
    for tensor in model.parameters():
        flat = tensor.detach().reshape(-1)
        few = flat[:: max(1, len(flat) // 8)].cpu().contiguous()
        digest.update(memoryview(few.view(torch.uint8).numpy()))
    return digest.hexdigest()


def refuse_change(model: Any, before: str, name: str) -> None:
    """Refuse a live model that has been trained on since its fingerprint was taken.

    Arguments:
        before: its `sample` then.

    Raises:
        ModelError: the weights have changed.
    """
    if sample(model) != before:
        raise ModelError(
            name, "weights that have changed since the model was wrapped", "those that its fingerprint names",
            "Call from_transformers again after a training step.",
        )  # fmt: skip


def refuse_training(model: Any, label: str) -> None:
    """Refuse a live model that would drop units out.

    Raises:
        UsageError: it is in training mode.
    """
    if model.training:
        raise UsageError(f"model {label}", "a model in training mode", "evaluation mode", "Call model.eval() first.")


def hash_code(model: Any) -> str | None:
    """A hash of the code that came with a checkpoint; None for an architecture that transformers has."""
    if not type(model).__module__.startswith("transformers_modules."):
        return None
    folder = Path(inspect.getfile(type(model))).parent
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sorted(folder.glob("*.py")))).hexdigest()


def _settings(config: Any) -> dict[str, Any]:
    return {
        key: value for key, value in config.to_dict().items() if key not in ("_name_or_path", "transformers_version")
    }


def refuse_unsafe(folder: Path, pickle: bool, code: bool, kind: str) -> None:
    """Refuse a folder that can only be loaded by unpickling or by running its code, unless that was allowed.

    Raises:
        ModelError: no safetensors, doubled names in them, or code of the model's own.
    """
    place = f"{kind}:{folder}"
    config = folder / "config.json"
    if not config.exists():
        raise ModelError(place, "no config.json", "a folder with config.json, model.safetensors and tokenizer.json")
    weights = sorted(folder.glob("*.safetensors"))
    for index in sorted(folder.glob("*.index.json")):
        _refuse_other_files(index, pickle)
    for path in weights:
        _refuse_doubled_names(path)
    pickles = [path.name for pattern in _PICKLES for path in sorted(folder.glob(pattern))]
    if not weights and pickles and not pickle:
        raise ModelError(
            place, f"weights only as a pickle ({pickles[0]})", "model.safetensors",
            "A pickle can run any code. Convert it, or add allow_pickle=yes if you trust whoever made it.",
        )  # fmt: skip
    try:
        settings = json.loads(config.read_bytes())
    except ValueError as error:
        raise ModelError(str(config), f"not JSON ({error})", "the configuration of a model") from error
    if not isinstance(settings, dict):
        raise ModelError(str(config), "not a JSON object", "the configuration of a model")
    if "auto_map" in settings and not code:
        raise ModelError(
            place, "code of the model's own (auto_map)", "an architecture that transformers has",
            "Add remote_code=yes if you have read that code and trust it.",
        )  # fmt: skip


def _refuse_other_files(index: Path, pickle: bool) -> None:
    """Refuse an index of weights that names files outside its folder, or pickles unless they are allowed.

    Raises:
        ModelError: it does, or it can't be read.
    """
    listed = record(index, ModelError, "an index of weight files").get("weight_map")
    if not isinstance(listed, dict) or not all(isinstance(name, str) for name in listed.values()):
        raise ModelError(str(index), "no weight_map of file names", "an index of weight files")
    for name in sorted(set(listed.values())):
        if name != Path(name).name or name in ("", ".", ".."):
            raise ModelError(str(index), f"the weight file {name!r}", "a file in the same folder")
        if not name.endswith(".safetensors") and not pickle:
            raise ModelError(
                str(index), f"the weight file {name!r}", "files in safetensors",
                "A pickle can run any code. Convert it, or add allow_pickle=yes if you trust whoever made it.",
            )  # fmt: skip


def _refuse_doubled_names(path: Path) -> None:
    """safetensors itself takes the later of two tensors with one name; readers may differ, so neither is right."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            doubled = next(name for name in names if names.count(name) > 1)
            raise ModelError(str(path), f"the name {doubled!r} twice in the header", "each tensor once")
        return dict(pairs)

    with open(path, "rb") as file:
        head = file.read(8)
        size = struct.unpack("<Q", head)[0] if len(head) == 8 else 0
        if not 2 <= size <= 100_000_000:
            raise ModelError(str(path), "not a safetensors file, or cut short", "a whole safetensors file")
        try:
            json.loads(file.read(size), object_pairs_hook=once)
        except ValueError as error:
            raise ModelError(str(path), f"a damaged header ({error})", "a whole safetensors file") from error
