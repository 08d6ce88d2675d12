"""Loading of models from Hugging Face transformers, with their path, dtype, label and batch size."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import huggingface_hub
import torch
import transformers
from huggingface_hub import constants

from syntagm.core import ModelError, UsageError, hashing, hub, seal
from syntagm.models.contract import LanguageModel
from syntagm.models.device import device
from syntagm.models.hugging_face import adapter, location, weights
from syntagm.models.hugging_face.checkpoint import LOADERS, Checkpoint, Kind, read_checkpoint
from syntagm.models.hugging_face.damage import refuse_damaged_weights
from syntagm.models.hugging_face.foreign import UNUSABLE, one_error
from syntagm.models.hugging_face.options import CARD
from syntagm.models.hugging_face.processor import quicken
from syntagm.models.hugging_face.quantised import (
    PACKAGES,
    described,
    read_gguf,
    refuse_missing_packages,
    refuse_unused,
    settings_of,
)
from syntagm.models.hugging_face.unsafe import refuse_special_files, refuse_unsafe
from syntagm.models.hugging_face.weights import (
    hash_folder,
    hash_of_weights,
    hash_stored,
    may_change,
    refuse_training,
)

_TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "f64": torch.float64}
_SPELLED = {dtype: name for name, dtype in _TYPES.items()}
_Model = TypeVar("_Model", bound=LanguageModel)


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A model in evaluation mode, with its tokenizer and its label."""

    model: Any
    tokenizer: Any
    label: str
    # A hash of its weights, or a function that computes it; empty for a model that is being trained.
    weights: str | Callable[[], str]
    unused: Sequence[str] = ()  # the stored weights that the model doesn't use
    # For a model that is being trained, what identifies its weights, for its record; else empty.
    training: Mapping[str, object] = field(default_factory=dict)
    adapter: str | None = None  # whether its adapter is `separate` or `merged`; None if it has none
    quantised: str = ""  # how its weights are quantised, as in signatures; empty if they are not
    record: Mapping[str, object] = field(default_factory=dict)  # further information for its record
    stated: Mapping[str, Any] | None = None  # the content of its config.json; None for a model in memory


def read(
    kind: Kind, path: str, chosen: Mapping[str, str], bundled: Mapping[str, str], pickle: bool, code: bool
) -> Loaded:
    """Load a model, after `location.check`, and its tokenizer."""
    base, folder = location.parts(kind, path)
    base = bundled.get(base, base)
    if "adapter" in chosen and folder is None:
        raise UsageError(
            "model option adapter", f"no adapter in {path!r}", f"a folder with {location.CONFIG}, or BASE+ADAPTER"
        )
    place = f"{kind}:{path}"
    name, revision, file = location.located(kind, base, chosen.get("gguf", ""))
    if Path(name).is_dir():
        # All other folders are those that `location.check` has read.
        if folder and not file and not location.tells_base(path):
            refuse_unsafe(Path(name), pickle, code, kind)
        refuse_damaged(Path(name))
    if folder:
        refuse_damaged(folder)
    gguf = _gguf(place, name, revision, file) if file else None
    head = read_gguf(gguf) if gguf else None
    types = head.types if head else ""
    spread = chosen["device"] == "spread"
    if spread:
        refuse_missing_packages(place, {"accelerate": "accelerate"}, "device=spread")
        if not torch.accelerator.is_available():
            raise UsageError("model option device", "'spread'", "a machine with GPUs", "Use device=auto or device=cpu.")
    source = (str(gguf.parent), "") if gguf else (name, revision)
    checkpoint = read_checkpoint(
        *source, _TYPES.get(chosen.get("dtype", "")), pickle, code, kind,
        None if spread else device(chosen["device"]), file, adapter.tokenizer_folder(folder) if folder else None,
    )  # fmt: skip
    if head:
        refuse_unused(place, head, checkpoint.model)
    label = next((bundled_label for bundled_label, known in bundled.items() if known == name), None) or _label(
        name, revision, file
    )
    loaded = Loaded(
        checkpoint.model, checkpoint.tokenizer, label, _digest(checkpoint, name, gguf), checkpoint.unused,
        quantised=types or (described(checkpoint.quantisation) if checkpoint.quantisation else ""),
        record=_record(checkpoint, types, file, spread), stated=checkpoint.stated,
    )  # fmt: skip
    if folder:
        loaded = _adapted(place, loaded, folder, chosen.get("adapter", "separate"), pickle)
    if quicken(loaded.model.eval()):
        loaded = replace(loaded, record={**loaded.record, "linear layers": "computed by oneDNN"})
    return loaded


