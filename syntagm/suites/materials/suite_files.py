"""Reading and generating suites from any number of files, folders, patterns and bundled collections."""

import glob
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypeAlias

from syntagm.core import InputError, UsageError, public, shown
from syntagm.suites.formats import template
from syntagm.suites.materials import hub, packed
from syntagm.suites.materials.reading import (
    WORKBOOKS,
    claimed,
    exists,
    formats,
    options_of,
    read_suite_file,
    unclaimed,
    with_options,
)
from syntagm.suites.suite import Suite

_MATERIALS = Path(__file__).resolve().parent


def expand(arguments: Sequence[str], skipped: list[str] | None = None) -> list[str]:
    """Return the files that arguments name, in order, each with its options."""
    # An argument is a bundled collection (`hu2020`), a suite of a collection (`hu2020/mvrr`), a file, a folder or an
    # archive (which mean all files in them that a format recognises), a data set of the hub (`hf:ORG/NAME`), or a
    # pattern with `*`. In folders and patterns, hidden files, READMEs, and a CSV next to a JSON file of the same name
    # are skipped. Options after `?` apply to each file.
    files: list[str] = []
    for argument in arguments:
        name, options = options_of(argument)
        if name.startswith(hub.PREFIX):
            files += _on_hub(name, options)
            continue
        if name and (bundled := _bundled(name)):
            files += [with_options(str(file), ({"suite": suite} if suite else {}) | options) for file, suite in bundled]
            continue
        paths = _on_disk(name) if name else []
        if paths == [Path(name)] and packed.is_archive(Path(name)):
            paths = _files(packed.unpacked(Path(name), _endings(), skipped))
        if paths != [Path(name)]:
            # A language names no format, so that files of other kinds are skipped as without it.
            paths = _sift(paths, {name: value for name, value in options.items() if name != "language"}, skipped)
        if not paths:
            raise _nothing(argument, name)
        ending = argument[len(name) :]
        files += [f"{file}{ending}" for file in paths]
    return list(dict.fromkeys(files))


def _on_hub(name: str, options: dict[str, str]) -> list[str]:
    """Return the files of a data set of the hub; refuse a layout that no format recognises."""
    split = options.pop("split", "")
    files = hub.files(name, split)
    for file in files:
        if not options and len(claimed(file)) != 1:
            found, _ = unclaimed(file)
            raise InputError(
                f"{name}, {file.stem}", found, "columns of a known format, such as sentence_good and sentence_bad",
                f"Name the columns: {name}?good=COLUMN&bad=COLUMN, and add &label=COLUMN if a column says which is good.",
            )  # fmt: skip
    return [with_options(str(file), options) for file in files]


def _nothing(argument: str, name: str) -> UsageError:
    if name and exists(Path(name)):
        what = "archive" if packed.is_archive(Path(name)) else "folder"
        return UsageError(argument, f"no suites in this {what}", "files in a known format")
    expected = "a file, a folder, a pattern or a bundled collection: " + (
        ", ".join(collections()) or "none is installed"
    )
    if bundled := [
        f"{place.name}/{name}" for place in sorted(_folders()) if name in (file.stem for file in _in_collection(place))
    ]:
        cure = f"Did you mean {' or '.join(bundled)}?"
    else:
        # A plain word may be meant as the name of a published data set.
        cure = "A data set of the Hub is written with its organisation: hf:nyu-mll/blimp." if name.isalnum() else ""
    return UsageError(argument, "no such file, folder or collection", expected, cure)


def collections() -> list[str]:
    """Return the names of the bundled collections, which are the folders of `syntagm/suites/materials` with suites."""
    return sorted(place.name for place in _folders() if _in_collection(place))


def _folders() -> list[Path]:
    return [place for place in _MATERIALS.iterdir() if place.is_dir()] if _MATERIALS.is_dir() else []


