"""Loading of models from Hugging Face transformers: path, adapter, dtype, faster layers, label and batch size."""

import math
import platform
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import huggingface_hub
import torch
import transformers
from huggingface_hub import constants

from syntagm.core import ModelError, UsageError, extras, hashing, hub, json, regular, seal
from syntagm.models.contract import LanguageModel
from syntagm.models.devices import FullPrecision, device
from syntagm.models.hugging_face import location, weights
from syntagm.models.hugging_face.checkpoint import LOADERS, Checkpoint, Kind, read_checkpoint
from syntagm.models.hugging_face.location import CONFIG, WEIGHTS
from syntagm.models.hugging_face.options import CARD
from syntagm.models.hugging_face.quantised import (
    PACKAGES,
    described,
    plain,
    read_gguf,
    refuse_missing_packages,
    refuse_unused,
    settings_of,
)
from syntagm.models.hugging_face.unsafe import (
    PICKLE,
    UNUSABLE,
    is_foreign,
    one_error,
    refuse_damaged_weights,
    refuse_special_files,
    refuse_unsafe,
)
from syntagm.models.hugging_face.weights import hash_folder, hash_of_weights, hash_stored, may_change, refuse_training

_TASKS = (None, "CAUSAL_LM", "FEATURE_EXTRACTION")
# Settings whose texts, or keys, PEFT compares with each layer; and the most that it is asked to compare.
_PATTERNS = (
    "target_modules", "exclude_modules", "feedforward_modules", "modules_to_save", "layers_pattern", "rank_pattern",
    "alpha_pattern", "target_parameters",
)  # fmt: skip
_MOST_NAMES = 10_000


def adapter_digest(folder: Path) -> str:
    """Return a hash of the configuration and the weights of an adapter."""
    files = [folder / name for name in (CONFIG, *WEIGHTS) if (folder / name).is_file()]
    return hashing.of_text("".join(f"{file.name}|{hashing.of_file(file)}|" for file in files))


def attach(place: str, model: Any, folder: Path, merged: bool, pickle: bool) -> Any:
    settings = _checked(place, folder, pickle)
    import peft

    quantised = getattr(model, "is_quantized", False)
    if merged and quantised:
        raise UsageError(
            "model option adapter", "merged, but the weights of the base model are quantised", "separate",
            "Merging would round the sum of both to the quantised weights.",
        )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            config = peft.PeftConfig.from_pretrained(str(folder))
            config.inference_mode = True
            tuned: Any = peft.PeftModel(model, config, autocast_adapter_dtype=False)
            loading = tuned.load_adapter(str(folder), "default", torch_device="cpu", autocast_adapter_dtype=False)
        except Exception as error:  # peft raises exceptions of many types
            if not is_foreign(error):
                raise
            found = next((line.strip() for line in str(error).splitlines() if "mismatch" in line), str(error))
            raise ModelError(
                place, f"the adapter {folder} does not fit the base model: {found.strip()[:300]}",
                f"an adapter of {settings.get('base_model_name_or_path') or 'this base model'}",
                "Name the base model that the adapter was trained with: BASE+ADAPTER.",
            ) from error  # fmt: skip
        for problem, keys in (("lacks", loading.missing_keys), ("has no place for", loading.unexpected_keys)):
            if keys:
                raise ModelError(
                    place, f"{len(keys)} weights that {folder} {problem}, among them {sorted(keys)[0]}",
                    "the weights that adapter_config.json describes", "Check that both files are of one adapter.",
                )  # fmt: skip
        tuned = tuned.to(model.device).eval() if not quantised else tuned.eval()
        inner = tuned.get_base_model()
        _refuse_other_numbers(place, tuned, inner, settings)
        if merged:
            with one_error(f"{place}, merging {settings['peft_type']}", "adapter=separate"), FullPrecision():
                inner = tuned.merge_and_unload(safe_merge=True)
    return inner.eval()


