"""Refusal of checkpoints whose files can't be read safely. No weights are read here, and no heavy library is loaded."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from syntagm.core import ModelError, how_to_give, hub, json as strict_json, regular
from syntagm.models.hugging_face.damage import refuse_damaged_weights

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
        raise ModelError(
            place, f"only pickled weights ({pickles[0]})", "model.safetensors",
            PICKLE,
        )  # fmt: skip
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
            raise ModelError(
                str(index), f"the weight file {name!r}", "safetensors files",
                PICKLE,
            )  # fmt: skip
