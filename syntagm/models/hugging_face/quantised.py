"""Checkpoints with quantised weights, GGUF files among them, loaded as they say and never dequantised silently."""

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import torch
import transformers

from syntagm.core import ModelError, extras, regular
from syntagm.models.hugging_face.unsafe import refuse_endless, stored_types

# The package gguf believes the lengths of arrays, and keeps half a kilobyte for each value. The format is described in
# https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.

MAGIC = b"GGUF"
# Types of values -> their bytes.
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_STRING, _ARRAY = 8, 9
# Values and tensors of a file. The largest vocabularies, with scores, types and merges, have half of them.
_MOST = 3_000_000


def refuse_endless_header(file: Path) -> None:
    """Refuse a file whose header is longer than the file, or has more values than any model."""
    place = str(file)
    try:
        with regular.opened(file) as opened:
            begins = opened.read(len(MAGIC)) == MAGIC
            count = _count(opened.fileno()) if begins else 0
    except OSError as error:
        raise ModelError(place, f"can't be read ({error.strerror})", "a GGUF file") from error
    except (struct.error, LookupError) as error:
        found = "a damaged or incomplete GGUF file (its header ends in the middle, or has unknown types)"
        raise ModelError(place, found, "a complete GGUF file", "Download or convert it again.") from error
    if not begins:
        raise ModelError(place, "no GGUF file", "a file that begins with the letters GGUF")
    if count > _MOST:
        raise ModelError(place, f"a header of {count:,} values", f"at most {_MOST:,}", "Download or convert it again.")


def _count(file: int) -> int:
    """Return how many values and tensors the header has; less than all if there are too many."""
    with mmap.mmap(file, 0, access=mmap.ACCESS_READ) as content:
        # A version with bytes in the other order is a large number.
        order = "<" if struct.unpack_from("<I", content, 4)[0] < 1 << 16 else ">"
        tensors, keys = struct.unpack_from(order + "QQ", content, 8)
        count, at = tensors + keys, 24
        for _ in range(keys):
            if count > _MOST:
                break
            at = _after_string(content, at, order)
            [kind] = struct.unpack_from(order + "I", content, at)
            at, length = at + 4, 1
            if kind == _ARRAY:
                # Arrays of arrays are possible, and no model has one.
                kind, length = struct.unpack_from(order + "IQ", content, at)
                at, count = at + 12, count + length
            if count > _MOST:
                break
            if kind == _STRING:
                for _ in range(length):
                    at = _after_string(content, at, order)
            else:
                at += _SIZES[kind] * length
        return int(count)


def _after_string(content: mmap.mmap, at: int, order: str) -> int:
    length: int = struct.unpack_from(order + "Q", content, at)[0]
    if (end := at + 8 + length) > len(content):
        raise LookupError(end)
    return end


# quant_method in config.json -> the packages that transformers needs for it, by module and by name in pip.
PACKAGES = {
    "bitsandbytes": {"accelerate": "accelerate", "bitsandbytes": "bitsandbytes"},
    "torchao": {"torchao": "torchao"},
    "gptq": {"accelerate": "accelerate", "gptqmodel": "gptqmodel", "optimum": "optimum"},
    "awq": {"accelerate": "accelerate", "gptqmodel": "gptqmodel"},
    "compressed-tensors": {"compressed_tensors": "compressed-tensors"},
    "quanto": {"accelerate": "accelerate", "optimum.quanto": "optimum-quanto"},
    "hqq": {"hqq": "hqq"},
    "gguf": {"accelerate": "accelerate", "gguf": "gguf"},
}
# The types of weights in safetensors files that are no codes of quantised weights.
_FLOATS = frozenset({"F64", "F32", "F16", "BF16"})


def settings_of(config: Any) -> dict[str, Any] | None:
    """Return the quantisation that a configuration describes; None if its weights are not quantised."""
    settings = getattr(config, "quantization_config", None) or getattr(
        config.get_text_config(decoder=True), "quantization_config", None
    )
    if settings is None:
        return None
    stated = settings if isinstance(settings, Mapping) else settings.to_dict()
    # In a model that transformers itself has quantised, the method is a member of an enumeration.
    return {key: value.value if isinstance(value, Enum) else value for key, value in stated.items()}


def refuse_missing_packages(place: str, packages: Mapping[str, str], needed_for: str) -> None:
    if missing := [module for module in packages if not extras.installed(module)]:
        found = f"{needed_for}, but no package {packages[missing[0]]}"
        raise ModelError(
            place, found, " and ".join(packages.values()), extras.command(*(packages[module] for module in missing))
        )


def refuse_unsupported(place: str, method: str) -> None:
    """Refuse weights that this version of transformers can't load."""
    if method == "hqq" and not transformers.__version__.startswith("4."):
        raise ModelError(
            place, f"weights quantised as hqq, which transformers {transformers.__version__} can't load",
            "a kind of quantisation that it loads", "Save a dequantised copy and name that.",
        )  # fmt: skip


