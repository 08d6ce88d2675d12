"""A disk that fails: command lines of syntagm under the shim, and the states that a power cut can leave."""

import json
import os
import random
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
COMPILER = shutil.which("gcc")
KILL, TORN = -1, -2
_HEAD = struct.Struct("<cIIqQ")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command line ended: its exit code, or minus the number of the signal that killed it, and what it printed."""

    code: int
    printed: str


class Disk:
    """A folder in which command lines are run, each in a fresh process whose calls to the disk can fail.

    Arguments:
        folder: where everything goes; emptied by each trial.
        preload: whether the libraries that all commands load are loaded in advance: worth it from a dozen trials on.
    """

    def __init__(self, folder: Path, preload: bool = True) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        library = folder / "shim.so"
        subprocess.run(
            [COMPILER or "gcc", "-O1", "-shared", "-fPIC", "-o", library, HERE / "shim.c", "-ldl"], check=True
        )
        # Commands always run under the same path: records name folders.
        self.root, self._output, self._log = folder / "root", folder / "output", folder / "log"
        package = str(HERE.parents[1])
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])]),
            "LD_PRELOAD": str(library), "OMP_NUM_THREADS": "1", "SYNTAGM_CACHE": str(self.root / "cache" / "answers.sqlite"),
            "COLUMNS": "200",
        }  # fmt: skip
        program = [sys.executable, str(HERE / "server.py"), "preload" if preload else ""]
        self._server = subprocess.Popen(
            program, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._server.stdout
        assert self._server.stdout.readline() == "ready\n"

    def close(self) -> None:
        """End the server."""
        self._server.communicate()

    def run(
        self, line: Sequence[str], at: int = 0, fault: int = 0, on: bool = False, log: bool = False, bare: bool = False
    ) -> Outcome:
        """Run a command line.

        Arguments:
            line: the arguments of `syntagm`.
            at: the number of the call to the disk that fails, from 1.
            fault: the error number with which it fails; KILL, or TORN for a kill in the middle of a write; 0 for none.
            on: whether all later calls fail, too.
            log: whether to log all calls, for `calls`.
            bare: whether to leave the shim unarmed.
        """
        request = {
            "line": list(line), "folder": str(self.root), "output": str(self._output), "at": at, "fault": fault,
            "on": int(on), "log": str(self._log) if log else "", "seconds": 120, "bare": bare,
        }  # fmt: skip
        print(json.dumps(request), file=self._server.stdin, flush=True)
        code = int(self._server.stdout.readline())
        return Outcome(code, self._output.read_text(errors="replace"))

    def calls(self) -> list["Call"]:
        """Return the logged calls of the last command line."""
        return list(_calls(self._log.read_bytes()))

    def save(self, target: Path) -> None:
        """Copy the folder to another place."""
        shutil.copytree(self.root, target)

    def restore(self, source: Path) -> None:
        """Make the folder a copy of another one."""
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(source, self.root)

    def tree(self) -> dict[str, bytes]:
        """Return the files of the folder; for a folder, its name with a slash."""
        return tree(self.root)


def tree(folder: Path) -> dict[str, bytes]:
    """Return the content of each file below a folder by its path; folders end in a slash."""
    files = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() or path.is_dir():  # not a pipe, whose end would never come
            files[f"{name}/" if path.is_dir() else name] = b"" if path.is_dir() else path.read_bytes()
    return files


@dataclass(frozen=True, slots=True)
class Call:
    """A call that changed something below the folder: kind, path, second path or number, and data."""

    kind: str
    path: str
    other: str
    number: int
    data: bytes


def _calls(log: bytes) -> Iterator[Call]:
    place = 0
    while place < len(log):
        kind, path, other, number, size = _HEAD.unpack_from(log, place)
        place += _HEAD.size
        names = log[place : place + path].decode(), log[place + path : place + path + other].decode()
        place += path + other
        yield Call(kind.decode(), *names, number, log[place : place + size])
        place += size


@dataclass(slots=True)
class _Node:
    """A file or a folder: what it holds, and what of that a power cut leaves."""

    folder: bool
    content: bytearray = field(default_factory=bytearray)
    durable: bytes = b""
    entries: dict[str, "_Node"] = field(default_factory=dict)
    durable_entries: dict[str, "_Node"] = field(default_factory=dict)


class Replay:
    """The state of a disk in the course of the logged calls.

    What is written is durable after an fsync of the file; a name, a rename or a removal after an fsync of its folder.
    """

    def __init__(self, start: Path, root: Path) -> None:
        self._root = root
        self._top = _read(start)

    def apply(self, call: Call) -> None:
        """Apply one call."""
        if call.path.endswith(" (deleted)"):
            return
        parent, name = self._place(call.path)
        if call.kind == "o":
            if call.number or name not in parent.entries:
                parent.entries[name] = _Node(False)
            else:
                parent.entries[name].content.clear()
        elif call.kind == "m":
            parent.entries[name] = _Node(True)
        elif call.kind in "ud":
            parent.entries.pop(name, None)
        elif call.kind == "r":
            target, new = self._place(call.other)
            target.entries[new] = parent.entries.pop(name)
        elif call.kind == "s":
            if call.number:
                parent.entries.setdefault(name, _Node(False)).content[:] = call.data
            _sync(self._node(call.path))
        elif call.kind == "w":
            content = parent.entries.setdefault(name, _Node(False)).content
            content.extend(bytes(max(0, call.number - len(content))))
            content[call.number : call.number + len(call.data)] = call.data
        elif call.kind == "t":
            content = self._node(call.path).content
            content.extend(bytes(max(0, call.number - len(content))))
            del content[call.number :]

    def files(self) -> dict[str, bytes]:
        """Return the files and folders as they are."""
        return dict(_files(self._top, "", None, None))

    def after_a_cut(self, way: str, draw: random.Random) -> dict[str, bytes]:
        """Return the files and folders after a power cut.

        Arguments:
            way: `lost`: nothing is there that was not synced; `names`: names are there, contents that were not synced are
                not; `some`: each name and each content that was not synced is there or not, by chance.
            draw: the random numbers of `some`.
        """
        names = {"lost": lambda: False, "names": lambda: True, "some": lambda: draw.random() < 0.5}[way]
        contents = {"lost": lambda: False, "names": lambda: False, "some": lambda: draw.random() < 0.5}[way]
        return dict(_files(self._top, "", names, contents))

    def _place(self, path: str) -> tuple[_Node, str]:
        *folders, name = Path(path).relative_to(self._root).parts or (".",)
        node = self._top
        for folder in folders:
            node = node.entries[folder]
        return node, name

    def _node(self, path: str) -> _Node:
        parent, name = self._place(path)
        return self._top if name == "." else parent.entries[name]


def _read(path: Path) -> _Node:
    if path.is_dir():
        node = _Node(True, entries={each.name: _read(each) for each in path.iterdir()})
    else:
        node = _Node(False, content=bytearray(path.read_bytes()))
    _sync(node)
    return node


def _sync(node: _Node) -> None:
    node.durable, node.durable_entries = bytes(node.content), dict(node.entries)


def _files(node: _Node, place: str, names: object, contents: object) -> Iterator[tuple[str, bytes]]:
    entries = node.entries
    if callable(names):
        entries = dict(node.durable_entries)
        for name in sorted(node.entries.keys() | node.durable_entries.keys()):
            if node.entries.get(name) is not node.durable_entries.get(name) and names():
                entries.pop(name, None)
                if name in node.entries:
                    entries[name] = node.entries[name]
    for name, child in sorted(entries.items()):
        if child.folder:
            yield f"{place}{name}/", b""
            yield from _files(child, f"{place}{name}/", names, contents)
        else:
            kept = not callable(contents) or bytes(child.content) == child.durable or contents()
            yield f"{place}{name}", bytes(child.content) if kept else child.durable


def write_tree(files: dict[str, bytes], folder: Path) -> None:
    """Make a folder with these files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in files.items():
        path = folder / name
        if name.endswith("/"):
            path.mkdir(exist_ok=True)
        else:
            path.write_bytes(content)
