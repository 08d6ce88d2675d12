"""Where a checkpoint is: a folder, a GGUF file, a name on the hub, an adapter. No heavy library is loaded."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import huggingface_hub
from huggingface_hub import constants

from syntagm.core import ModelError, UsageError, hub, json, seal
from syntagm.models import families
from syntagm.models.hugging_face.unsafe import refuse_unsafe

# What the name of a model on the hub looks like.
_ON_THE_HUB = re.compile(r"([\w.-]+/)?[\w.-]+")
# The files of an adapter.
CONFIG = "adapter_config.json"
WEIGHTS = ("adapter_model.safetensors", "adapter_model.bin")


def check(
    name: str, path: str, chosen: Mapping[str, str], allow_pickle: bool = False, trust_remote_code: bool = False
) -> None:
    """Refuse a folder that does not exist or may not be read, and a name that can't be found; see `Family.checks`."""
    # The hub is not asked about a name, but if it can't be reached, its cache must have some of the model.
    base = parts(name, path)[0] if tells_base(path) else path.rpartition("+")[0] or path
    place, revision, file = located(name, families.find(name).bundled.get(base, base), chosen.get("gguf", ""))
    if not Path(place).is_dir():
        cached = any(stored(place, revision, each) for each in ([file] if file else ["config.json", CONFIG]))
        if not cached and not hub.is_reachable(constants):
            raise unreachable(name, place, revision, file)
    elif not file:
        refuse_unsafe(Path(place), allow_pickle, trust_remote_code, name)


def tells_base(path: str) -> bool:
    """Return whether the base model of a path is known without asking the hub, which may have an adapter of this name."""
    known = Path(path).is_dir() or Path(path.rpartition("+")[2]).is_dir()
    return known or ("+" in path and not hub.is_reachable(constants))


def stored(name: str, revision: str, file: str = "config.json") -> Path | None:
    """Return the folder of a model in the hub's cache, if it has this file; else None."""
    try:
        path = huggingface_hub.try_to_load_from_cache(name, file, revision=revision or None)
    except ValueError:  # a name that no model can have
        return None
    return Path(path).parent if isinstance(path, str) else None


def unreachable(kind: str, name: str, revision: str, file: str = "", partly: bool = False) -> ModelError:
    """Return the error for a model on the hub, which can't be reached, that is not in its cache, or only partly."""
    what = "the complete model" if partly else f"this revision of {name}" if revision else "a model of that name"
    return ModelError(
        f"{kind}:{name}" + (f"@{revision}" if revision else ""),
        f"no such folder; the hub can't be reached, and its cache {constants.HF_HUB_CACHE} does not contain {what}",
        file or "config.json, model.safetensors and tokenizer.json", hub.download(name, revision, file),
    )  # fmt: skip


def located(kind: str, base: str, file: str) -> tuple[str, str, str]:
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
    if Path(base).is_file():
        raise ModelError(
            f"{kind}:{base}", "a file", "a folder with config.json and model.safetensors, or a file *.gguf"
        )
    name, _, revision = base.partition("@")
    if name.startswith(".") or name.endswith(".gguf") or not _ON_THE_HUB.fullmatch(name):
        expected = "a GGUF file" if name.endswith(".gguf") else "a folder with config.json and model.safetensors"
        raise ModelError(f"{kind}:{base}", "no such file" if name.endswith(".gguf") else "no such folder", expected)
    return name, revision, file


def parts(kind: str, path: str) -> tuple[str, Path | None]:
    """Return the base model of a path, and the folder of its adapter if there is one."""
    place = f"{kind}:{path}"
    if Path(path).exists() or "+" not in path:
        folder = _folder(path)
        base = _base(place, folder) if folder else path
    else:
        base, _, name = path.rpartition("+")
        if (folder := _folder(name)) is None:
            found, cure = f"no adapter {name!r}", "Give the folder of the adapter, or its name on the hub."
            if Path(name).is_dir():
                found = f"no {CONFIG} in {name!r}"
            elif not hub.is_reachable(constants):
                found += " here or in the hub's cache, and the hub can't be reached"
                repository, _, revision = name.partition("@")
                cure += f" {hub.download(repository, revision)}"
            raise ModelError(place, found, f"BASE+ADAPTER, where ADAPTER has {CONFIG}", cure)
    if folder and (Path(base) / CONFIG).is_file():
        raise ModelError(
            place, f"an adapter as the base model: {base!r}", "a model without an adapter", "Merge it first."
        )
    return base, folder


def _folder(name: str) -> Path | None:
    """Return the folder of an adapter, from the hub if necessary; None if there is no adapter of that name."""
    if Path(name).is_dir():
        # What Syntagm writes is no adapter: in a sealed model, the file is one too many, and its reader says so.
        sealed = (Path(name) / seal.FILE).exists()
        return Path(name) if (Path(name) / CONFIG).is_file() and not sealed else None
    if not name or name.startswith((".", "/", "~")) or Path(name).exists():
        return None
    repository, _, revision = name.partition("@")
    arguments: dict[str, Any] = {"revision": revision or None, "local_files_only": not hub.is_reachable(constants)}
    try:
        huggingface_hub.hf_hub_download(repository, CONFIG, **arguments)
    except Exception:  # what is no adapter is loaded as a model, whose errors say more
        return None
    wanted = [CONFIG, *WEIGHTS, "tokenizer*", "special_tokens_map.json", "chat_template.jinja"]
    try:
        return Path(huggingface_hub.snapshot_download(repository, allow_patterns=wanted, **arguments))
    except Exception as error:  # huggingface_hub raises exceptions of many types
        # It is an adapter. Loaded as a model, it might be one that transformers puts together by itself, unrecorded.
        found = f"an adapter whose files can't be loaded: {str(error)[:300]}"
        cure = hub.download(repository, revision)
        raise ModelError(name, found, f"{CONFIG} and {WEIGHTS[0]}", cure) from error


def _base(place: str, folder: Path) -> str:
    settings = json.record(folder / CONFIG, ModelError, "the configuration of an adapter", hub.again(folder / CONFIG))
    base = settings.get("base_model_name_or_path")
    if not base or not isinstance(base, str):
        raise ModelError(
            place, f"no base model in {CONFIG}", "base_model_name_or_path", "Name the base model: BASE+ADAPTER."
        )
    if base.startswith((".", "/", "~")) and not Path(base).is_dir():
        raise ModelError(
            place, f"the base model {base!r}, which is not here", "the folder or the name of the base model",
            "Name the base model: BASE+ADAPTER.",
        )  # fmt: skip
    revision = settings.get("revision")
    return f"{base}@{revision}" if revision and not Path(base).is_dir() else base
