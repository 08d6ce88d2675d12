"""Hashes of checkpoints, and refusal of unsafe checkpoints."""

import hashlib
import inspect
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from syntagm.errors import ModelError, UsageError
from syntagm.io import hashing, hub
from syntagm.io.json import record
from syntagm.models.hugging_face.damage import refuse_damaged_weights
from syntagm.models.hugging_face.quantised import plain

# Fields of config.json that transformers builds one object each for, and what no published model exceeds.
_MOST = dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers"), 1_000) | {"num_labels": 1_000_000}
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
# No published vocabulary has a tenth of it.
HIGHEST = 10_000_000


def hash_weights(model: Any, tokenizer: Any) -> str:
    """Return a hash of configuration, weights (in the dtype of the computation) and tokenizer; 64 hexadecimal digits.

    The weights are hashed, not the files, so the hash does not depend on how the weights are split into files.
    """
    digest = hashlib.sha256(_configuration(model))
    for name, tensor in sorted(model.state_dict(keep_vars=True).items()):
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        digest.update(f"{name}|{tensor.dtype}|{tuple(tensor.shape)}|".encode())
        digest.update(memoryview(flat.view(torch.uint8).numpy()))
    digest.update(_tokenization(tokenizer))
    return digest.hexdigest()


def hash_settings(model: Any, tokenizer: Any) -> str:
    """Return a hash of configuration and tokenizer, without the weights."""
    return hashlib.sha256(_configuration(model) + _tokenization(tokenizer)).hexdigest()


def hash_folder(folder: Path) -> str:
    """Return a hash of the stored files of a checkpoint, which does not depend on the dtype of the computation."""
    digest = hashlib.sha256()
    patterns = ("config.json", "tokenizer.json", "*.safetensors", *_PICKLES)
    for path in sorted({path for pattern in patterns for path in folder.glob(pattern)}):
        digest.update(f"{path.name}|{hashing.of_file(path)}|".encode())
    return digest.hexdigest()


def hash_stored(files: str, tokenizer: Any) -> str:
    """Return a hash of quantised weights and of the tokenizer, from a hash of the stored files."""
    return hashlib.sha256(files.encode() + _tokenization(tokenizer)).hexdigest()


def sample(model: Any) -> str:
    """Return a hash of a few numbers of each weight, which changes with every training step."""
    values: dict[torch.device, list[torch.Tensor]] = {}
    for tensor in filter(plain, model.parameters()):
        # A matrix may be stored column by column; its rows would be copied here.
        flat = (tensor.detach() if tensor.is_contiguous() else tensor.detach().t()).reshape(-1)
        chosen = flat[:: max(1, len(flat) // 8)].contiguous()
        values.setdefault(tensor.device, []).append(chosen.view(torch.uint8))
    digest = hashlib.sha256()
    for parts in values.values():
        # One copy for all weights, since a GPU is waited for at each.
        digest.update(torch.cat(parts).cpu().numpy().tobytes())
    return digest.hexdigest()


def refuse_change(model: Any, before: str, name: str) -> None:
    """Refuse a model in memory whose weights have changed since its fingerprint was computed.

    Arguments:
        model: the model.
        before: its `sample` at that time.
        name: name of the model, for the message.

    Raises:
        ModelError: the weights have changed.
    """
    if sample(model) != before:
        raise ModelError(
            name, "weights that have changed since its fingerprint was computed", "unchanged weights",
            "Call from_transformers again after a training step.",
        )  # fmt: skip


def refuse_nan(model: Any, name: str) -> None:
    """Refuse a model with a weight that is not a number, as after training that diverged.

    Arguments:
        model: the model.
        name: name of the model, for the message.

    Raises:
        ModelError: a weight is NaN, or a weight matrix contains an infinite number.
    """
    for weights, tensor in model.named_parameters():
        if not plain(tensor):
            continue
        if tensor.is_floating_point() and tensor.itemsize == 1:
            tensor = tensor.float()  # PyTorch can't test 8-bit floats
        # A vector may hold -inf: the bias of symbols that the model never predicts.
        broken = tensor.isnan() if tensor.dim() < 2 else ~tensor.isfinite()
        if count := int(broken.sum()):
            raise ModelError(
                name, f"{count:,} of {tensor.numel():,} weights of {weights} are not numbers", "finite numbers",
                "Check that training did not diverge, and that the dtype is not too narrow for the weights.",
            )  # fmt: skip


def refuse_training(model: Any, label: str) -> None:
    """Refuse a model in memory that is in training mode, because dropout would be active.

    Raises:
        UsageError: the model is in training mode.
    """
    if model.training:
        raise UsageError(f"model {label}", "a model in training mode", "evaluation mode", "Call model.eval() first.")


def hash_code(model: Any) -> str | None:
    """Return a hash of the code that came with a checkpoint; None for an architecture of transformers itself."""
    if not type(model).__module__.startswith("transformers_modules."):
        return None
    folder = Path(inspect.getfile(type(model))).parent
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sorted(folder.glob("*.py")))).hexdigest()


def _configuration(model: Any) -> bytes:
    settings = {
        key: value
        for key, value in model.config.to_dict().items()
        if key not in ("_name_or_path", "transformers_version")
    }
    return json.dumps(settings, sort_keys=True, default=str).encode()


