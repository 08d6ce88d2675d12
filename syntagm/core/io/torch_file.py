"""A restricted reader of files that `torch.save` wrote. It reads tensors, plain values and the names of classes.

There are two layouts. Since PyTorch 1.6, a file is a ZIP archive with `data.pkl` and a file for each storage. Before, it
was five pickles in a row (a magic number, the protocol, the system, the value, the keys of the storages), followed by the
length and the bytes of each storage. Old files also contain the source text of modules, which is ignored.

A pickle is a program. The interpreter here knows the instructions that describe values: nothing is imported, called or
created but built-in types and three classes. Every name in the pickle must be in a table. An object of another class, such as
a module of PyTorch, becomes an `Object`: its name and its attributes. `io.pickle` reads plain pickles with a part of it.

Tensors are read on demand. Their sizes are checked against those of the storages, and these against the file.
"""

import io
import pickletools
import re
import struct
import warnings
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from syntagm.core.errors import InputError
from syntagm.core.io import regular

_CURE = "Don't load this file with other programs unless you trust its author: a pickle can run arbitrary code."
FOREIGN = "Is it a file that torch.save wrote, and was it downloaded completely?"
_STORAGE = re.compile(r"torch(?:\.cuda)?\.(\w+)Storage")
_DTYPES = {
    "Float": "<f4", "Half": "<f2", "BFloat16": "<u2", "Double": "<f8", "Long": "<i8", "Int": "<i4", "Short": "<i2",
    "Char": "i1", "Byte": "u1", "Bool": "?",
}  # fmt: skip
# Classes of PyTorch whose attributes are read. Nothing of them is imported.
_MODULES = re.compile(r"torch\.nn\.(modules|backends\.thnn)\.[\w.]+")
_MAX_DIMENSIONS = 8

Array: TypeAlias = NDArray[Any]


@dataclass(slots=True)
class Storage:
    """The numbers that tensors are made of."""

    kind: str  # the type of the numbers, e.g. "Float".
    count: int  # the number of numbers
    # A function that returns the bytes; None as long as their place in the file is not known.
    read: Callable[[], bytes] | None = None

    @property
    def size(self) -> int:
        """The number of bytes."""
        return self.count * np.dtype(_DTYPES[self.kind]).itemsize


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor, whose numbers are not yet read."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def array(self) -> Array:
        """Read the numbers. Those of 16 bits become 32-bit floats, without loss."""
        assert self.storage.read
        numbers = np.frombuffer(self.storage.read(), _DTYPES[self.storage.kind])
        if self.storage.kind == "BFloat16":
            numbers = (numbers.astype(np.uint32) << 16).view(np.float32)
        elif self.storage.kind == "Half":
            numbers = numbers.astype(np.float32)
        strides = [stride * numbers.itemsize for stride in self.strides]
        view = np.lib.stride_tricks.as_strided(numbers[self.offset :], self.shape, strides, writeable=False)
        return np.array(view, order="C")


@dataclass(slots=True)
class Object:
    """An object of a class that is not imported."""

    name: str  # the name of its class
    state: dict[str, Any] = field(default_factory=dict)  # its attributes


@dataclass(frozen=True, slots=True)
class _Name:
    """A name in a pickle: of a class or a function."""

    text: str


class _Mark:
    """The beginning of a list of values on the stack."""