def bundled_suites(collection: str) -> list[str]:
    """Return the names of the suites of a bundled collection; empty if there is no such collection.

    >>> "mvrr" in bundled_suites("hu2020")
    True
    """
    return sorted(suite for file, _ in _bundled(collection) for suite in _suites(file))


def _bundled(name: str) -> list[tuple[Path, str]]:
    """Return the files of a bundled collection, or the file of one suite."""
    # Each file comes with the name of the suite to read, or "" for all suites of the file.
    collection, _, suite = name.rstrip("/").partition("/")
    # Only listed names are accepted, so that nothing typed is joined to the path of the package. Only the named folder is
    # read, since this is asked about every argument.
    files = [file for place in _folders() if place.name == collection for file in _in_collection(place)]
    if not files or not suite:
        return [(file, "") for file in files]
    known = {suite_name: file for file in files for suite_name in _suites(file)}
    if suite in known:
        file = known[suite]
        return [(file, suite if len(_suites(file)) > 1 else "")]
    matches = [(file, "") for file in files if suite in (file.stem, file.name)]
    if not matches:
        raise UsageError(name, f"no suite {suite!r} in {collection}", "one of " + ", ".join(sorted(known)))
    return matches


# Bundled files stay as they are while a program runs, and each argument is looked up several times.
@cache
def _in_collection(place: Path) -> tuple[Path, ...]:
    return tuple(_sift(_files(place), {}, None))


@cache
def _suites(file: Path) -> tuple[str, ...]:
    """Return the names of the suites of a bundled file, without generating them."""
    return tuple(suite.name for suite in template.templates(file)) if file.suffix == ".toml" else (file.stem,)


def _on_disk(name: str) -> list[Path]:
    path = Path(name)
    if exists(path):
        return _files(path) if path.is_dir() else [path]
    if "*" not in name and "[" not in name:
        return []
    paths = sorted(Path(match) for match in glob.glob(name, recursive=True))
    return [file for match in paths for file in (_files(match) if match.is_dir() else [match])]


def _files(place: Path) -> list[Path]:
    """Return the files in a folder and its subfolders that may contain suites, in order."""
    paths = [Path(folder) / name for folder, _, names in os.walk(place, onerror=_refuse_closed) for name in names]
    endings = set(_endings())
    return [
        file
        for file in sorted(paths)
        if (packed.ending(file).lower() in endings or _unreadable(file))
        and file.stem.upper() != "README"
        and not any(part.startswith(".") for part in file.relative_to(place).parts)
    ]


def _endings() -> list[str]:
    return sorted({ending for module in formats() for ending in module.ENDINGS})


def _sift(files: Sequence[Path], options: dict[str, str], skipped: list[str] | None) -> list[Path]:
    kept = []
    for file in files:
        if reason := _unreadable(file):
            if skipped is not None:
                skipped.append(f"{file}: {reason}")
            continue
        # SyntaxGym suites are published as JSON, and as CSV of the same name without predictions.
        has_twin = file.suffix == ".csv" and file.with_suffix(".json") in files
        if not has_twin and (options or claimed(file)):
            kept.append(file)
        elif skipped is not None:
            reason = f"its suite is in {file.with_suffix('.json').name}" if has_twin else unclaimed(file)[0]
            skipped.append(f"{file}: {reason}")
    return kept


def _unreadable(file: Path) -> str:
    """Say why a file among others is not read, although it may have suites; "" if it is read."""
    if packed.is_archive(file):
        return packed.ARCHIVE
    return "a workbook; save its sheets as CSV (UTF-8)" if file.suffix.lower() in WORKBOOKS else ""


def _refuse_closed(error: OSError) -> None:
    raise InputError(str(error.filename), f"can't be listed: {error.strerror}", "a readable folder") from error


