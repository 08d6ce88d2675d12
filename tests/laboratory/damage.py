"""Damaged files: each kind of file that a room declares, altered, and the commands that read it."""

import json
import os
import random
import re
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TypeAlias

from syntagm.core import FOLDERS
from syntagm.core.io.integrity import FILES, File

from .disk import KILL, Disk, Outcome
from .lines import LINES, LOOSE, PREPARATION

# Kinds that need no trial: they hold nothing that is read, or are tried as a part of another file.
EXEMPT = {
    "the lock of a folder", "the lock of an unfinished training run", "a file that a killed process left",
    "a file of an unfinished training run", "a damaged file that was set aside", "the log of answers.sqlite",
    "the index of that log",
}  # fmt: skip
_SCORE = ("--suite", "in/pairs.tsv", "-o", "out/run", "--no-report")
_PRODUCTS = {
    "report", "figure", "table", "compare", "export_results", "export_lm_eval", "export_every_eval_ever", "export_arpa",
    "make", "make_pairs", "make_blimp", "convert", "score", "score_parquet", "cite", "describe",
    "reading_table", "reading_fit",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Artefact:
    """A folder with files to damage.

    Arguments:
        kind: the name of its declaration; "" if it holds single files that the user names.
        place: its path below the root.
        readers: command lines that read it.
        again: the command lines that write it, and are given again.
        prepared: the command lines that write it, if they are others.
        killed: the number of the call at which `again` is killed when it writes the artefact, and KILL.
    """

    kind: str
    place: str
    readers: tuple[tuple[str, ...], ...]
    again: tuple[tuple[str, ...], ...]
    prepared: tuple[tuple[str, ...], ...] = ()
    killed: tuple[int, ...] = ()


def _run(place: str, again: tuple[str, ...], prepared: tuple[tuple[str, ...], ...] = ()) -> Artefact:
    results = ("export", place, "--as", "results", "-o", "out/results.csv")
    return Artefact("run", place, (results, ("table", "scores", place, "-o", "out/scores")), (again,), prepared)


def _at(name: str, place: str) -> tuple[str, ...]:
    """Return a line with another output."""
    line = list(LINES[name])
    line[line.index("-o") + 1] = place
    return tuple(line)


def _on_trees(line: tuple[str, ...]) -> tuple[str, ...]:
    """Return a line that reads trees instead of text."""
    return tuple(word.replace(".txt", ".trees") for word in line)


def _with_tests(line: tuple[str, ...]) -> tuple[str, ...]:
    """Return the line of an experiment with a second family, so that it has tests with simulated responses."""
    sizes = {
        "layers": 1,
        "heads": 2,
        "width": 8,
        "window": 16,
        "positions": 128,
        "vocabulary": 300,
        "epochs": 2,
        "warmup": 1,
    }
    options = (f"gpt2.{name}={value}" for name, value in sizes.items())
    return (*("ngram,gpt2" if word == "ngram" else word for word in line), *options, "--bootstrap", "100")


_IMPORTED = ("experiment", "import", "in/people", "-o", "in/answered")
_ASKED = (_at("people", "in/plan"), ("experiment", "simulate", "in/plan", "-o", "in/people"))
ARTEFACTS: Mapping[str, Artefact] = {
    "run": _run("in/run", PREPARATION["run"]),
    "fill": _run("in/fill", _at("fill", "in/fill")),
    "imported": _run("in/imported", _at("import_results", "in/imported")),
    "answered": _run("in/answered", _IMPORTED, (*_ASKED, _IMPORTED)),
    "ngram": Artefact("model", "in/ngram", (("run", "in/ngram", *_SCORE),), (PREPARATION["ngram"],)),
    "lstm": Artefact("model", "in/lstm", (("run", "in/lstm", *_SCORE, "--no-cache"),), (PREPARATION["lstm"],)),
    "parsed": Artefact("model", "in/parsed", (), (_at("train_parsed", "in/parsed"),)),
    "begun": Artefact("model", "in/begun", (), (_at("train_lstm", "in/begun"),), killed=(60, KILL)),
    "cache": Artefact(
        "cache", "cache", (("run", "in/lstm", *_SCORE),), (), (("run", "in/lstm", *_SCORE[:3], "in/cached"),)
    ),
    "people": Artefact(
        "human experiment",
        "in/people",
        (("experiment", "import", "in/people", "-o", "out/people"),),
        (),
        _ASKED,
    ),
    "pages": Artefact("report", "in/pages", (), (_at("report_pages", "in/pages/"),)),
    "experiment": Artefact("experiment", "in/paper", (), (_with_tests(_at("experiment", "in/paper")),)),
    "treebank": Artefact("experiment", "in/treebank", (), (_on_trees(_at("experiment", "in/treebank")),)),
    "products": Artefact("", "out", (), tuple(line for name, line in LINES.items() if name in _PRODUCTS)),
}


def prepare(disk: Disk, artefact: Artefact) -> dict[str, tuple[str, ...]]:
    """Write an artefact into the root, which has the inputs of all lines; return the line that wrote each of its files."""
    writers = {}
    for line in artefact.prepared or artefact.again:
        before = disk.tree()
        outcome = disk.run(line, *artefact.killed)
        assert outcome.code == (-signal.SIGKILL if artefact.killed else 0), f"{line}: {outcome.printed}"
        written = disk.tree().keys() - (set() if artefact.kind else before.keys())
        writers |= {name: line for name in written if artefact.again and name.startswith(artefact.place)}
    return writers


def files(root: Path, artefact: Artefact) -> dict[str, File]:
    """Return the declared kind of each file of an artefact, by its path below the root; exempt kinds are left out."""
    folder = root / artefact.place
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        kind = _kind(artefact, name)
        if kind and kind.name not in EXEMPT:
            found[path.relative_to(root).as_posix()] = kind
    return found


def _kind(artefact: Artefact, name: str) -> File | None:
    if artefact.kind:
        folder = next(folder for folder in FOLDERS if folder.name == artefact.kind)
        return folder.file(name)
    fits = [kind for kind in FILES if Path(name).match(kind.pattern)]
    return max(fits, key=lambda kind: len(kind.pattern), default=None)


class Place(Enum):
    """What takes the place of a file, other than another content."""

    NOTHING = "nothing"
    PIPE = "a pipe to which nobody writes"
    DEVICE = "a link to a device without end"
    LINK = "a link to the file itself, which lies elsewhere"

    def put(self, path: Path, elsewhere: Path) -> None:
        """Put it there.

        Arguments:
            path: the file.
            elsewhere: where the file goes that a link leads to.
        """
        if self is Place.LINK:
            shutil.move(path, elsewhere)
            path.symlink_to(elsewhere)
            return
        path.unlink()
        if self is Place.PIPE:
            os.mkfifo(path)
        elif self is Place.DEVICE:
            path.symlink_to("/dev/zero")


Damage: TypeAlias = Callable[[bytes, random.Random, list[bytes]], bytes | Place]


def flip(content: bytes, draw: random.Random, others: list[bytes]) -> bytes:
    """Flip one bit."""
    place = draw.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << draw.randrange(8)]) + content[place + 1 :]


