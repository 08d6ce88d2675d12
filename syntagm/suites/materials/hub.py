"""Data sets of the Hugging Face Hub as suites: `hf:ORG/NAME[@REVISION][/CONFIG]`.

The files are downloaded to the hub's own cache, or found there without a network. Tables in Parquet become JSON lines in
the user's cache folder, one file for each configuration, which the formats read like any other file. The paths of both
contain the commit, from which each suite gets the tag `hub`.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from syntagm.core import InputError, UsageError, atomic, extras, hashing, hub, regular

PREFIX = "hf:"
_TABLE = ".parquet"
_OTHERS = (".jsonl", ".json", ".csv", ".tsv", ".txt")
# Files about the data, written by the package datasets.
_ABOUT = ("dataset_infos.json", "dataset_dict.json", "dataset_info.json", "state.json")
_NAME = re.compile(r"hf:(?P<repository>[\w.-]+(?:/[\w.-]+)?)(?:@(?P<revision>[\w.-]+))?(?:/(?P<config>[\w./-]+))?")
_ORIGIN = re.compile(r"/datasets--([^/]+)/snapshots/([0-9a-f]{40})/")
_SPLIT = re.compile(r"(?:^|[^a-z])(train|validation|valid|dev|test)(?:[^a-z]|$)")
_SHARD = re.compile(r"-(\d{5})-of-(\d{5})")
_HASH = re.compile("[0-9a-f]{64}")
_SPLIT_NAME = re.compile(r"\w[\w.-]*")


@dataclass(frozen=True, slots=True)
class _Part:
    """The files of one configuration and split."""

    config: str
    split: str
    files: tuple[Path, ...]


def origin(file: Path) -> str:
    """Return the data set and the commit that a file is from, by its path; empty for other files.

    >>> origin(Path("/hub/datasets--org--name/snapshots/" + "0" * 40 + "/part.jsonl"))[:14]
    'org/name@00000'
    """
    match = _ORIGIN.search(file.as_posix())
    return f"{match[1].replace('--', '/', 1)}@{match[2]}" if match else ""


def files(name: str, split: str = "") -> list[Path]:
    """Return the files of a data set, a configuration of it, or a split of it; tables are written as JSON lines."""
    if not (match := _NAME.fullmatch(name)):
        raise UsageError(name, "no name of a data set", "hf:ORG/NAME, hf:ORG/NAME@REVISION or hf:ORG/NAME/CONFIG")
    repository, revision, config = match["repository"], match["revision"], match["config"]
    folder = _snapshot(name, repository, revision)
    parts = _parts(folder, repository, _how_to_download(name))
    if not parts:
        expected = "files in " + ", ".join((_TABLE, *_OTHERS))
        raise InputError(name, "no data that can be read", expected, "Download it, and convert it to such a file.")
    configs = list(dict.fromkeys(part.config for part in parts))
    if config and config not in configs:
        raise UsageError(name, f"no configuration {config!r}", "one of " + ", ".join(configs))
    chosen = []
    for one in [config] if config else configs:
        splits = {part.split: part for part in parts if part.config == one}
        if split not in splits and (split or len(splits) > 1):
            found = f"no split {split!r}" if split else "several splits"
            raise UsageError(name, f"{found} of {one}", "one of " + ", ".join(splits), f"Name it: {name}?split=NAME")
        chosen.append(splits[split] if split else next(iter(splits.values())))
    return [file for part in chosen for file in _readable(name, folder, part)]


def _snapshot(name: str, repository: str, revision: str | None) -> Path:
    """Return the folder of a data set in the hub's cache, after downloading it if the hub can be reached."""
    with extras.needed(name, InputError, "download the files, and name them as suites"):
        import huggingface_hub
        from huggingface_hub import constants

    reachable = hub.is_reachable(constants)
    wanted = ["README.md", *(f"*{ending}" for ending in (_TABLE, *_OTHERS))]
    try:
        folder = huggingface_hub.snapshot_download(
            repository, repo_type="dataset", revision=revision, allow_patterns=wanted, local_files_only=not reachable
        )
    except Exception as error:  # huggingface_hub raises exceptions of many types
        cache = constants.HF_HUB_CACHE
        if not reachable:
            what = "this revision of the data set" if revision else "this data set"
            raise InputError(
                name, f"the hub can't be reached, and its cache {cache} does not contain {what}",
                "a data set in the cache", _how_to_download(name),
            ) from error  # fmt: skip
        found = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise InputError(name, found[:300], "the name of a data set on the hub") from error
    return Path(folder)