# The most bytes of suites that are held in memory, by an estimate that is rather too high: 1.1 to 2.7 times what
# collections take. The 67,000 pairs of warstadt2020 count as 155 MB and take 82 MB.
MOST_BYTES = 512_000_000
# How many of the files that are not read are named in a warning.
_SHOWN = 5


# One suite or several, each as an object or by a name as in `read_suites`.
Suites: TypeAlias = Suite | str | Path | Iterable[Suite | str | Path]


class SuiteFiles:
    # Each file is read once and held in memory, as long as all of them are small enough. Files beyond that are read
    # again on each pass, with one of them in memory at a time. Several files are read before the first pass, for the
    # names of their suites: those that occur in more than one file are told apart by the paths; see `told_apart`.

    def __init__(self, files: Sequence[str], allow_pickle: bool = False) -> None:
        self.files = files
        self._allow_pickle = allow_pickle
        self._held: dict[str, list[Suite]] = {}
        self._free = MOST_BYTES
        self._last: tuple[str, list[Suite]] = ("", [])
        self._names: dict[tuple[str, str], str] | None = None

    def __iter__(self) -> Iterator[Suite]:
        for file in self.files:
            yield from self.read(file)

    def hold(self) -> None:
        """Read the files as far as they can be held in memory, so that errors in them come before a model is loaded."""
        for file in self.files:
            self.read(file)
            if file not in self._held:
                return

    def read(self, file: str) -> list[Suite]:
        if self._names is None:
            several = self.files if len(self.files) > 1 else ()
            self._names = told_apart({each: [suite.name for suite in self._read(each)] for each in several})
            self._held = {each: renamed(each, suites, self._names) for each, suites in self._held.items()}
            self._last = ("", [])
        return self._read(file)

    def _read(self, file: str) -> list[Suite]:
        if file in self._held:
            return self._held[file]
        if self._last[0] != file:
            self._last = ("", [])  # frees its memory before the next file is read
            self._last = (file, renamed(file, self._suites(file), self._names or {}))
        suites = self._last[1]
        if (size := sum(map(_bytes, suites))) <= self._free:
            self._held[file] = suites
            self._free -= size
        return suites

    def _suites(self, file: str) -> list[Suite]:
        return read_suite_file(file, self._allow_pickle)


def told_apart(names: Mapping[str, Sequence[str]]) -> dict[tuple[str, str], str]:
    """Return new names for suites of several files that have the same name: as much of the path as differs, and the name.

    Arguments:
        names: file -> the names of its suites.

    Returns:
        File and name -> new name, for the suites that get one. Files with the same path are not told apart.

    >>> told_apart({"sling/female.jsonl": ["Plural", "Order"], "sling/male.jsonl": ["Plural"]})
    {('sling/female.jsonl', 'Plural'): 'female/Plural', ('sling/male.jsonl', 'Plural'): 'male/Plural'}
    >>> told_apart({"a/kites.tsv": ["kites"], "b/kites.tsv": ["kites"]})
    {('a/kites.tsv', 'kites'): 'a/kites', ('b/kites.tsv', 'kites'): 'b/kites'}
    """
    files: dict[str, list[str]] = {}
    for file, own in names.items():
        for name in dict.fromkeys(own):
            files.setdefault(name, []).append(file)
    new: dict[tuple[str, str], str] = {}
    for name, sharing in files.items():
        if len({options_of(file)[0] for file in sharing}) > 1:
            new |= {(file, name): prefix for file, prefix in zip(sharing, _paths(sharing, name), strict=True)}
    return new


def _paths(files: Sequence[str], name: str) -> list[str]:
    """Return the shortest ends of paths that differ, each followed by a name unless it is that of the file."""
    paths = [Path(options_of(file)[0]) for file in files]
    found: list[str] = []
    for parts in ([path.with_suffix("").parts for path in paths], [path.parts for path in paths]):
        for depth in range(1, max(map(len, parts)) + 1):
            ends = ["/".join(part[-depth:]) for part in parts]
            found = [end if end.rpartition("/")[2] == name else f"{end}/{name}" for end in ends]
            if len(set(found)) == len(set(paths)):
                return found
    return found


