"""Refusal of files of checkpoints that are damaged or not safe to read, and errors of libraries over them.

No weights are read here, and no heavy library is loaded.
"""

import contextlib
import json
import math
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from syntagm.core import (
    Interrupted,
    ModelError,
    SyntagmError,
    how_to_give,
    hub,
    is_mistake,
    json as strict_json,
    lacks_memory,
    regular,
)

# For a checkpoint that was loaded, and with which nothing can be computed.
UNUSABLE = "a model that can be computed"
CURE = "Compare config.json and the tokenizer with those of the published checkpoint: were they edited?"


def is_panic(error: BaseException) -> bool:
    """Return whether an error is a panic of a library in Rust, such as tokenizers. Its class is no subclass of Exception."""
    return type(error).__name__ == "PanicException"


def is_foreign(error: BaseException) -> bool:
    """Return whether a library raised an error over what it was given: no interruption, no mistake of ours, no lack of memory."""
    if isinstance(error, SyntagmError | Interrupted) or is_mistake(error) or lacks_memory(error):
        return False
    return isinstance(error, Exception) or is_panic(error)


@contextlib.contextmanager
def one_error(place: str, expected: str, cure: str = "") -> Iterator[None]:
    """Turn what a library raises in the block into a ModelError. What is not of a library (`is_foreign`) is left as it is."""
    try:
        yield
    except BaseException as error:
        if not is_foreign(error):
            raise
        raise ModelError(place, described(error), expected, cure) from error