class Machine:
    """An interpreter of pickles: what it expects, the cure for another file, and the most instructions that it takes."""

    expected, cure, most = "tensors, plain values and modules of PyTorch", FOREIGN, 20_000_000

    def __init__(self, path: Path, classes: Collection[str]) -> None:
        self.path, self._classes = path, frozenset(classes)
        self.storages: dict[str, Storage] = {}
        self._steps = 0
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        # Texts, numbers and bytes are pushed as they are.
        self._rules: dict[str, Callable[[Any], None]] = {
            **dict.fromkeys(_PLAIN, self._stack.append),
            **dict.fromkeys(("PROTO", "FRAME", "STOP"), lambda _: None),
            **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), self._put),
            **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), lambda index: self._stack.append(self._memo[int(index)])),
            "MEMOIZE": lambda _: self._put(len(self._memo)),
            "MARK": lambda _: self._stack.append(_Mark),
            "NONE": lambda _: self._stack.append(None),
            "NEWTRUE": lambda _: self._stack.append(True),
            "NEWFALSE": lambda _: self._stack.append(False),
            "EMPTY_TUPLE": lambda _: self._stack.append(()),
            "EMPTY_LIST": lambda _: self._stack.append([]),
            "EMPTY_DICT": lambda _: self._stack.append({}),
            "EMPTY_SET": lambda _: self._stack.append(set()),
            "TUPLE": lambda _: self._stack.append(tuple(self._marked())),
            "TUPLE1": lambda _: self._stack.append(tuple(self._take(1))),
            "TUPLE2": lambda _: self._stack.append(tuple(self._take(2))),
            "TUPLE3": lambda _: self._stack.append(tuple(self._take(3))),
            "LIST": lambda _: self._stack.append(self._marked()),
            "DICT": lambda _: self._stack.append(self._pairs(self._marked())),
            "APPEND": lambda _: self._extend(self._take(1)),
            "APPENDS": lambda _: self._extend(self._marked()),
            "SETITEM": lambda _: self._update(self._take(2)),
            "SETITEMS": lambda _: self._update(self._marked()),
            "GLOBAL": lambda names: self._stack.append(self._named(names.replace(" ", ".", 1))),
            # The text of lists in lists could take exponential time.
            "STACK_GLOBAL": lambda _: self._stack.append(
                self._named(".".join(part if isinstance(part, str) else kind_of(part) for part in self._take(2)))
            ),
            "BINPERSID": lambda _: self._stack.append(self._persistent(*self._take(1))),
            "REDUCE": lambda _: self._stack.append(self._made(*self._take(2))),
            "NEWOBJ": lambda _: self._stack.append(self._made(*self._take(2))),
            "BUILD": lambda _: self._build(*self._take(1)),
        }

    def run(self, file: Any) -> Any:
        """Interpret the pickle at the present place of a file, and return its value."""
        self._stack.clear()
        self._memo.clear()
        try:
            with warnings.catch_warnings():
                # A damaged name may contain an invalid escape sequence.
                warnings.simplefilter("ignore")
                for opcode, argument, _ in pickletools.genops(file):
                    self._step(opcode.name, argument)
            [value] = self._stack
        except (ValueError, IndexError, KeyError, OverflowError, TypeError, AttributeError) as error:
            raise damaged(self.path, error, self.cure) from None
        return value

    def _step(self, instruction: str, argument: Any) -> None:
        self._steps += 1
        if self._steps > self.most:
            raise refusal(self.path, f"more than {self.most:,} instructions", "fewer")
        rule = self._rules.get(instruction)
        if rule is None:
            named = "" if argument is None else f" ({str(argument)[:100].replace(' ', '.')})"
            self._refuse(f"the instruction {instruction}{named}")
        rule(argument)

    def _refuse(self, found: str) -> NoReturn:
        raise refusal(self.path, found, self.expected)

    def _put(self, index: Any) -> None:
        self._memo[int(index)] = self._stack[-1]

    def _take(self, number: int) -> list[Any]:
        values = self._stack[-number:]
        if len(values) < number or _Mark in values:
            raise IndexError("too few values")
        del self._stack[-number:]
        return values

    def _marked(self) -> list[Any]:
        values = []
        while (value := self._stack.pop()) is not _Mark:
            values.append(value)
        return values[::-1]

    def _pairs(self, values: list[Any]) -> dict[Any, Any]:
        # Nested tuples as keys could take exponential time to hash.
        for key in values[::2]:
            if not isinstance(key, str | int | None):
                self._refuse(f"a {kind_of(key)} as the key of a dictionary")
        return dict(zip(values[::2], values[1::2], strict=True))

    def _extend(self, values: list[Any]) -> None:
        target = self._stack[-1]
        if not isinstance(target, list):
            self._refuse(f"a {kind_of(target)} in the place of a list")
        target.extend(values)

    def _update(self, values: list[Any]) -> None:
        target = self._stack[-1]
        if not isinstance(target, dict):
            self._refuse(f"a {kind_of(target)} in the place of a dictionary")
        target.update(self._pairs(values))

    def _named(self, text: str) -> _Name:
        storage = _STORAGE.fullmatch(text)
        known = text in _CONSTRUCTORS or (storage and storage[1] in _DTYPES)
        if not known and not _MODULES.fullmatch(text) and text not in self._classes:
            self._refuse(f"the name {text[:100]}")
        return _Name(text)

    def _persistent(self, identity: Any) -> Any:
        match identity:
            case ("module", _Name() as name, *_):
                return name
            case ("storage", _Name() as name, str() as key, str(), int() as count, *view):
                kind = _STORAGE.fullmatch(name.text)
                if kind is None or count < 0:
                    self._refuse(f"a storage of {count:,} numbers of the type {name.text[:100]}")
                if view not in ([], [None]):
                    self._refuse("a view of a storage")
                storage = self.storages.setdefault(key, Storage(kind[1], count))
                if (storage.kind, storage.count) != (kind[1], count):
                    self._refuse(f"the storage {key!r:.60} with two types or sizes")
                return storage
        self._refuse(f"the persistent object {identity!r:.100}")

    def _made(self, name: Any, arguments: Any) -> Any:
        """Return what a call would have made."""
        if not isinstance(name, _Name):
            self._refuse(f"a call of a {kind_of(name)}")
        match _CONSTRUCTORS.get(name.text, "object"), arguments:
            case "dictionary", ():
                return {}
            case "dictionary", (dict() as pairs,):
                return dict(pairs)
            case "dictionary", (list() as pairs,):
                return self._pairs([value for pair in pairs for value in (pair[0], pair[1])])
            case "set", (list(),):
                # What old modules keep in sets is not needed, and hashing it might be costly.
                return set()
            case "size", (tuple() as sizes,):
                return sizes
            case "tensor", (Storage() as storage, int() as offset, tuple() as shape, tuple() as strides, *_):
                return self._tensor(storage, offset, shape, strides)
            case "parameter", (Tensor() as tensor, *_):
                return tensor
            case "object", tuple():
                return Object(name.text)
        self._refuse(f"a call of {name.text[:100]} with other arguments")

    def _tensor(self, storage: Storage, offset: int, shape: tuple[Any, ...], strides: tuple[Any, ...]) -> Tensor:
        whole = all(type(number) is int and number >= 0 for number in (offset, *shape, *strides))
        if not whole or len(shape) != len(strides) or len(shape) > _MAX_DIMENSIONS:
            self._refuse(f"a tensor of the shape {shape!r:.60} with the strides {strides!r:.60}")
        last = offset + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
        # A stride of 0 would make a small storage a large tensor.
        if prod(shape) > storage.count or (prod(shape) and last >= storage.count) or offset > storage.count:
            self._refuse(f"a tensor of the shape {shape!r:.60} in a storage of {storage.count:,} numbers")
        return Tensor(storage, offset, shape, strides)

    def _build(self, state: Any) -> None:
        """Set the attributes of an object. Those of tensors and dictionaries are not needed."""
        target = self._stack[-1]
        if isinstance(target, Object):
            if not isinstance(state, dict):
                self._refuse(f"a {kind_of(state)} as the attributes of {target.name}")
            target.state.update(state)
        elif not isinstance(target, Tensor | dict):
            self._refuse(f"attributes of a {kind_of(target)}")


