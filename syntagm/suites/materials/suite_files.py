"""Reading and generating suites from any number of files, folders, patterns and bundled collections."""

import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from syntagm.core import public, shown
from syntagm.suites.materials.finding import expand
from syntagm.suites.materials.reading import options_of, read, with_options
from syntagm.suites.suite import Suite

# The most bytes of suites that are held in memory, by an estimate that is rather too high: 1.1 to 2.7 times what
# collections take. The 67,000 pairs of warstadt2020 count as 155 MB and take 82 MB.
MOST_BYTES = 512_000_000
# How many of the files that are not read are named in a warning.
_SHOWN = 5


# One suite or several, each as an object or by a name as in `read_suites`.
Suites: TypeAlias = Suite | str | Path | Iterable[Suite | str | Path]


class SuiteFiles:
    """The suites of several files."""

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
        return read(file, self._allow_pickle)


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
