"""Loading of checkpoints from a folder or the hub, with checks of completeness and kind."""

import contextlib
import importlib.util
import re
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
import transformers
from huggingface_hub import constants
from transformers.utils.hub import cached_file

from syntagm.core import ModelError, hub
from syntagm.models.hugging_face import location
from syntagm.models.hugging_face.quantised import (
    PACKAGES,
    refuse_dequantised,
    refuse_missing_packages,
    refuse_other_types,
    refuse_unsupported,
    settings_of,
)
from syntagm.models.hugging_face.unsafe import (
    HIGHEST,
    count_stored_numbers,
    described,
    is_foreign,
    refuse_damaged_settings,
    refuse_endless,
    refuse_endless_tokenizer,
    refuse_unsafe,
)

Kind = Literal["causal", "masked"]
LOADERS: dict[Kind, Any] = {
    "causal": transformers.AutoModelForCausalLM,
    "masked": transformers.AutoModelForMaskedLM,
}
# Checkpoints of these classes have no language-model head. With tied embeddings, transformers would add a head without a warning.
_OTHER_HEADS = re.compile("For(Sequence|Token|Image|Audio)Classification|ForQuestionAnswering|ForMultipleChoice|Reward")
# Weights that published checkpoints have and language modelling doesn't use: heads of other tasks, and constants that old
# versions of transformers stored with the weights (causal masks, rotary frequencies, position numbers).
_UNUSED = re.compile(
    r"(^|\.)(pooler|seq_relationship|sop_classifier|discriminator_predictions|multiple_choice_head|v_head)\."
    r"|\.attn\.(masked_bias|bias|causal_mask)$|\.attention\.(masked_bias|bias)$"
    r"|\.rotary_emb\.(inv_freq|cos_cached|sin_cached)$|(^|\.)(position_ids|token_type_ids)$|(^|\.)(en|de)coder\.version$"
    r"|\.embed_positions\.(weights|_float_tensor)$"
)
_LAYER = re.compile(r"\.(\d+)\.")
# Whether a file is missing, or the hub, is said when it is loaded.
_HERE_OR_NOT = dict.fromkeys(
    ("_raise_exceptions_for_missing_entries", "_raise_exceptions_for_connection_errors"), False
)
# Numbers that a model may have beside those that are stored: masks, and weights that are stored once and used twice.
_FREE = 250_000_000
_REPLACING = threading.RLock()


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """A model and its tokenizer, as loaded."""

    model: Any
    tokenizer: Any
    unused: list[str]  # the stored weights that the model doesn't use, as from `unused_weights`
    # The quantisation that its configuration describes; None if the weights are not quantised.
    quantisation: dict[str, Any] | None
    stated: dict[str, Any]  # the content of config.json, without a library's defaults