def _checked(place: str, folder: Path, pickle: bool) -> dict[str, Any]:
    """Return the configuration of an adapter, if its kind is supported and its weights may be loaded."""
    settings = json.record(folder / CONFIG, ModelError, "the configuration of an adapter", hub.again(folder / CONFIG))
    with extras.needed(place, ModelError, what="an adapter"):
        import peft
    for name in _PATTERNS:
        if isinstance(value := settings.get(name), list | dict) and len(value) > _MOST_NAMES:
            raise ModelError(str(folder / CONFIG), f"{len(value):,} entries in {name}", f"at most {_MOST_NAMES:,}")
    kinds = {str(getattr(kind, "value", kind)): config for kind, config in peft.PEFT_TYPE_TO_CONFIG_MAPPING.items()}
    kind = settings.get("peft_type")
    if not isinstance(kind, str) or kind not in kinds:
        raise ModelError(
            str(folder / CONFIG), f"peft_type {kind!r}", "one of " + ", ".join(sorted(kinds)),
            f"Is it of a newer version of peft? Here it is {peft.__version__}.",
        )  # fmt: skip
    if issubclass(kinds[kind], peft.PromptLearningConfig) or settings.get("alora_invocation_tokens"):
        raise ModelError(
            place, f"an adapter of the kind {kind} that depends on tokens before the text", "an adapter of weights, such as LORA",
            "Its virtual or invocation tokens would be part of every context.",
        )  # fmt: skip
    if settings.get("task_type") not in _TASKS:
        raise ModelError(
            place,
            f"an adapter for {settings['task_type']}",
            "one for a language model",
            "It was trained with another head.",
        )
    if not (folder / WEIGHTS[0]).is_file():
        if not (folder / WEIGHTS[1]).is_file():
            raise ModelError(
                str(folder), f"no {WEIGHTS[0]}", "the weights of the adapter", hub.again(folder / WEIGHTS[0])
            )
        if not pickle:
            raise ModelError(str(folder), f"only pickled weights ({WEIGHTS[1]})", WEIGHTS[0], PICKLE)
    return settings


@torch.inference_mode()
def _refuse_other_numbers(place: str, tuned: Any, inner: Any, settings: dict[str, Any]) -> None:
    """Refuse an adapter that works only inside the class of peft, whose layers are not those of the model itself."""
    tokens = torch.arange(4, device=inner.device)[None]
    if not torch.equal(tuned(input_ids=tokens).logits, inner(input_ids=tokens).logits):
        raise ModelError(
            place, f"an adapter of the kind {settings['peft_type']}, which changes more than layers",
            "an adapter whose layers are part of the model, such as LORA",
        )  # fmt: skip


def tokenizer_folder(folder: Path) -> Path | None:
    """Return the folder of an adapter if the adapter comes with a tokenizer of its own."""
    return folder if (folder / "tokenizer.json").is_file() else None


def version() -> str:
    import peft

    return str(peft.__version__)


# Numbers of GELU that are computed at a time, so that they fit into the processor's cache.
_BLOCK = 1 << 17
# GELU(x) = x * sigmoid(x * (_LINEAR + _CUBIC * x^2)) is the usual formula with tanh, but for rounding.
_LINEAR = 2 * math.sqrt(2 / math.pi)
_CUBIC = 0.044715 * _LINEAR


def quicken(model: Any) -> bool:
    """Replace layers of a model in place by faster ones; return whether oneDNN now computes linear layers."""
    # PyTorch multiplies float32 matrices by MKL, whose AVX-512 kernels run on Intel's processors only. On AMD's, it uses
    # AVX2, and oneDNN, which PyTorch contains, too, is twice as fast. oneDNN adds the bias within the product.
    replaced = False
    for module in list(model.modules()):
        for name, child in module.named_children():
            if type(child) is transformers.activations.NewGELUActivation:
                setattr(module, name, Gelu().train(child.training))
        if has_faster_products() and type(module) in _FASTER and _is_float32(module):
            if type(module) is transformers.pytorch_utils.Conv1D:
                # The shape stays, but columns are contiguous instead of rows, as oneDNN needs them.
                module.weight.data = module.weight.data.t().contiguous().t()
            module.__class__ = _FASTER[type(module)]
            replaced = True
    return replaced


