"""Records: JSON files with a seal, and the refusal to resume work with other settings than those in its record.

The last entry of a sealed object, `"seal"`, is the SHA-256 of all that precedes it in the file or line. A record in which one
byte was damaged or edited is refused. `syntagm seal` renews the seal after an intended change.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from syntagm.core.errors import InputError, RunError, SyntagmError
from syntagm.core.io import atomic, json as strict_json, regular, shape
from syntagm.core.io.shape import Shape

# The shape of the entry `renewed` of a record: when its seal was renewed, and which files had changed.
RENEWED: Shape = [{"when": str, "changed": [str]}]
_SEAL = re.compile(rb',\s*"seal": "([0-9a-f]{64})"(?:,\s*"([a-z]+)": -?[0-9]{1,18})?\s*\}\n?\Z')
# No seal is longer, with the number after it and the white space around them.
_LONGEST = 160


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of record."""

    name: str  # a description of the file, for messages
    format: int  # the number of its format, which is the entry `format` of the record
    # The shape of the record (see `io.shape`), or a function from a record to its shape.
    shape: Shape | Callable[[Mapping[str, Any]], Shape]
    cure: str  # the fix if the file is damaged; `{folder}` stands for its folder
    # The fix if the file has another format.
    other_format: str = "Another version of Syntagm wrote it: use that version, or recreate it in a new folder."
    # Earlier formats that are read, too -> a function that gives the content in this format.
    earlier: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = field(default_factory=dict)
    # An entry that stands after the seal, which doesn't cover it: a whole number that says nothing of the content, and
    # may change without it. "" if there is none.
    beside: str = ""

    def write(self, path: Path, content: Mapping[str, Any]) -> None:
        """Write a record with its seal atomically."""
        covered = {"format": self.format, **content}
        beside = {self.beside: covered.pop(self.beside)} if self.beside in covered else {}
        atomic.write(path, sealed(covered, 1, beside).encode() + b"\n")

    def read(self, path: Path, refuse: type[SyntagmError] = RunError) -> dict[str, Any]:
        """Read a record without its seal."""
        content, whole = self._parsed(path, refuse)
        if not whole:
            found = "damaged or edited: its content does not fit its seal"
            expected = f"{self.name} as it was written"
            raise refuse(str(path), found, expected, self.cure.format(folder=path.parent))
        return content

    def renewed(self, path: Path) -> dict[str, Any] | None:
        """Read a record to be sealed again after an intended change. Its entry `renewed` gives the time."""
        content, whole = self._parsed(path, RunError)
        note = {"when": datetime.now(UTC).isoformat(timespec="seconds"), "changed": [path.name]}
        return None if whole else content | {"renewed": [*content.get("renewed", []), note]}

    def _parsed(self, path: Path, refuse: type[SyntagmError]) -> tuple[dict[str, Any], bool]:
        """Parse a record and check its format and shape. Return it without its seal, and whether the seal matches."""
        cure = self.cure.format(folder=path.parent)
        try:
            text = regular.content(path)
        except OSError as error:
            raise refuse(str(path), f"can't be read ({error.strerror})", self.name, cure) from error
        whole = is_sealed(text, self.beside)
        try:
            content = own(text, str(path)) if whole else strict_json.record(path, refuse, self.name, cure)
            content.pop("seal", None)
            written: Any = content.get("format")
            formats = (*self.earlier, self.format)
            if type(written) is not int or written not in formats:
                cure = self.other_format.format(folder=path.parent)
                found = f"format {shape.shown(content.get('format'))}"
                raise InputError(str(path), found, "format " + " or ".join(map(str, formats)))
            shape.check(content, self.shape(content) if callable(self.shape) else self.shape, str(path))
            if upgrade := self.earlier.get(written):
                content = upgrade(content)
        except InputError as error:
            raise refuse(error.place, error.found, error.expected, cure) from error
        return content, whole


def own(content: bytes, place: str) -> dict[str, Any]:
    """Parse a sealed object, whose seal must already be checked."""
    value = strict_json.own(content, place)
    if not isinstance(value, dict):
        raise InputError(place, shape.shown(value), "an object in braces")
    return value


def sealed(content: Mapping[str, Any], indent: int | None = None, beside: Mapping[str, int] | None = None) -> str:
    """Return an object as JSON with its seal as the last entry, on one line or indented.

    >>> line = sealed({"n": 1})
    >>> line[:18], is_sealed(line.encode()), is_sealed(line.replace("1", "2").encode())
    ('{"n": 1, "seal": "', True, False)
    """
    body = json.dumps(content, indent=indent, ensure_ascii=indent is None, default=str)[:-1].rstrip()
    between, end = (", ", "}") if indent is None else (",\n" + " " * indent, "\n}")
    after = "".join(f'{between}"{name}": {number}' for name, number in (beside or {}).items())
    return f'{body}{between}"seal": "{hashlib.sha256(body.encode()).hexdigest()}"{after}{end}'


def is_sealed(content: bytes, beside: str = "") -> bool:
    """Return whether the last entry of an object is its seal, but for one number of this name (see `Form.beside`)."""
    match = _SEAL.search(content, max(0, len(content) - _LONGEST))
    if match is None or match[2] not in (None, beside.encode()):
        return False
    return match[1].decode() == hashlib.sha256(content[: match.start()]).hexdigest()


def encoded(content: Mapping[str, Any]) -> bytes:
    """Return settings as JSON without a seal, for files of a sealed folder."""
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def refuse_another(
    place: str | Path, kind: str, recorded: Mapping[str, Any], current: Mapping[str, Any], cure: str
) -> None:
    """Refuse to resume work if its recorded settings differ from the current ones. The message names each difference.

    >>> refuse_another("out", "a run", {"n": 3, "by": {"word": "yes"}}, {"n": 3, "by": {"word": "no"}}, "Choose another.")
    Traceback (most recent call last):
    syntagm.core.errors.RunError: out: a run with by.word = 'yes'; expected by.word = 'no'. Choose another.
    """
    if different := differences(recorded, current):
        found = ", ".join(f"{path} = {old!r}" for path, (old, _) in different.items())
        expected = ", ".join(f"{path} = {new!r}" for path, (_, new) in different.items())
        raise RunError(str(place), f"{kind} with {found}", expected, cure)


def differences(recorded: Mapping[str, Any], current: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the settings that differ: path -> recorded and current value; None for a missing value.

    >>> differences({"size": {"layers": 2, "tied": True}, "version": "1"}, {"size": {"layers": 3, "tied": True}})
    {'size.layers': (2, 3)}
    """
    # Keys that only the record has are ignored, because it may contain more. JSON has no tuples: they are compared as lists.
    different: dict[str, tuple[Any, Any]] = {}
    for key, value in json.loads(json.dumps(dict(current))).items():
        _compare(key, recorded.get(key), value, different)
    return different


def _compare(path: str, recorded: Any, current: Any, different: dict[str, tuple[Any, Any]]) -> None:
    if isinstance(recorded, Mapping) and isinstance(current, Mapping):
        for key in {**current, **recorded}:
            _compare(f"{path}.{key}", recorded.get(key), current.get(key), different)
    elif recorded != current:
        different[path] = (recorded, current)