def read_checkpoint(
    name: str,
    revision: str,
    dtype: torch.dtype | None,
    pickle: bool,
    code: bool,
    kind: Kind,
    device: torch.device | None,
    gguf: str = "",
    tokenizer_folder: Path | None = None,
) -> Checkpoint:
    """Load a model and its tokenizer from a folder, the hub's cache, or the hub if it can be reached."""
    place = f"{kind}:{name}" + (f"@{revision}" if revision else "")
    arguments: dict[str, Any] = {"revision": revision or None, "trust_remote_code": code}
    remote = not Path(name).is_dir()
    if remote and not hub.is_reachable(constants):
        arguments["local_files_only"] = True
    quantisation = None
    with warnings.catch_warnings(), _quiet():
        warnings.simplefilter("ignore")
        try:
            weights: dict[str, Any] = {}
            if gguf:
                arguments["gguf_file"] = gguf
                if hasattr(transformers, "GgufConfig"):  # older versions always dequantise
                    weights["quantization_config"] = transformers.GgufConfig(gguf_file=gguf, dequantize=True)
            else:
                weights["use_safetensors"] = None if pickle else True
                config = transformers.AutoConfig.from_pretrained(name, **arguments)
                refuse_endless(config.to_dict(), place)
                quantisation = settings_of(config)
            if quantisation is not None:
                method = str(quantisation.get("quant_method"))
                refuse_missing_packages(place, PACKAGES.get(method, {}), f"weights quantised as {method}")
                refuse_unsupported(place, method)
            if not gguf and (files := location.stored(name, revision) if remote else Path(name)):
                refuse_other_types(place, files, quantisation)
                if quantisation is None:
                    _refuse_too_large(config, files, LOADERS[kind], code)
            if device is None or quantisation is not None:
                # The weights of some packages can't be moved after loading.
                weights["device_map"] = "auto" if device is None else {"": device}
            if tokenizer_folder:
                own_tokenizer: Any = tokenizer_folder, {"trust_remote_code": code}
                refuse_endless_tokenizer(tokenizer_folder)
            else:
                own_tokenizer = name, arguments
                source = {key: arguments[key] for key in ("revision", "local_files_only") if key in arguments}
                if remote and (file := cached_file(name, "tokenizer.json", **_HERE_OR_NOT, **source)):
                    refuse_endless_tokenizer(Path(file).parent)
            stated, _ = transformers.PretrainedConfig.get_config_dict(name, **arguments)
            default = torch.float32 if quantisation is None else "auto"
            with _reading() as reading:
                model, loading = LOADERS[kind].from_pretrained(
                    name, dtype=dtype or default, output_loading_info=True, **weights, **arguments
                )
            tokenizer = transformers.AutoTokenizer.from_pretrained(own_tokenizer[0], use_fast=True, **own_tokenizer[1])
        except BaseException as error:  # transformers raises exceptions of many types, and panics of tokenizers
            if not is_foreign(error):
                raise
            stored = location.stored(name, revision) if remote else Path(name)
            if stored and not gguf:
                if remote:
                    refuse_unsafe(stored, pickle, code, kind)
                refuse_damaged_settings(stored)
            if tokenizer_folder:
                refuse_damaged_settings(tokenizer_folder)
            # What the library can't find is an OSError.
            if "local_files_only" in arguments and (stored is None or isinstance(error, OSError)):
                raise location.unreachable(kind, name, revision, gguf, stored is not None) from error
            raise _not_found(place, kind, error, stored) from error
    refuse_incomplete(place, loading)
    if remote and not gguf and (files := location.stored(name, revision)):
        # Unless they were in the cache already, the weights have only just been downloaded.
        refuse_other_types(place, files, quantisation)
    if quantisation is not None:
        refuse_dequantised(place, quantisation, model)
        if dtype not in (None, model.dtype):
            raise ModelError(
                place, f"quantised weights for a computation in {model.dtype}", f"{dtype}, as the option dtype says",
                "Omit the option dtype.",
            )  # fmt: skip
    if device is None:
        _refuse_offloaded(place, model)
    elif quantisation is None:
        model = model.to(device)
        if not reading.all:
            _leave_file(model)
    again = hub.download(name, revision) if remote else hub.again(Path(name) / "tokenizer.json")
    if not remote and not (Path(name) / "tokenizer.json").exists():
        # Checkpoints of a training often lack it.
        again = f"Save it there: tokenizer.save_pretrained({name!r})."
    _refuse_another_kind(place, kind, model, tokenizer, again)
    return Checkpoint(model, tokenizer, unused_weights(place, model.config, loading), quantisation, stated)


def _refuse_too_large(config: Any, folder: Path, loader: Any, code: bool) -> None:
    """Refuse a configuration of a model with far more weights than are stored, for which transformers would take the memory."""
    if not (stored := count_stored_numbers(folder)):
        return
    # Its module is imported before: what it creates on import is on no device "meta".
    for name in config.architectures or []:
        getattr(transformers, str(name), None)
    count, bare = 0, _without_values()
    with contextlib.suppress(Exception), torch.device("meta"), bare:  # whatever is wrong, loading it says so
        model = loader.from_config(config, trust_remote_code=code)
        count = sum(tensor.numel() for tensor in (*model.parameters(), *model.buffers()))
    if count > 2 * stored + _FREE:
        raise ModelError(
            str(folder / "config.json"), f"a model of {count:,} weights", f"one of the {stored:,} that are stored",
            "Check that config.json belongs to these weights: compare vocab_size, the sizes of layers, and positions.",
        )  # fmt: skip