def renamed(file: str, suites: Sequence[Suite], names: Mapping[tuple[str, str], str]) -> list[Suite]:
    """Give the suites of a file the new names that `told_apart` returned."""
    return [replace(suite, name=names[file, suite.name]) if (file, suite.name) in names else suite for suite in suites]


@public
def read_suites(*names: str | Path, allow_pickle: bool = False) -> list[Suite]:
    """Read all suites of files, folders, patterns, bundled collections and data sets of the hub into memory.

    Arguments:
        names: files, folders, patterns, collections or data sets of the hub (`hf:ORG/NAME`), with options after a
            question mark, as in `pairs.csv?good=right&bad=wrong`.
        allow_pickle: whether to read suites in pickles. Pickles are read without running them.

    Files of folders and patterns that no format recognises are not read, and a warning (`UserWarning`) names them.

    Raises:
        UsageError: there is no file, folder or collection with a given name.
        InputError: a file does not conform to its format.

    >>> [suite.name for suite in read_suites("hu2020/mvrr", "hu2020/number_prep")]
    ['mvrr', 'number_prep']
    """
    skipped: list[str] = []
    files = expand(list(map(str, names)), skipped)
    if skipped:
        more = f" (and {len(skipped) - _SHOWN} more)" if len(skipped) > _SHOWN else ""
        # Past the check of arguments, to the line that reads.
        warnings.warn(shown(f"skipped: {'; '.join(skipped[:_SHOWN])}{more}"), stacklevel=3)
    return list(SuiteFiles(files, allow_pickle))


def suites_of(suites: Suites) -> Iterable[Suite]:
    """Return suites, of which some are given by their names.

    Arguments:
        suites: the suites. Other iterables than lists and iterators are not changed, because they may read files one by one.

    Raises:
        UsageError, InputError: as for `read_suites`.

    >>> [suite.name for suite in suites_of("hu2020/mvrr")]
    ['mvrr']
    """
    parts = listed(suites)
    if not isinstance(parts, Sequence | Iterator):
        return parts  # type: ignore[return-value]  # what is no list yields suites
    return [suite for part in parts for suite in ([part] if isinstance(part, Suite) else read_suites(part))]


def listed(suites: Suites) -> Iterable[Suite | str | Path]:
    """Return the suites or names; a single one as a list."""
    return [suites] if isinstance(suites, Suite | str | Path) else suites


@public
def make(*names: str | Path, n: int | None = None, seed: int | None = None, style: str = "") -> list[Suite]:
    """Generate suites from templates or bundled collections.

    Arguments:
        names: files, folders, patterns or collections.
        n: the maximum number of items per suite; the default is the number in the template.
        seed: the seed of the random draws, 1 by default.
        style: `natural` (the default), or `published` for lower case without punctuation.

    Raises:
        UsageError: there is no file, folder or collection with a given name, or the file is not a template.
        InputError: a template has errors.

    >>> [suite] = make("marvin2018/simple_agrmt", n=3)
    >>> len(suite.items)
    3
    """
    options = {"n": n, "seed": seed, "style": style or None}
    template_options = {name: str(value) for name, value in options.items() if value is not None}
    return list(SuiteFiles(expand([with_options(str(name), template_options) for name in names])))


def _bytes(suite: Suite) -> int:
    """Estimate the memory that a suite takes, by the sizes of Python's objects."""
    sentences = [sentence for item in suite.items for sentence in item.sentences.values()]
    tags = [tag for item in suite.items for pair in item.tags.items() for tag in pair]
    texts = sum(map(sys.getsizeof, (*(sentence.text for sentence in sentences), *tags)))
    return texts + 450 * len(suite.items) + 60 * len(sentences) + 130 * sum(len(each.regions) for each in sentences)