def _how_to_download(name: str) -> str:
    match = _NAME.fullmatch(name)
    return hub.download(match["repository"], match["revision"], dataset=True) if match else ""


def _parts(folder: Path, repository: str, cure: str) -> list[_Part]:
    """Return the parts of a data set, as its card describes them, or else by the names of its folders and files."""
    paths = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file()]
    data = [path for path in paths if path.endswith((_TABLE, *_OTHERS)) and not path.endswith(_ABOUT)]
    grouped: dict[tuple[str, str], list[Path]] = {}
    if described := list(_described(folder)):
        for config, split, patterns in described:
            matches = [path for path in data if any(fnmatch(path, pattern) for pattern in patterns)]
            if not matches:
                raise InputError(
                    f"hf:{repository}/{config}", f"no files of the split {split}", ", ".join(patterns),
                    f"Not all of the data set is in the cache. {cure}",
                )  # fmt: skip
            grouped[config, split] = [folder / path for path in matches]
    else:
        tables = [path for path in data if path.endswith(_TABLE)]
        for path in tables or data:
            first = path.partition("/")[0] if "/" in path else "data"
            config = repository.rpartition("/")[2] if first == "data" else first
            split = match[1] if (match := _SPLIT.search(Path(path).stem.lower())) else "all"
            grouped.setdefault((config, split), []).append(folder / path)
    return [_Part(config, split, tuple(group)) for (config, split), group in grouped.items()]


def _described(folder: Path) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Yield configuration, split and patterns of files from the card of a data set."""
    from huggingface_hub.repocard import metadata_load

    card = folder / "README.md"
    try:
        configs = (metadata_load(card) or {}).get("configs") if card.is_file() else None
    except Exception as error:  # the YAML of a card is written by hand
        raise InputError(str(card), f"a card that can't be read: {str(error).splitlines()[0]}", "YAML") from error
    for config in configs or []:
        name, data = str(config.get("config_name", "default")), config.get("data_files")
        if not data:
            raise InputError(
                f"{card}, {name}", "a configuration without data_files", "the files of each split",
                "Download the files, and name them as suites.",
            )  # fmt: skip
        if isinstance(data, Mapping):
            data = [{"split": split, "path": path} for split, path in data.items()]
        for entry in data if isinstance(data, list) else [data]:
            split = str(entry.get("split", "train")) if isinstance(entry, Mapping) else "train"
            if not _SPLIT_NAME.fullmatch(split):  # it becomes the name of a folder
                raise InputError(f"{card}, {name}", f"the split {split!r:.60}", "letters, digits, _, - and full stops")
            patterns: Any = entry.get("path") if isinstance(entry, Mapping) else entry
            yield name, split, [patterns] if isinstance(patterns, str) else list(patterns)


def _readable(name: str, folder: Path, part: _Part) -> list[Path]:
    """Return the files of a part as formats read them."""
    for file in part.files:
        _refuse_damaged(name, file)
    if shards := [match for file in part.files if (match := _SHARD.search(file.name))]:
        present, expected = {match[1] for match in shards}, int(shards[0][2])
        if len(present) < expected:
            raise InputError(
                f"{name}, {part.config}", f"{len(present)} of {expected} files", "all files",
                f"Not all of the data set is in the cache. {_how_to_download(name)}",
            )  # fmt: skip
    if part.files[0].suffix != _TABLE:
        return list(part.files)
    import polars as pl

    try:
        frame = pl.concat([pl.read_parquet(regular.checked(file)) for file in part.files])
    except Exception as error:  # polars raises exceptions of many types
        raise InputError(f"{name}, {part.config}", str(error).splitlines()[0], "tables in Parquet") from error
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    place = atomic.inside(cache / "syntagm" / "hub", folder.parents[1].name, "snapshots", folder.name, part.split)
    file = place / f"{part.config.replace('/', '-')}.jsonl"
    content = frame.write_ndjson().encode()
    if not file.is_file() or regular.content(file) != content:
        atomic.make_folder(place)
        atomic.write(file, content)
    return [file]


def _refuse_damaged(name: str, file: Path) -> None:
    """Refuse a file of the hub's cache that does not match its hash, which is the name of large files there."""
    stored = file.resolve()
    if _HASH.fullmatch(stored.name) and hashing.of_file(stored) != stored.name:
        raise InputError(
            f"{name}, {file.name}", "a damaged file in the hub's cache", "content that matches its hash", hub.again(file),
        )  # fmt: skip