def _without_values() -> contextlib.AbstractContextManager[None]:
    """Return transformers' own context in which new weights get no values: on "meta", drawing them takes most of the time."""
    modules = ("transformers.initialization", "transformers.modeling_utils")
    module = importlib.import_module(next(name for name in modules if importlib.util.find_spec(name)))
    # A version without it only takes longer.
    context: contextlib.AbstractContextManager[None] = getattr(module, "no_init_weights", contextlib.nullcontext)()
    return context


@dataclass(slots=True)
class _Reading:
    """How the files of weights were opened."""

    opened: int = 0  # how many were read into memory
    mapped: int = 0  # how many were mapped

    @property
    def all(self) -> bool:
        """Whether there are files of weights, and none of them is mapped."""
        return self.opened > 0 and not self.mapped


@contextlib.contextmanager
def _reading() -> Iterator[_Reading]:
    """Let transformers read files of weights during the block, where it would map them."""
    # Copying them afterwards (`_leave_file`) gives the same, but needs the memory twice.
    library: Any = importlib.import_module("transformers.modeling_utils")
    reading = _Reading()

    def read(*arguments: Any, **options: Any) -> Any:
        if options.get("backend") == "mmap" and str(options.get("device", "cpu")) == "cpu":
            reading.opened += 1
            return opened(*arguments, **(options | {"backend": "pread"}))
        reading.mapped += 1  # older versions, which know no other way
        return opened(*arguments, **options)

    # The library's name is that of all threads.
    with _REPLACING:
        opened, library.safe_open = library.safe_open, read
        try:
            yield reading
        finally:
            library.safe_open = opened


def _leave_file(model: Any) -> None:
    """Copy weights in the memory of the CPU. They may be those of a mapped file, and change with it."""
    # If a training run writes over a checkpoint while it is evaluated, the weights would be those of two checkpoints,
    # or the system would end the process.
    for weights in (*model.parameters(), *model.buffers()):
        if weights.device.type == "cpu":
            weights.data = weights.data.clone()


def _refuse_offloaded(place: str, model: Any) -> None:
    places = [str(device) for device in getattr(model, "hf_device_map", {}).values()]
    elsewhere = [device for device in places if device == "disk" or (device == "cpu" and set(places) != {"cpu"})]
    # Some versions of transformers give no map if all parts are in one place, which may be the disk.
    if elsewhere or any(weights.is_meta for weights in model.parameters()):
        raise ModelError(
            place, f"{len(elsewhere) or 'all'} parts of the model, which don't fit into the memory of the devices",
            "devices with enough memory for all weights", "Use more GPUs, dtype=bf16, or a quantised checkpoint.",
        )  # fmt: skip


def _not_found(place: str, kind: Kind, error: BaseException, stored: Path | None) -> ModelError:
    # transformers stops here, and version 5 lists the weights in its log only.
    if any(words in str(error) for words in ("ignore_mismatched_sizes", "size mismatch for")):
        return ModelError(
            place, "weights whose shape differs from the configuration", "weights of the shapes in config.json",
            "Check that config.json belongs to these weights: compare vocab_size, the sizes of layers, and positions.",
        )  # fmt: skip
    if other := re.match(r"Unrecognized configuration class <class '[\w.]*?(\w+?)(Config)?'>", str(error)):
        cure = (
            "`causal:` loads causal models, and `masked:` masked ones; there is no family for encoder-decoder models."
        )
        return ModelError(place, f"a model of the architecture {other[1]}", f"a {kind} model", cure)
    if stored and str(error).startswith("Couldn't instantiate the backend tokenizer"):
        found = "no tokenizer.json, and no other tokenizer that transformers converts"
        return ModelError(place, found, "a fast tokenizer", hub.again(stored / "tokenizer.json"))
    absent = "" if stored else "no such folder, and for this name on the hub: "
    return ModelError(
        place, absent + described(error), f"a {kind} model in safetensors format, with a fast tokenizer",
        "Give a folder with config.json, model.safetensors and tokenizer.json, or a name on the hub.",
    )  # fmt: skip