def described(error: BaseException) -> str:
    """Return an error of a library in one line. Some have the reason on the line after a heading.

    >>> described(ValueError("Validation error for field 'x':\\n    TypeError: not a number")), described(AssertionError())
    ("Validation error for field 'x': TypeError: not a number", 'AssertionError')
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    first = " ".join(lines[:2] if lines and lines[0].endswith(":") else lines[:1])
    if not first:
        return type(error).__name__
    # The text of some errors means nothing without their name: "'vocab'", "list index out of range".
    named = isinstance(error, LookupError | AssertionError) or is_panic(error)
    return (f"{type(error).__name__}: {first}" if named else first)[:300]


_INDEX = "model.safetensors.index.json"
_SHARD = re.compile(r"-\d{5}-of-\d{5}\.safetensors")
# The longest header that the safetensors library reads.
_LONGEST_HEADER = 100_000_000
_SETTINGS_FILES = ("config.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")


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
    for path in (folder / name for name in _SETTINGS_FILES):
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
            if not 2 <= length <= _LONGEST_HEADER:
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


# Fields of config.json that transformers builds one object each for, and what no published model exceeds.
_MOST = dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers"), 1_000) | {"num_labels": 1_000_000}
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
PICKLE = (
    f"A pickle can run arbitrary code. Convert it, or permit it if you trust its author. {how_to_give('allow_pickle')}"
)
_READ_WHOLE = frozenset({".json", ".jinja", ".txt", ".model", ".py"})
# The files that the libraries read for each model. The largest published ones have a quarter of these bytes, and a tenth of
# these values in JSON, which are counted by their commas.
_SETTINGS = re.compile(r"(.*config|.*token.*|vocab.*|.*template.*)\.(json|jinja)|(vocab|merges)\.txt|.*\.model")
_LARGEST, _MOST_VALUES = 2**27, 20_000_000
# transformers copies and compares these many times.
_LARGEST_CONFIGURATION = 2**22
# No published vocabulary has a tenth of it.
HIGHEST = 10_000_000
# Added tokens, of which transformers reads some thousand in a second, and the characters of each.
_MOST_ADDED, _LONGEST = 200_000, 10_000


def refuse_unsafe(folder: Path, pickle: bool, code: bool, kind: str) -> None:
    """Refuse a folder that can only be loaded by unpickling or by running its code, unless that is allowed."""
    place = f"{kind}:{folder}"
    config = folder / "config.json"
    refuse_special_files(folder)
    if not config.exists():
        expected = "a folder with config.json, model.safetensors and tokenizer.json"
        raise ModelError(place, "no config.json", expected, _models_within(folder))
    weights = sorted(folder.glob("*.safetensors"))
    for index in sorted(folder.glob("*.index.json")):
        _refuse_other_files(index, pickle)
    refuse_damaged_weights(folder)
    pickles = [path.name for pattern in PICKLES for path in sorted(folder.glob(pattern))]
    if not weights and pickles and not pickle:
        raise ModelError(place, f"only pickled weights ({pickles[0]})", "model.safetensors", PICKLE)
    if not weights and not pickles:
        raise ModelError(place, "no weights", "model.safetensors", hub.again(folder))
    settings = strict_json.record(config, ModelError, "the configuration of a model", hub.again(config))
    refuse_endless(settings, str(config))
    if "auto_map" in settings and not code:
        raise ModelError(
            place, "custom code (auto_map)", "an architecture that transformers supports",
            f"Permit it if you have read that code and trust it. {how_to_give('trust_remote_code')}",
        )  # fmt: skip
    refuse_endless_tokenizer(folder)


def _models_within(folder: Path) -> str:
    """Return how to name the models in a folder that is none itself; empty if there are none."""
    within = sorted(path.parent.name for path in folder.glob("*/config.json"))
    if not within:
        return ""
    stem = within[0].rstrip("0123456789")
    pattern = f"{folder}/{stem if all(name.startswith(stem) for name in within) else ''}*"
    return f"Name a model in it, such as {folder / within[0]}" + (f", or all: '{pattern}'." if within[1:] else ".")


def refuse_special_files(folder: Path) -> None:
    """Refuse a folder with a file that might never end. The libraries open the files of a checkpoint by their names."""
    for path in (*folder.iterdir(), *folder.glob("additional_chat_templates/*")):
        if path.is_dir() or not path.exists():
            continue
        if not path.is_file():
            raise ModelError(str(path), "a device or a pipe", "files and folders", "Reading it might never end.")
        most = _LARGEST if _SETTINGS.fullmatch(path.name) else regular.MAX_BYTES
        if path.name in ("config.json", "generation_config.json"):
            most = _LARGEST_CONFIGURATION
        if path.suffix in _READ_WHOLE and path.stat().st_size > most:
            raise ModelError(str(path), f"{path.stat().st_size:,} bytes", f"at most {most:,}", hub.again(path))


def refuse_endless(settings: Mapping[str, Any], place: str) -> None:
    """Refuse a configuration with so many layers or labels that loading it would take minutes."""
    for name, most in _MOST.items():
        if isinstance(number := settings.get(name), int) and number > most:
            raise ModelError(place, f"{name} = {number}", f"at most {most:,}", "Check config.json.")
    for part in settings.values():
        if isinstance(part, dict):
            refuse_endless(part, place)


def refuse_endless_tokenizer(folder: Path) -> None:
    """Refuse the files of a tokenizer that give a token a number beyond any vocabulary, or are larger than any published one."""
    # The tokenizers library counts up to that number when it describes the tokenizer, and version 0.22 also keeps each
    # number without a token in memory, in many gigabytes. So the files are read before the library reads them. Damaged
    # files are left to the library.
    for path in (folder / name for name in ("tokenizer.json", "vocab.json", "added_tokens.json")):
        try:
            written = regular.content(path, _LARGEST)
            if (count := written.count(b",")) > _MOST_VALUES:
                raise ModelError(str(path), f"{count:,} values", f"at most {_MOST_VALUES:,}", hub.again(path))
            content = json.loads(written)
        except (FileNotFoundError, ValueError, RecursionError):
            continue
        except OSError as error:
            raise ModelError(str(path), f"can't be read ({error.strerror})", "a file of a tokenizer") from error
        added = _added_tokens(content)
        if (highest := max(_token_numbers(content, added), default=0)) > HIGHEST:
            raise ModelError(
                str(path), f"a token with the number {highest}", f"numbers up to {HIGHEST:,}", "Was the file edited?"
            )
        if len(added) > _MOST_ADDED:
            raise ModelError(str(path), f"{len(added):,} added tokens", f"at most {_MOST_ADDED:,}", hub.again(path))
        if (longest := max((len(str(token.get("content"))) for token in added), default=0)) > _LONGEST:
            raise ModelError(
                str(path), f"an added token of {longest:,} characters", f"at most {_LONGEST:,}", "Was the file edited?"
            )


def _added_tokens(content: Any) -> list[dict[str, Any]]:
    listed = content.get("added_tokens") if isinstance(content, dict) else None
    return [token for token in listed if isinstance(token, dict)] if isinstance(listed, list) else []


def _token_numbers(content: Any, added: Sequence[dict[str, Any]]) -> Iterator[int]:
    """Iterate over the numbers of tokens in tokenizer.json, or in a file that contains a vocabulary only."""
    match content:
        case {"model": {"vocab": vocabulary}}:
            numbers = [token.get("id") for token in added]
        case _:
            vocabulary, numbers = content, []
    if isinstance(vocabulary, dict):
        numbers.extend(vocabulary.values())
    return (number for number in numbers if isinstance(number, int))


def _refuse_other_files(index: Path, pickle: bool) -> None:
    """Refuse an index of weights that names files outside its folder, or names pickles that are not allowed."""
    listed = strict_json.record(index, ModelError, "an index of weight files", hub.again(index)).get("weight_map")
    if not isinstance(listed, dict) or not all(isinstance(name, str) for name in listed.values()):
        raise ModelError(str(index), "no weight_map of file names", "an index of weight files")
    for name in sorted(set(listed.values())):
        if name != Path(name).name or name in ("", ".", ".."):
            raise ModelError(str(index), f"the weight file {name!r}", "a file in the same folder")
        if not name.endswith(".safetensors") and not pickle:
            raise ModelError(str(index), f"the weight file {name!r}", "safetensors files", PICKLE)
