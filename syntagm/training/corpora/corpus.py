"""Read text to train on: one sentence a line, or trees, plain or gzipped, as many files as given, in their order.

A path is a file: `.trees`, `.ptb`, `.mrg` or `.parse` (with `.gz` or without) holds Penn-style trees, any other one sentence a
line in UTF-8. Or it is `bllip:FOLDER?set=xs`, the BLLIP corpus as the LDC ships it, or `excerpt`, the bundled text. Files are
read as a stream: memory stays flat however long they are.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from urllib.parse import parse_qsl

from syntagm.errors import InputError, UsageError
from syntagm.io import lines
from syntagm.models.words import words
from syntagm.training.corpora import bllip, trees
from syntagm.training.corpora.trees import Tree

BLLIP = "bllip:"
BUNDLED = {"excerpt": Path(__file__).resolve().parents[2] / "materials" / "corpora" / "excerpt.txt"}


def sentences(paths: Sequence[str | Path], tokens: str = "blanks", blank: bool = False) -> Iterator[list[str]]:
    """The words of each sentence; arguments and errors as `texts` and `kind`."""
    tokens = kind(paths, tokens)
    for text in texts(paths, blank):
        yield words.split(text, tokens)


def portions(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    """Texts in lists of `size`, the last perhaps shorter, so that a few stand in memory at a time.

    >>> list(portions("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    left = iter(texts)
    while portion := list(islice(left, size)):
        yield portion


def kind(paths: Sequence[str | Path], tokens: str) -> str:
    """How to split the sentences of files, all alike: `auto` is `blanks` if most of them are split already, else `treebank`.

    Headings without a mark tell nothing, so the first thousand sentences are judged together.

    Raises:
        UsageError: `tokens` is none of `_words.KINDS`.
    """
    if tokens not in words.KINDS:
        raise UsageError("tokens", repr(tokens), "one of " + ", ".join(words.KINDS))
    if tokens != "auto":
        return tokens
    judged = [words.is_split(text) for text in islice(texts(paths), 1000)]
    return "blanks" if 2 * sum(judged) > len(judged) else "treebank"


def texts(paths: Sequence[str | Path], blank: bool = False) -> Iterator[str]:
    """The sentences of files, one after the other, without line ends and the blanks and tabs around a line.

    The text of a tree is its words, joined by blanks.

    Arguments:
        paths: files; see above.
        blank: give blank lines as empty sentences (KenLM's lmplz counts them), instead of skipping them.

    Raises:
        UsageError: no paths, or no such set of BLLIP.
        InputError: no such file, no sentence in a file, not UTF-8, a NUL, a line of more than a million characters, a
            damaged gzip file, or trees with unbalanced brackets.
    """
    for path in _checked(paths):
        found = False
        for text in _texts(path):
            if blank or not (text == "" or text.isspace()):
                found = True
                yield text
        if not found:
            raise InputError(path, "no sentences", "one sentence a line, or trees")


def treebank(paths: Sequence[str | Path]) -> Iterator[Tree]:
    """The trees of files, one after the other.

    Raises:
        UsageError: no paths, or one that holds no trees, by its name.
        InputError: as `texts`.
    """
    for path in _checked(paths):
        if (found := _trees(path)) is None:
            raise UsageError(f"corpus {path}", "not called a file of trees", "a name in " + ", ".join(trees.SUFFIXES))
        empty = True
        for tree in found:
            empty = False
            yield tree
        if empty:
            raise InputError(path, "no trees", "bracketed trees")


def files(paths: Sequence[str | Path]) -> list[Path]:
    """The files behind paths, in the order in which they are read; errors as `texts`."""
    found: list[Path] = []
    for path in _checked(paths):
        found += bllip.files(*_set(path)) if path.startswith(BLLIP) else [Path(path)]
    return found


def record(paths: Sequence[str | Path]) -> list[dict[str, object]]:
    """Name, size in bytes, number of files and SHA-256 (of all bytes in order) of each path, for the record of a training."""
    found: list[dict[str, object]] = []
    for path in _checked(paths):
        parts, size, digest = files([path]), 0, hashlib.sha256()
        for part in parts:
            with part.open("rb") as file:
                while content := file.read(2**20):
                    size += len(content)
                    digest.update(content)
        name = BLLIP + _set(path)[1] if path.startswith(BLLIP) else Path(path).name
        found.append({"name": name, "files": len(parts), "bytes": size, "sha256": digest.hexdigest()})
    return found


def _checked(paths: Sequence[str | Path]) -> list[str]:
    """The paths as texts; what can't be read at all is refused before anything is."""
    if not paths:
        raise UsageError("corpus", "no file", "one or more")
    found = [str(BUNDLED.get(str(path), path)) for path in paths]
    for path in found:
        if path.startswith(BLLIP):
            bllip.sections(*_set(path))
        else:
            lines.check(Path(path))
    return found


def _set(path: str) -> tuple[str, str]:
    folder, _, query = path.removeprefix(BLLIP).partition("?")
    match parse_qsl(query, keep_blank_values=True):
        case [("set", name)]:
            return folder, name
    raise UsageError(f"corpus {path}", f"options {query!r}", "bllip:FOLDER?set=NAME with " + ", ".join(bllip.SETS))


def _trees(path: str) -> Iterator[Tree] | None:
    if path.startswith(BLLIP):
        return bllip.read(*_set(path))
    return trees.read(path) if path.removesuffix(".gz").endswith(trees.SUFFIXES) else None


def _texts(path: str) -> Iterator[str]:
    found = _trees(path)
    if found is None:
        # Some corpora have a blank before and after each sentence: tokens to a BPE, and in no sentence that is scored.
        return (line.strip(" \t") for _, line in lines.read(Path(path)))
    return (" ".join(trees.words(tree)) for tree in found)
