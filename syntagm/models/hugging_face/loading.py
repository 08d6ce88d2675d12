"""Loading of models from Hugging Face transformers, with their path, dtype, label and batch size."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import transformers

from syntagm.errors import ModelError, UsageError
from syntagm.io import hashing, seal
from syntagm.models.device import device
from syntagm.models.hugging_face import adapter
from syntagm.models.hugging_face.checkpoint import Checkpoint, Kind, fuse_gelu, read_checkpoint
from syntagm.models.hugging_face.options import CARD
from syntagm.models.hugging_face.quantised import PACKAGES, described, gguf_types, refuse_missing_packages
from syntagm.models.hugging_face.weights import hash_folder, hash_stored, hash_weights, refuse_unsafe

_TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "f64": torch.float64}
_SPELLED = {dtype: name for name, dtype in _TYPES.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A model in evaluation mode, with its tokenizer and its label.

    Arguments:
        weights: a hash of its weights; empty for a model that is being trained.
        unused: the stored weights that the model doesn't use.
        training: for a model that is being trained, what identifies its weights, for its record; else empty.
        adapter: whether its adapter is `separate` or `merged`; None if it has none.
        quantised: how its weights are quantised, as in signatures; empty if they are not.
        record: further information for its record.
    """

    model: Any
    tokenizer: Any
    label: str
    weights: str
    unused: Sequence[str] = ()
    training: Mapping[str, object] = field(default_factory=dict)
    adapter: str | None = None
    quantised: str = ""
    record: Mapping[str, object] = field(default_factory=dict)


def read(kind: Kind, path: str, chosen: Mapping[str, str], bundled: Mapping[str, str]) -> Loaded:
    """Load a model and its tokenizer.

    Arguments:
        kind: the kind of language model.
        path: a folder, a GGUF file, or a name on the hub, optionally with `@revision`; an adapter, or `BASE+ADAPTER`.
        chosen: options, of which those about loading are used.
        bundled: labels of bundled models -> their folders.

    Raises:
        UsageError: no path was given, there is no such device, or an option does not fit the model.
        ModelError: the model can't be found, its weights are not those that its configuration describes, or it has pickled
            weights or own code without permission.
    """
    base, folder = adapter.parts(kind, path)
    if "adapter" in chosen and folder is None:
        raise UsageError(
            "model option adapter", f"no adapter in {path!r}", f"a folder with {adapter.CONFIG}, or BASE+ADAPTER"
        )
    place, pickle = f"{kind}:{path}", chosen["allow_pickle"] == "yes"
    name, revision, file = _located(kind, base, chosen.get("gguf", ""))
    if Path(name).is_dir():
        if not file:
            refuse_unsafe(Path(name), pickle, chosen["remote_code"] == "yes", kind)
        refuse_damaged(Path(name))
    types = _gguf_types(place, name, file)
    spread = chosen["device"] == "spread"
    if spread:
        refuse_missing_packages(place, {"accelerate": "accelerate"}, "device=spread")
    tokenizer_folder = adapter.tokenizer_folder(folder) if folder else None
    checkpoint = read_checkpoint(
        name, revision, _TYPES.get(chosen.get("dtype", "")), pickle, chosen["remote_code"] == "yes", kind,
        None if spread else device(chosen["device"]), file, tokenizer_folder,
    )  # fmt: skip
    label = next((bundled_label for bundled_label, known in bundled.items() if known == name), None) or _label(
        name, revision, file
    )
    weights = _digest(checkpoint, name, file)
    model, record = checkpoint.model, _record(checkpoint, types, file, spread)
    merging = None
    if folder:
        merging = chosen.get("adapter", "separate")
        refuse_damaged(folder)
        model = adapter.attach(place, model, folder, merging == "merged", pickle)
        label, own = f"{label}+{_label(str(folder))}", adapter.digest(folder)
        used = {"name": label.rpartition("+")[2], "hash": own, "weights": merging, "base weights": weights}
        used["tokenizer"] = "the adapter's" if tokenizer_folder else "the base model's"
        record |= {"adapter": used, "peft": adapter.version()}
        weights = hashing.of_text(weights + own)
    quantised = types or (described(checkpoint.quantisation) if checkpoint.quantisation else "")
    model = fuse_gelu(model.eval())
    return Loaded(
        model, checkpoint.tokenizer, label, weights, checkpoint.unused,
        adapter=merging, quantised=quantised, record=record,
    )  # fmt: skip


