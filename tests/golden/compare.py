"""Compare two records byte for byte, but for what was renamed on purpose."""

import csv
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from . import align

RENAMES = Path(__file__).with_name("renames.csv")
# Classes of files, by their endings; all others hold numbers.
KINDS = {"drawings": (".svg", ".vl.json", ".css", ".js"), "words": (".md", ".tex", ".txt", ".said", ".bib")}
_SHOWN, _WIDTH = 3, 160


@dataclass(frozen=True, slots=True)
class Rename:
    """A line of `renames.csv`: something that is called otherwise, or gone, or new, on purpose.

    Arguments:
        where: `view`, a name of `syntagm table` and `syntagm figure`; `option`, one of `syntagm train`; `file`, a pattern of the
            names of kept files; or such a pattern, in whose files `old` is called `new` now.
        old: without it, lines with `new` in them are new, and passed over.
        new: without it, lines with `old` in them are gone, and passed over.
    """

    where: str
    old: str
    new: str
    reason: str


def renames(path: Path = RENAMES) -> list[Rename]:
    """What was renamed on purpose."""
    with path.open(newline="") as file:
        return [Rename(**row) for row in csv.DictReader(file)]


def digest(files: Mapping[str, str]) -> str:
    """One hash of all that a step keeps."""
    found = hashlib.sha256()
    for name in sorted(files):
        found.update(f"{name}\0{hashlib.sha256(files[name].encode()).hexdigest()}\n".encode())
    return found.hexdigest()


def kind(name: str) -> str:
    """`numbers`, `words` or `drawings`."""
    return next((one for one, endings in KINDS.items() if name.endswith(endings)), "numbers")


def compare(old: Path, new: Path, only: Iterable[str] = (), path: Path = RENAMES) -> int:
    """Print how two records differ; the number of files that do.

    Arguments:
        only: some of the kinds of files; all unless given.
        path: the list of what was renamed.
    """
    if old.suffix == ".json":
        return _compare_digests(old, new)
    _warn(old, new)
    listed, kinds = renames(path), set(only)
    here = {_file(name, listed): place for name, place in _kept(old).items()}
    there = _kept(new)
    names = [name for name in sorted(here.keys() | there.keys()) if not kinds or kind(name) in kinds]
    different: dict[str, int] = {}
    for name in names:
        if name in here and name in there:
            found = _difference(name, here[name], there[name], listed)
        else:
            found = "only in the old record" if name in here else "only in the new record"
            if any(
                fnmatch(name, row.old or row.new) and not (row.old and row.new) for row in listed if row.where == "file"
            ):
                found = ""
        if found:
            print(f"{name}: {found}")
            different[kind(name)] = different.get(kind(name), 0) + 1
    told = ", ".join(f"{count} of {one}" for one, count in different.items())
    print(f"{len(names)} files compared; " + (f"different: {told}" if told else "all are the same"))
    return sum(different.values())


def _kept(record: Path) -> dict[str, Path]:
    folder = record / "kept"
    if not folder.is_dir():
        raise SystemExit(f"{record}: no record; make one with `python -m tests.golden record {record}`")
    return {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}


def _file(name: str, listed: Iterable[Rename]) -> str:
    for row in listed:
        if row.where == "file" and row.old and row.new:
            name = name.replace(row.old, row.new)
    return name


def _difference(name: str, old: Path, new: Path, listed: Iterable[Rename]) -> str:
    if old.read_bytes() == new.read_bytes():
        return ""
    a, b = (path.read_bytes().decode().split("\n") for path in (old, new))
    for row in listed:
        if row.where in ("view", "option", "file") or not fnmatch(name, row.where):
            continue
        if row.old and row.new:
            a = [line.replace(row.old, row.new) for line in a]
        elif row.old:
            a = [line for line in a if row.old not in line]
        else:
            b = [line for line in b if row.new not in line]
    views = {row.old: row.new for row in listed if row.where == "view"}
    there = set(b)
    a = [line if line in there or (other := _viewed(line, views)) not in there else other for line in a]
    return _told(a, b)


def _told(a: Sequence[str], b: Sequence[str]) -> str:
    """How many lines differ, and the first of them; "" if none do."""
    if not (found := align.blocks(a, b)):
        return ""
    counts = {
        "changed": sum(align.changed(a, b, block) for block in found),
        "added": sum(block.added for block in found),
        "removed": sum(block.removed for block in found),
    }
    told = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    shown = [
        _shown(a[block.first : block.last], b[block.new_first : block.new_last], block.first)
        for block in found[:_SHOWN]
    ]
    return f"{sum(counts.values()):,} of {max(len(a), len(b)):,} lines ({told})" + "".join(shown)


def _shown(a: Sequence[str], b: Sequence[str], k: int) -> str:
    """The first line of each side of a difference; k: its number, from 0."""
    one, other = (side[0] if side else "" for side in (a, b))
    return f"\n  line {k + 1}" + f"\n  - {_around(one, other)}" * bool(a) + f"\n  + {_around(other, one)}" * bool(b)


def _viewed(line: str, views: Mapping[str, str]) -> str:
    """The line with views called by their new names: plain words only where they are meant as names."""
    for old, new in views.items():
        if old in line:
            line = line.replace(old, new) if "_" in old else re.sub(rf"\b(table|figure) {old}\b", rf"\1 {new}", line)
    return line


def _around(line: str, other: str) -> str:
    """A line, from shortly before the place where it begins to differ."""
    first = next((j for j, (one, two) in enumerate(zip(line, other, strict=False)) if one != two), 0)
    start = max(0, first - _WIDTH // 2) if len(line) > _WIDTH else 0
    return ("..." if start else "") + line[start : start + _WIDTH]


def _warn(old: Path, new: Path) -> None:
    a, b = (json.loads((one / "record.json").read_text())["surroundings"] for one in (old, new))
    if odd := [f"{key} {a.get(key)} and {b.get(key)}" for key in a.keys() | b.keys() if a.get(key) != b.get(key)]:
        print(f"these records are of different surroundings, floats may differ: {', '.join(sorted(odd))}")


def _compare_digests(old: Path, new: Path) -> int:
    a = json.loads(old.read_text())
    b = json.loads((new / "record.json").read_text())
    if a["surroundings"] != b["surroundings"]:
        print("the digests are of other surroundings (machine, libraries), floats may differ")
    steps = [name for name in b["digests"] if name in a["digests"]]
    different = [name for name in steps if a["digests"][name] != b["digests"][name]]
    print("".join(f"{name}: another digest\n" for name in different) + f"{len(steps)} steps, {len(different)} differ")
    return len(different)