_PLAIN = (
    "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT", "STRING", "BINSTRING",
    "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8",
)  # fmt: skip
# What the calls in a file make.
_CONSTRUCTORS = {
    "collections.OrderedDict": "dictionary",
    "collections.Counter": "dictionary",
    "builtins.set": "set",
    "__builtin__.set": "set",
    "torch.Size": "size",
    "torch._utils._rebuild_tensor": "tensor",
    "torch._utils._rebuild_tensor_v2": "tensor",
    "torch._utils._rebuild_parameter": "parameter",
    "torch.nn.parameter.Parameter": "parameter",
}


def kind_of(value: Any) -> str:
    """Return what a message calls the value: the name of its class."""
    return value.name if isinstance(value, Object) else type(value).__name__.strip("_").lower()


def refusal(path: Path, found: str, expected: str) -> InputError:
    return InputError(str(path), found, expected, _CURE)


def damaged(path: Path, error: Exception, cure: str = FOREIGN) -> InputError:
    return InputError(str(path), f"damaged ({error!s:.200})", "a whole file", cure)


_MAGIC, _PROTOCOL = 0x1950A86A20F9469CFC6C, 1001
_MAX_DEPTH = 32
# What the module raises for damaged archives.
_BAD_ZIP = (zipfile.BadZipFile, RuntimeError, ValueError, KeyError, EOFError)


def read(path: Path, classes: Collection[str] = ()) -> Any:
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