def _located(kind: Kind, base: str, file: str) -> tuple[str, str, str]:
    """Return the folder or the hub's name of a base model, its revision, and its GGUF file if there is one."""
    if not base:
        raise UsageError(f"model '{kind}:'", "no path", "a folder, or the name of a model on the Hugging Face Hub")
    if Path(base).is_file() and base.endswith(".gguf"):
        if file:
            raise UsageError("model option gguf", f"{file!r}, and the path is a file, too", "a folder and gguf=FILE")
        return str(Path(base).parent), "", Path(base).name
    if Path(base).is_dir():
        if file and (Path(file).name != file or not (Path(base) / file).is_file()):
            raise ModelError(f"{kind}:{base}", f"no file {file!r}", "the name of a GGUF file in the folder")
        return base, "", file
    name, _, revision = base.partition("@")
    if name.startswith((".", "/", "~")) or name.endswith(".gguf"):
        expected = "a GGUF file" if name.endswith(".gguf") else "a folder with config.json and model.safetensors"
        raise ModelError(f"{kind}:{base}", "no such file" if name.endswith(".gguf") else "no such folder", expected)
    return name, revision, file


def _gguf_types(place: str, name: str, file: str) -> str:
    """Return the types of the weights in a GGUF file; empty if the weights are in no such file."""
    if not file:
        return ""
    refuse_missing_packages(place, PACKAGES["gguf"], "a GGUF file")
    # A file on the hub is in its cache only after loading.
    return gguf_types(Path(name) / file) if Path(name).is_dir() else "gguf"


def _digest(checkpoint: Checkpoint, name: str, file: str) -> str:
    """Return a hash of the weights: of the files if they are quantised, since packages may rearrange them in memory."""
    if checkpoint.quantisation is None and not file:
        return hash_weights(checkpoint.model, checkpoint.tokenizer)
    if Path(name).is_dir():
        folder = Path(name)
    else:
        commit = getattr(checkpoint.model.config, "_commit_hash", None)
        stored = transformers.utils.hub.cached_file(name, file or "config.json", revision=commit, local_files_only=True)
        folder = Path(str(stored)).parent
    return hash_stored(folder, file, checkpoint.tokenizer)


def _record(checkpoint: Checkpoint, types: str, file: str, spread: bool) -> dict[str, object]:
    record: dict[str, object] = {}
    if checkpoint.quantisation is not None:
        record["quantisation"] = checkpoint.quantisation
    if file:
        record["quantisation"] = {
            "file": file,
            "types": types,
            "weights": "dequantised while loading, to the dtype of the run",
        }
    if spread:
        devices = getattr(checkpoint.model, "hf_device_map", {"": checkpoint.model.device})
        record["devices"] = {part: str(place) for part, place in devices.items()}
    return record


def refuse_damaged(folder: Path) -> None:
    """Refuse a folder whose files don't match its seal, and one that was trained here without a seal.

    Raises:
        ModelError: a file is damaged, edited, missing or new.
    """
    trained_here = (folder / "training.json").exists()
    (seal.demand if trained_here else seal.verify)(folder, ModelError)


def spelled(dtype: torch.dtype) -> str:
    """Return the name of a dtype in options and settings.

    >>> spelled(torch.bfloat16)
    'bf16'
    """
    return _SPELLED.get(dtype, str(dtype).removeprefix("torch."))


def batch_tokens(chosen: Mapping[str, str], place: torch.device, processor: int) -> int:
    """Return the number of tokens in a batch: the option `batch` if given, else the default of the device.

    Arguments:
        chosen: the options.
        place: the device.
        processor: default on a CPU.
    """
    return int(chosen.get("batch", processor if place.type == "cpu" else CARD))


def _label(name: str, revision: str = "", file: str = "") -> str:
    if file:
        digest = f"@{hashing.of_file(Path(name) / file)[:8]}" if Path(name).is_dir() else ""
        return (Path(file).name if digest else f"{name}/{file}") + digest + (f"@{revision}" if revision else "")
    if Path(name).is_dir():
        digest = adapter.digest(Path(name)) if (Path(name) / adapter.CONFIG).is_file() else hash_folder(Path(name))
        return f"{Path(name).resolve().name}@{digest[:8]}"
    return f"{name}@{revision}" if revision else name