def refuse_incomplete(place: str, loading: Any) -> None:
    """Refuse a checkpoint that lacks weights, which transformers would initialise at random."""
    for problem in ("missing_keys", "mismatched_keys"):
        if keys := sorted(map(str, loading[problem])):
            raise ModelError(
                place, f"{len(keys)} weights that are missing or have another shape, among them {keys[0]}",
                "all weights that its configuration describes",
                "Check that the checkpoint is complete and has a language-model head.",
            )  # fmt: skip


def unused_weights(place: str, config: Any, loading: Any) -> list[str]:
    """Return the names of stored weights that the model doesn't use, with `*` for the numbers of layers."""
    # Only heads of other tasks and constants may be unused. Other unused weights mean that the configuration describes
    # a different model from the one that was trained, for example with fewer layers.
    unused = sorted(map(str, loading["unexpected_keys"]))
    wrong = [key for key in unused if not _UNUSED.search(key)]
    if not wrong:
        return sorted({_LAYER.sub(".*.", key) for key in unused})
    found = f"{len(wrong)} weights that the configuration has no place for, among them {wrong[0]}"
    layers = getattr(config, "num_hidden_layers", None)
    stored = {int(match[1]) for key in wrong if (match := _LAYER.search(key))}
    if isinstance(layers, int) and max(stored, default=0) >= layers:
        field = config.attribute_map.get("num_hidden_layers", "num_hidden_layers")
        raise ModelError(
            place, f"{found}; {field} is {layers}", f"{field} = {max(stored) + 1} in config.json, as in the weights",
            f"If config.json was edited, correct {field}, or save the smaller model with its own weights.",
        )  # fmt: skip
    raise ModelError(
        place, found, "a configuration that describes all weights of the language model",
        "Check that config.json belongs to these weights: look at model_type and at fields about this part of the model.",
    )  # fmt: skip


def _refuse_another_kind(place: str, kind: Kind, model: Any, tokenizer: Any, again: str) -> None:
    """Refuse a model with another head, and a tokenizer that is slow or empty; `again` is the cure for the last."""
    if other_heads := [name for name in model.config.architectures or [] if _OTHER_HEADS.search(str(name))]:
        raise ModelError(
            place, f"weights of {other_heads[0]}", f"the weights of a {kind} language model",
            "The model was trained with another head, so its language-model head would be untrained.",
        )  # fmt: skip
    if not tokenizer.is_fast:
        raise ModelError(place, "a tokenizer without character positions", "a fast tokenizer (tokenizer.json)")
    vocabulary = tokenizer.get_vocab()
    if (highest := max(vocabulary.values(), default=0)) > HIGHEST:  # the hub's files are not read before
        raise ModelError(place, f"a token with the number {highest}", f"numbers up to {HIGHEST:,}")
    if set(vocabulary.values()) <= set(tokenizer.added_tokens_decoder):
        # If there is no tokenizer, transformers makes an empty one for some architectures without a warning.
        raise ModelError(place, "a tokenizer with an empty vocabulary", "tokenizer.json next to the weights", again)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence progress bars and warnings of transformers during the block; errors are still shown."""
    logging: Any = transformers.utils.logging
    level = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    # The reader of GGUF files has a bar that ignores these settings.
    reader: Any = importlib.import_module("transformers.modeling_gguf_pytorch_utils")
    bar, reader.tqdm = reader.tqdm, lambda tensors, **_: tensors
    try:
        yield
    finally:
        reader.tqdm = bar
        logging.set_verbosity(level)
        logging.enable_progress_bar()
