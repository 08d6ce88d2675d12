"""A restricted reader of files that `torch.save` wrote. It reads tensors, plain values and the names of classes.

There are two layouts. Since PyTorch 1.6, a file is a ZIP archive with `data.pkl` and a file for each storage. Before, it
was five pickles in a row (a magic number, the protocol, the system, the value, the keys of the storages), followed by the
length and the bytes of each storage. Old files also contain the source text of modules, which is ignored.

Pickles are interpreted by `io.torch_pickle`, which runs nothing. Tensors are read on demand. Their sizes are checked
against those of the storages, and these against the file.
"""

import io
import re
import struct
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from syntagm.core.errors import InputError
from syntagm.core.io import regular
from syntagm.core.io.torch_pickle import FOREIGN, Machine, Object, Tensor, damaged, kind_of, refusal

_MAGIC, _PROTOCOL = 0x1950A86A20F9469CFC6C, 1001
_MAX_DEPTH = 32
# What the module raises for damaged archives.
_BAD_ZIP = (zipfile.BadZipFile, RuntimeError, ValueError, KeyError, EOFError)


def read(path: Path, classes: Collection[str] = ()) -> Any:
    """Read the value in a file that `torch.save` wrote."""
    try:
        with regular.opened(path) as file:
            head = file.read(4)
            file.seek(0)
            return (_zip if head == b"PK\x03\x04" else _legacy)(path, file, classes)
    except OSError as error:
        raise InputError(str(path), f"can't be read ({error.strerror})", "a readable file") from None


def tensors(value: Any, path: Path) -> dict[str, Tensor]:
    """Return the tensors of a module or of a dictionary of tensors, by their names as in `state_dict()`."""
    if isinstance(value, Object):
        return dict(_parameters(value, "", path, 0))
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return {name: tensor for name, tensor in value.items() if isinstance(tensor, Tensor)}
    raise InputError(str(path), f"a {kind_of(value)}", "a module, or a dictionary of tensors")


def _parameters(module: Object, prefix: str, path: Path, depth: int) -> Iterator[tuple[str, Tensor]]:
    if depth > _MAX_DEPTH:
        raise refusal(path, f"modules in {prefix[:40]}... more than {_MAX_DEPTH} deep", "fewer levels")
    for part in ("_parameters", "_buffers", "_modules"):
        for name, value in _mapping(module.state.get(part)).items():
            if isinstance(value, Tensor):
                yield f"{prefix}{name}", value
            elif isinstance(value, Object):
                yield from _parameters(value, f"{prefix}{name}.", path, depth + 1)


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, dict) else {}


def _zip(path: Path, file: BinaryIO, classes: Collection[str]) -> Any:
    whole = file.seek(0, io.SEEK_END)
    try:
        with zipfile.ZipFile(file) as archive:
            entries = {entry.filename: entry for entry in archive.infolist()}
            roots = [name.removesuffix("data.pkl") for name in entries if re.fullmatch(r"[^/]+/data\.pkl", name)]
            if len(roots) != 1:
                raise InputError(str(path), f"a ZIP archive with {len(roots)} files data.pkl", "one", FOREIGN)
            [root] = roots
            for entry in entries.values():
                # A compressed entry could be far larger than the file.
                if entry.compress_type != zipfile.ZIP_STORED or entry.file_size > whole:
                    raise refusal(path, f"compressed content ({entry.filename:.100})", "stored content")
            if f"{root}byteorder" in entries and archive.read(f"{root}byteorder") != b"little":
                raise refusal(path, "big-endian numbers", "little-endian numbers")
            with archive.open(f"{root}data.pkl") as pickled:
                machine = Machine(path, classes)
                value = machine.run(pickled)
    except _BAD_ZIP as error:
        raise damaged(path, error) from None
    for key, storage in machine.storages.items():
        found = entries.get(f"{root}data/{key}")
        if found is None or found.file_size != storage.size:
            size = "missing" if found is None else f"of {found.file_size:,} bytes"
            raise InputError(str(path), f"the storage {key!r:.60} is {size}", f"{storage.size:,} bytes", FOREIGN)
        storage.read = _entry(path, found.filename)
    return value


def _entry(path: Path, name: str) -> Callable[[], bytes]:
    def content() -> bytes:
        try:
            with regular.opened(path) as file, zipfile.ZipFile(file) as archive:
                return archive.read(name)
        except (*_BAD_ZIP, OSError) as error:
            raise damaged(path, error) from None

    return content


def _legacy(path: Path, file: BinaryIO, classes: Collection[str]) -> Any:
    machine = Machine(path, classes)
    begins = file.read(1) == b"\x80"
    file.seek(0)
    if not begins or machine.run(file) != _MAGIC or machine.run(file) != _PROTOCOL:
        raise InputError(str(path), "not a PyTorch file", "a ZIP archive or a legacy file of torch.save", FOREIGN)
    if _mapping(machine.run(file)).get("little_endian") is not True:
        raise refusal(path, "numbers that are not little-endian", "little-endian numbers")
    value, keys = machine.run(file), machine.run(file)
    is_list = isinstance(keys, list) and all(isinstance(key, str) for key in keys)
    if not is_list or sorted(keys) != sorted(machine.storages):
        raise refusal(path, "a list of storages that differs from those used", "the same storages")
    place, end = file.tell(), file.seek(0, io.SEEK_END)
    for key in keys:
        storage = machine.storages[key]
        file.seek(place)
        stored = struct.unpack("<q", file.read(8).ljust(8, b"\xff"))[0]
        if stored != storage.count or place + 8 + storage.size > end:
            found = f"the storage {key!r:.60} has {stored:,} numbers, {max(0, end - place - 8):,} bytes left"
            raise InputError(str(path), found, f"{storage.count:,} numbers, {storage.size:,} bytes", FOREIGN)
        storage.read = _part(path, place + 8, storage.size)
        place += 8 + storage.size
    if place != end:
        raise refusal(path, f"{end - place:,} bytes after the last storage", "none")
    return value


def _part(path: Path, first: int, size: int) -> Callable[[], bytes]:
    def content() -> bytes:
        with regular.opened(path) as file:
            file.seek(first)
            return file.read(size)

    return content