def in_memory(kind: Kind, model: Any, tokenizer: Any, label: str, create: Callable[[Loaded], _Model]) -> _Model:
    """Create a language model from a model that somebody else created, with a hash of its weights, adapters and hooks."""
    refuse_training(model, label)
    if any(weights.is_meta for weights in model.parameters()):
        found = "a model on the device meta, which has no weights"
        raise ModelError(
            f"{kind}:{label}", found, "a model with weights", "Load it without device_map or torch.device."
        )
    if "_original_forward" in vars(model):
        raise UsageError(
            f"model {label}", "a model that accelerate has prepared for mixed precision", "its own forward method",
            "Call accelerator.unwrap_model(model, keep_fp32_wrapper=False), or use Trajectory during training.",
        )  # fmt: skip
    quantisation = settings_of(model.config)
    loaded = Loaded(
        model, tokenizer, label, weights.with_state(hash_of_weights(model, tokenizer)(), model),
        quantised=described(quantisation) if quantisation and getattr(model, "is_quantized", False) else "",
        record=weights.described(model),
    )  # fmt: skip
    like = f"Is it a model with a {kind} head, such as one of {LOADERS[kind].__name__}, and is this its tokenizer?"
    with one_error(f"{kind}:{label}", UNUSABLE, like):
        created = create(loaded)
        created._given_out()
    return created


def refuse_headless(model: Any, kind: Kind, label: str) -> None:
    """Raise ModelError for a model without a language-model head; some masked models don't name theirs."""
    if model.get_output_embeddings() is None and (kind == "causal" or model.base_model is model):
        found, like = f"a {type(model).__name__}, which has no head for words", LOADERS[kind].__name__
        raise ModelError(f"{kind}:{label}", found, f"a model with a {kind} head", f"Load it with {like}.")


def _adapted(place: str, base: Loaded, folder: Path, merging: str, pickle: bool) -> Loaded:
    """Return a model with the adapter in `folder`."""
    refuse_damaged_weights(folder)
    digest, label = adapter.digest(folder), _label(str(folder))
    # Before the adapter changes them.
    weights = base.weights if isinstance(base.weights, str) else base.weights()
    record = {
        "name": label,
        "hash": digest,
        "weights": merging,
        "base weights": weights,
        "tokenizer": "the adapter's" if adapter.tokenizer_folder(folder) else "the base model's",
    }
    model = adapter.attach(place, base.model, folder, merging == "merged", pickle)
    return replace(
        base, model=model, label=f"{base.label}+{label}", weights=hashing.of_text(weights + digest),
        adapter=merging, record={**base.record, "adapter": record, "peft": adapter.version()},
    )  # fmt: skip


def _gguf(place: str, name: str, revision: str, file: str) -> Path:
    """Return the path of a GGUF file in a folder, or on the hub."""
    refuse_missing_packages(place, PACKAGES["gguf"], "a GGUF file")
    if Path(name).is_dir():
        return Path(name) / file
    offline = not hub.is_reachable(constants)
    try:
        stored = huggingface_hub.hf_hub_download(name, file, revision=revision or None, local_files_only=offline)
    except Exception as error:  # huggingface_hub raises exceptions of many types
        where = "in the hub's cache, and the hub can't be reached" if offline else "on the hub, or in its cache"
        cure = hub.download(name, revision, file) if offline else "Look at the names of the files on the hub."
        raise ModelError(place, f"no file {file!r} {where}", "a GGUF file", cure) from error
    return Path(stored)


def _digest(checkpoint: Checkpoint, name: str, gguf: Path | None) -> str | Callable[[], str]:
    """Return a hash of the weights: of the files if they are quantised, since packages may rearrange them in memory."""
    if gguf:
        return hash_stored(hashing.of_file(gguf), checkpoint.tokenizer)
    if checkpoint.quantisation is None:
        digest = hash_of_weights(checkpoint.model, checkpoint.tokenizer)
        return digest() if may_change(checkpoint.model) else digest
    folder = Path(name)
    if not folder.is_dir():
        commit = getattr(checkpoint.model.config, "_commit_hash", None)
        stored = transformers.utils.hub.cached_file(name, "config.json", revision=commit, local_files_only=True)
        folder = Path(str(stored)).parent
    return hash_stored(hash_folder(folder), checkpoint.tokenizer)


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
    """Refuse a folder whose files don't match its seal, and one that was trained here without a seal."""
    refuse_special_files(folder)
    trained_here = (folder / "training.json").exists()
    (seal.demand if trained_here else seal.verify)(folder, ModelError)


def spelled(dtype: torch.dtype) -> str:
    """Return the name of a dtype in options and settings.

    >>> spelled(torch.bfloat16)
    'bf16'
    """
    return _SPELLED.get(dtype, str(dtype).removeprefix("torch."))


def batch_tokens(chosen: Mapping[str, str], place: torch.device, processor: int) -> int:
    """Return the number of tokens in a batch: the option `batch` if given, else the default of the device."""
    return int(chosen.get("batch", processor if place.type == "cpu" else CARD))


def _label(name: str, revision: str = "", file: str = "") -> str:
    if file:
        digest = f"@{hashing.of_file(Path(name) / file)[:8]}" if Path(name).is_dir() else ""
        return (Path(file).name if digest else f"{name}/{file}") + digest + (f"@{revision}" if revision else "")
    if Path(name).is_dir():
        digest = adapter.digest(Path(name)) if (Path(name) / location.CONFIG).is_file() else hash_folder(Path(name))
        return f"{Path(name).resolve().name}@{digest[:8]}"
    return f"{name}@{revision}" if revision else name