def _tokenization(tokenizer: Any) -> bytes:
    # A tokenizer remembers the last settings of truncation and padding, which are not used here.
    settings = json.loads(tokenizer.backend_tokenizer.to_str()) | {"truncation": None, "padding": None}
    return json.dumps(settings, sort_keys=True).encode()


def refuse_unsafe(folder: Path, pickle: bool, code: bool, kind: str) -> None:
    """Refuse a folder that can only be loaded by unpickling or by running its code, unless that is allowed.

    Arguments:
        folder: the folder of a checkpoint.
        pickle: whether pickled weights are allowed.
        code: whether the model's own code is allowed.
        kind: the kind of language model, for messages.

    Raises:
        ModelError: there are no safetensors, they are damaged or incomplete, the model has its own code, or the file of
            its tokenizer gives a token a number beyond any vocabulary.
    """
    place = f"{kind}:{folder}"
    config = folder / "config.json"
    for path in folder.iterdir():
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise ModelError(str(path), "a device or a pipe", "files and folders", "Reading it might never end.")
    if not config.exists():
        raise ModelError(place, "no config.json", "a folder with config.json, model.safetensors and tokenizer.json")
    weights = sorted(folder.glob("*.safetensors"))
    for index in sorted(folder.glob("*.index.json")):
        _refuse_other_files(index, pickle)
    refuse_damaged_weights(folder)
    pickles = [path.name for pattern in _PICKLES for path in sorted(folder.glob(pattern))]
    if not weights and pickles and not pickle:
        raise ModelError(
            place, f"only pickled weights ({pickles[0]})", "model.safetensors",
            "A pickle can run arbitrary code. Convert it, or add allow_pickle=yes if you trust its author.",
        )  # fmt: skip
    if not weights and not pickles:
        raise ModelError(place, "no weights", "model.safetensors", hub.again(folder))
    settings = record(config, ModelError, "the configuration of a model", hub.again(config))
    _refuse_endless(settings, str(config))
    if "auto_map" in settings and not code:
        raise ModelError(
            place, "custom code (auto_map)", "an architecture that transformers supports",
            "Add remote_code=yes if you have read that code and trust it.",
        )  # fmt: skip
    refuse_endless_vocabulary(folder)


def _refuse_endless(settings: Mapping[str, Any], place: str) -> None:
    """Refuse a configuration with so many layers or labels that loading it would take minutes.

    Raises:
        ModelError: the configuration has more of them than any published model.
    """
    for name, most in _MOST.items():
        if isinstance(number := settings.get(name), int) and number > most:
            raise ModelError(place, f"{name} = {number}", f"at most {most:,}", "Check config.json.")
    for part in settings.values():
        if isinstance(part, dict):
            _refuse_endless(part, place)


def refuse_endless_vocabulary(folder: Path) -> None:
    """Refuse the files of a tokenizer that give a token a number beyond any vocabulary.

    The tokenizers library counts up to that number when it describes the tokenizer, and version 0.22 also keeps each
    number without a token in memory, in many gigabytes. So the files are read before the library reads them. Damaged
    files are left to the library.

    Arguments:
        folder: the folder of the tokenizer.

    Raises:
        ModelError: a token has such a number.
    """
    for path in (folder / name for name in ("tokenizer.json", "vocab.json", "added_tokens.json")):
        try:
            content = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError):
            continue
        if (highest := max(_token_numbers(content), default=0)) > HIGHEST:
            raise ModelError(
                str(path), f"a token with the number {highest}", f"numbers up to {HIGHEST:,}", "Was the file edited?"
            )


def _token_numbers(content: Any) -> Iterator[int]:
    """Iterate over the numbers of tokens in tokenizer.json, or in a file that contains a vocabulary only."""
    match content:
        case {"model": {"vocab": vocabulary}, **rest}:
            added = rest.get("added_tokens")
            numbers = [token.get("id") for token in added if isinstance(token, dict)] if isinstance(added, list) else []
        case _:
            vocabulary, numbers = content, []
    if isinstance(vocabulary, dict):
        numbers.extend(vocabulary.values())
    return (number for number in numbers if isinstance(number, int))


def _refuse_other_files(index: Path, pickle: bool) -> None:
    """Refuse an index of weights that names files outside its folder, or names pickles that are not allowed.

    Raises:
        ModelError: it names such files, or can't be read.
    """
    listed = record(index, ModelError, "an index of weight files", hub.again(index)).get("weight_map")
    if not isinstance(listed, dict) or not all(isinstance(name, str) for name in listed.values()):
        raise ModelError(str(index), "no weight_map of file names", "an index of weight files")
    for name in sorted(set(listed.values())):
        if name != Path(name).name or name in ("", ".", ".."):
            raise ModelError(str(index), f"the weight file {name!r}", "a file in the same folder")
        if not name.endswith(".safetensors") and not pickle:
            raise ModelError(
                str(index), f"the weight file {name!r}", "safetensors files",
                "A pickle can run arbitrary code. Convert it, or add allow_pickle=yes if you trust its author.",
            )  # fmt: skip