@cache
def has_faster_products() -> bool:
    """Return whether oneDNN multiplies float32 matrices faster than MKL on this machine."""
    try:
        processor = regular.content("/proc/cpuinfo").decode()
    except OSError:
        processor = platform.processor()
    libraries: Any = (torch.backends.mkl, torch.backends.mkldnn)
    return (
        "AuthenticAMD" in processor
        and torch.backends.cpu.get_cpu_capability() == "AVX512"
        and all(library.is_available() for library in libraries)
    )


def _is_float32(layer: Any) -> bool:
    # A layer with quantised weights may keep them under another name.
    weight = getattr(layer, "weight", None)
    return weight is not None and weight.dtype == torch.float32 and weight.device.type == "cpu" and plain(weight)


class Linear(torch.nn.Linear):
    """A linear layer that is computed by oneDNN."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return product(input, self.weight, self.bias)


class Conv1D(transformers.pytorch_utils.Conv1D):
    """GPT-2's linear layer, computed by oneDNN."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return product(x, self.weight.t(), self.bias)


_FASTER: dict[type, type] = {torch.nn.Linear: Linear, transformers.pytorch_utils.Conv1D: Conv1D}


def product(inputs: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """Compute a linear layer by oneDNN."""
    if torch.is_grad_enabled():
        return torch.nn.functional.linear(inputs.to_mkldnn(), weight, bias).to_dense()
    # The same product without copies of its inputs and outputs. It has no gradients.
    result: torch.Tensor = torch.ops.mkldnn._linear_pointwise(inputs, weight, bias, "none", [], "")
    return result


class Gelu(torch.nn.Module):
    """GPT-2's GELU (its tanh approximation), computed on a CPU in blocks."""

    # In transformers it takes seven operations over the whole input.

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        if inputs.device.type != "cpu" or inputs.requires_grad:
            return torch.nn.functional.gelu(inputs, approximate="tanh")
        result = torch.empty_like(inputs, memory_format=torch.contiguous_format)
        width, wide = inputs.shape[-1], torch.promote_types(inputs.dtype, torch.float32)
        blocks, outs = (torch.split(tensor.reshape(-1, width), max(1, _BLOCK // width)) for tensor in (inputs, result))
        for block, out in zip(blocks, outs, strict=True):
            rows = block.to(wide)
            torch.mul(rows, rows.square().mul_(_CUBIC).add_(_LINEAR).mul_(rows).sigmoid_(), out=out)
        return result


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
        None if spread else device(chosen["device"]), file, tokenizer_folder(folder) if folder else None,
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
    refuse_damaged_weights(folder)
    digest, label = adapter_digest(folder), _label(str(folder))
    # Before the adapter changes them.
    weights = base.weights if isinstance(base.weights, str) else base.weights()
    record = {
        "name": label,
        "hash": digest,
        "weights": merging,
        "base weights": weights,
        "tokenizer": "the adapter's" if tokenizer_folder(folder) else "the base model's",
    }
    model = attach(place, base.model, folder, merging == "merged", pickle)
    return replace(
        base, model=model, label=f"{base.label}+{label}", weights=hashing.of_text(weights + digest),
        adapter=merging, record={**base.record, "adapter": record, "peft": version()},
    )  # fmt: skip


def _gguf(place: str, name: str, revision: str, file: str) -> Path:
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
        digest = adapter_digest(Path(name)) if (Path(name) / location.CONFIG).is_file() else hash_folder(Path(name))
        return f"{Path(name).resolve().name}@{digest[:8]}"
    return f"{name}@{revision}" if revision else name