def refuse_other_types(place: str, folder: Path, settings: Mapping[str, Any] | None) -> None:
    # Refused are codes that the configuration doesn't describe, and floats where it says quantised weights.
    types = stored_types(folder)
    if settings is None:
        odd = (
            (name, kind)
            for name, kind in types.items()
            if name.endswith(".weight") and not kind.startswith(("F", "BF"))
        )
        if wrong := next(odd, None):
            raise ModelError(
                place, f"weights of the type {wrong[1]} ({wrong[0]})", "floats, or a quantization_config that describes them",
                "Check that config.json and the weights are of one checkpoint.",
            )  # fmt: skip
        return
    # Some are quantised each time they are loaded. Compressed tensors may be floats; if they lack weights, that is said later.
    floats = settings.get("quantization_mode") != "online" and settings.get("quant_method") != "compressed-tensors"
    if floats and types and (found := set(types.values())) <= _FLOATS:
        raise ModelError(
            place, f"weights that config.json describes as quantised ({settings.get('quant_method')}), and that are floats "
            f"({', '.join(sorted(found))})", "quantised weights, or a configuration without quantization_config",
            "Check that config.json and the weights are of one checkpoint.",
        )  # fmt: skip


def refuse_dequantised(place: str, settings: Mapping[str, Any], model: Any) -> None:
    """Refuse a model that transformers has dequantised while loading, because its numbers are those of other weights."""
    # It does so, with a warning only, where a machine has no operations for the weights, and for unknown methods.
    if not getattr(model, "is_quantized", False):
        raise ModelError(
            place, f"weights quantised as {settings.get('quant_method')}, which transformers dequantises on this machine",
            "a machine and packages that compute with the quantised weights",
            "Use another device, or save a dequantised copy and name that.",
        )  # fmt: skip


def described(settings: Mapping[str, Any]) -> str:
    """Return a quantisation as in signatures. The record of a run has all of its settings.

    >>> described({"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4",
    ...            "bnb_4bit_compute_dtype": "bfloat16"})
    'bitsandbytes-nf4-bfloat16'
    >>> described({"quant_method": "gptq", "bits": 4})
    'gptq-4bit'
    >>> described({"quant_method": "compressed-tensors", "format": "pack-quantized"})
    'compressed-tensors-pack-quantized'
    """
    method = str(settings.get("quant_method"))
    if method == "bitsandbytes":
        if not settings.get("load_in_4bit"):
            return f"{method}-int8"
        return f"{method}-{settings.get('bnb_4bit_quant_type')}-{settings.get('bnb_4bit_compute_dtype')}"
    if method == "torchao":
        kind = settings.get("quant_type")
        default = kind.get("default") if isinstance(kind, Mapping) else None
        return f"{method}-{default.get('_type') if isinstance(default, Mapping) else kind}"
    if method == "compressed-tensors":
        return f"{method}-{settings.get('format')}"
    return f"{method}-{settings['bits']}bit" if "bits" in settings else method


def plain(tensor: torch.Tensor) -> bool:
    """Return whether a tensor holds its values itself. Some packages keep codes and scales in a subclass of tensors."""
    return not torch.utils._python_dispatch.is_traceable_wrapper_subclass(tensor)


@dataclass(frozen=True, slots=True)
class Gguf:
    types: str  # the types of its weights as in signatures: `gguf-F32+Q8_0`
    numbers: int  # how many numbers its weights have, without tables of rotary positions


def read_gguf(file: Path) -> Gguf:
    place = str(file)
    refuse_endless_header(file)
    from gguf import GGUFReader

    try:
        reader = GGUFReader(str(file))
        types = {tensor.tensor_type.name for tensor in reader.tensors}
        numbers = sum(int(tensor.n_elements) for tensor in reader.tensors if not tensor.name.startswith("rope_"))
        counts = [field.contents() for name, field in reader.fields.items() if name.endswith(".block_count")]
    except Exception as error:  # the reader raises exceptions of many types
        found = (
            f"a damaged or incomplete GGUF file ({str(error).splitlines()[0] if str(error) else type(error).__name__})"
        )
        raise ModelError(place, found, "a complete GGUF file", "Download or convert it again.") from error
    refuse_endless({"num_hidden_layers": counts[0]} if counts else {}, place)
    return Gguf("gguf-" + "+".join(sorted(types)), numbers)


def refuse_unused(place: str, file: Gguf, model: Any) -> None:
    """Refuse a model without a place for all weights of its GGUF file. transformers leaves them out without a word."""
    if file.numbers > (used := sum(tensor.numel() for tensor in model.state_dict().values())):
        raise ModelError(
            place, f"a GGUF file of {file.numbers:,} numbers for a model of {used:,}", "a model with a place for all of them",
            "The file describes fewer layers than it has, or transformers does not know its architecture.",
        )  # fmt: skip