def truncate(content: bytes, draw: random.Random, others: list[bytes]) -> bytes:
    """Cut off the end."""
    return content[: draw.randrange(len(content))]


def swap(content: bytes, draw: random.Random, others: list[bytes]) -> bytes:
    """Put another file of the same kind in its place."""
    different = [other for other in others if other != content]
    return draw.choice(different) if different else flip(content, draw, others)


def delete(content: bytes, draw: random.Random, others: list[bytes]) -> Place:
    """Delete the file."""
    return Place.NOTHING


def block(content: bytes, draw: random.Random, others: list[bytes]) -> Place:
    """Put something without an end in its place."""
    return draw.choice([Place.PIPE, Place.DEVICE])


def link(content: bytes, draw: random.Random, others: list[bytes]) -> Place:
    """Move the file elsewhere, and put a link in its place."""
    return Place.LINK


def edit(content: bytes, draw: random.Random, others: list[bytes]) -> bytes:
    """Change a value to another valid one: in JSON a string, a number or a flag; in text a digit or a letter; else a byte."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return flip(content, draw, others)
    values = [*re.finditer(r'(?<=: )("[^"\\]*"|-?\d+(\.\d+)?|true|false)|(?<![\w"])\d+(\.\d+)?|\b[a-z]{3,}\b', text)]
    if not values:
        return flip(content, draw, others)
    value = draw.choice(values)
    return f"{text[: value.start()]}{_another(value[0], draw)}{text[value.end() :]}".encode()


def _another(value: str, draw: random.Random) -> str:
    if value in ("true", "false"):
        return {"true": "false", "false": "true"}[value]
    if value == "null":
        return "1"
    if value.startswith('"'):
        return json.dumps(json.loads(value) + "s")
    try:
        return str(json.loads(value) + draw.choice([1, 2]))
    except ValueError:
        return value[:-1] + draw.choice([letter for letter in "aest" if letter != value[-1]])


DAMAGES: tuple[Damage, ...] = (flip, truncate, swap, delete, edit, block, link)


class Damages:
    """Trials of damaged files of one artefact.

    Arguments:
        disk: where the commands run.
        inputs: a folder with the inputs of all lines.
        artefact: what is damaged.
        folder: a new folder, which keeps the artefact as it was written.
    """

    def __init__(self, disk: Disk, inputs: Path, artefact: Artefact, folder: Path) -> None:
        self._disk, self._artefact, self._start = disk, artefact, folder
        self._elsewhere = folder.with_name(f"{folder.name}-elsewhere")
        disk.restore(inputs)
        self._writers = prepare(disk, artefact)
        disk.save(folder)
        self.kinds = files(disk.root, artefact)
        lines = dict.fromkeys((*artefact.readers, *artefact.again))
        self._expected = {line: self._run(line, "", b"") for line in lines}

    def trials(self, number: int, draw: random.Random) -> Iterator[str]:
        """Damage files of all kinds in turn, those first that are checked, in ways by chance; yield what is wrong."""
        kinds = draw.sample(names := list(dict.fromkeys(self.kinds.values())), len(names))
        kinds.sort(key=lambda kind: not kind.checked)
        for turn in range(number):
            kind, damage = kinds[turn % len(kinds)], draw.choice(DAMAGES)
            name = draw.choice([name for name, its in self.kinds.items() if its == kind])
            yield from (f"{damage.__name__} {name}: {problem}" for problem in self.trial(name, damage, draw))

    def trial(self, name: str, damage: Damage, draw: random.Random) -> list[str]:
        """Damage a file, run the commands that read it, and the one that wrote it; return what is wrong."""
        path, kind = self._start / name, self.kinds[name]
        others = [
            (self._start / other).read_bytes() for other, its in self.kinds.items() if its == kind and other != name
        ]
        content = damage(path.read_bytes(), draw, others) if path.stat().st_size else Place.NOTHING
        wrong = []
        for line in self._artefact.readers:
            wrong += self._tried(line, name, content, f"{self._artefact.place}/")
        if line := self._writers.get(name):
            # A file that is never read again may stay as it is, unless the command writes it anew.
            kept = "" if kind.checked or not self._artefact.kind else name
            wrong += self._tried(line, name, content, kept)
        return wrong

    def _tried(self, line: tuple[str, ...], name: str, content: bytes | Place, kept: str) -> list[str]:
        wrong = [*_problems(self._run(line, name, content), self._expected[line], name, kept)]
        if content is Place.LINK and self._elsewhere.read_bytes() != (self._start / name).read_bytes():
            wrong.append("the file that the link leads to was changed")
        return wrong

    def _run(self, line: tuple[str, ...], name: str, content: bytes | Place) -> tuple[Outcome, dict[str, bytes]]:
        """Run a command line on the artefact with one file replaced; with none replaced if there is no name."""
        self._disk.restore(self._start)
        if name and isinstance(content, Place):
            content.put(self._disk.root / name, self._elsewhere)
        elif name:
            (self._disk.root / name).write_bytes(content)
        outcome = self._disk.run(line)
        return outcome, {name: content for name, content in self._disk.tree().items() if not _loose(name)}


def _loose(name: str) -> bool:
    """Tell what may differ: folders, the cache, what was set aside, and counts of cached answers with their hashes."""
    return name.endswith("/") or name.startswith("cache/") or "damaged-" in name or name in LOOSE


def _problems(
    outcome: tuple[Outcome, dict[str, bytes]], expected: tuple[Outcome, dict[str, bytes]], name: str, kept: str
) -> Iterator[str]:
    """Yield what is wrong with an outcome: a refusal must name the file, and without one no file may be different.

    Arguments:
        outcome: exit code, output and files with the damaged file.
        expected: those without damage.
        name: the damaged file.
        kept: the file or, with a slash at the end, the folder that may stay as it is.
    """
    (result, files), (undamaged, whole) = outcome, expected
    if "Traceback" in result.printed:
        yield f"a traceback: {result.printed[-500:]}"
    elif result.code != undamaged.code:
        if result.code != 2 or not any(part in result.printed for part in (Path(name).name, str(Path(name).parent))):
            yield f"exit code {result.code}, and {name} is not named: {result.printed[-300:]}"
    elif different := [
        other
        for other in sorted(files.keys() | whole.keys())
        if files.get(other) != whole.get(other)
        and not (other == kept or (kept.endswith("/") and other.startswith(kept)))
        # A unit that was computed again, with a warning, has a second line in the ledger, whose hash the report shows.
        and not ("damaged" in result.printed and Path(other).name in ("ledger.jsonl", "run.json", "report.html"))
    ]:
        yield f"done, but different: {', '.join(different)}"
