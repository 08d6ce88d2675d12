"""Reading of training text: sentences from plain or gzipped files of lines or trees, in the order of the files.

A path names one of these:

* a file of Penn-style trees: `.trees`, `.ptb`, `.mrg` or `.parse`, with or without `.gz`;
* any other file: one sentence per line, in UTF-8, gzipped or not;
* `bllip:FOLDER?set=xs`: the BLLIP corpus as distributed by the LDC;
* `excerpt`: the bundled text.

Files are read as streams, so memory does not grow with their size.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from syntagm.core import InputError, UsageError, hashing, lines, regular, settings, utf8
from syntagm.models import splitting
from syntagm.training.corpora import bllip, trees
from syntagm.training.corpora.trees import Tree

BLLIP = "bllip:"
_SET = settings.Setting("set", settings.Choice(tuple(map(settings.Value, bllip.SETS))), help="the texts", required=True)
# How the sections of a text are divided, if not by a mark of its own.
BLANK, FILE = "blank", "file"
BUNDLED = {"excerpt": Path(__file__).resolve().parents[2] / "suites" / "materials" / "corpora" / "excerpt.txt"}


def sentences(paths: Sequence[str | Path], tokens: str = "blanks", blank: bool = False) -> Iterator[list[str]]:
    """Yield the words of each sentence; for the arguments and errors see `texts` and `kind`."""
    tokens = kind(paths, tokens)
    for path in _checked(paths):
        own = splitting.unsplit(tokens) if is_treebank(path) else tokens
        for text in texts([path], blank):
            yield splitting.split(text, own)


def portions(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    """Yield texts in lists of `size` (the last list may be shorter), so that only a few are in memory at a time.

    >>> list(portions("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    remaining = iter(texts)
    while portion := list(islice(remaining, size)):
        yield portion


def kind(paths: Sequence[str | Path], tokens: str) -> str:
    """Choose how to split the sentences of files: `auto` is `blanks` if most sentences are already split, else `treebank`."""
    # The first thousand sentences are examined together, because a heading without punctuation looks the same in both
    # cases. Trees have words, which are not split again.
    if tokens not in splitting.KINDS:
        raise UsageError("tokens", repr(tokens), "one of " + ", ".join(splitting.KINDS))
    if are_trees(paths):
        return splitting.unsplit(tokens)
    if tokens != "auto":
        return tokens
    are_split = [splitting.is_split(text) for text in islice(texts(paths), 1000)]
    return "blanks" if 2 * sum(are_split) > len(are_split) else "treebank"


def texts(paths: Sequence[str | Path], blank: bool = False) -> Iterator[str]:
    """Yield the sentences of files without line ends and without the spaces and tabs around a line."""
    # The text of a tree is its words, joined by spaces.
    for path in _checked(paths):
        empty = True
        for text in _texts(path):
            if blank or not _is_blank(text):
                empty = False
                yield text
        if empty:
            raise InputError(path, "no sentences", "one sentence per line, or trees")


def sections(paths: Sequence[str | Path], mark: str = BLANK) -> Iterator[int]:
    """Yield the number of the section of each sentence that `texts` yields, from 0; -1 for a line that is only a mark."""
    # A section is a document: it ends with its file at the latest. In trees, each file is a section, and in BLLIP each
    # of its sections.
    last = -1
    for path in _checked(paths):
        first = last + 1
        for number in _sections(path, mark):
            if number >= 0:
                last = first + number
            yield first + number if number >= 0 else -1


def _sections(path: str, mark: str) -> Iterator[int]:
    if is_treebank(path):
        if mark not in (BLANK, FILE):
            cure = "Leave the mark out."
            raise UsageError(f"corpus {path}", f"trees, with the section mark {mark!r}", "a text", cure)
        numbered = bllip.numbered(*_set(path)) if path.startswith(BLLIP) else ((0, tree) for tree in _trees(path))
        yield from (number for number, tree in numbered if not _is_blank(_text(tree)))
        return
    # The number of the last section that has a sentence, and whether the next sentence begins another one.
    number, divided = -1, True
    for text in _texts(path):
        if _is_blank(text):
            divided = divided or mark == BLANK
        elif mark not in (BLANK, FILE) and text.startswith(mark):
            divided = True
            yield -1
        else:
            number, divided = number + divided, False
            yield number


def treebank(paths: Sequence[str | Path]) -> Iterator[Tree]:
    for path in _checked(paths):
        if not is_treebank(path):
            expected = "a name that ends in " + ", ".join(trees.SUFFIXES)
            raise UsageError(f"corpus {path}", "not the name of a tree file", expected)
        empty = True
        for tree in _trees(path):
            empty = False
            yield tree
        if empty:
            raise InputError(path, "no trees", "bracketed trees")


def is_treebank(path: str | Path) -> bool:
    """Return whether a path names a file of trees or a set of BLLIP, which consists of trees.

    >>> is_treebank("gum.trees.gz"), is_treebank("bllip:LDC2000T43?set=xs"), is_treebank("brown.txt")
    (True, True, False)
    """
    return str(path).startswith(BLLIP) or str(path).removesuffix(".gz").endswith(trees.SUFFIXES)


def are_trees(paths: Sequence[str | Path]) -> bool:
    return all(map(is_treebank, paths))


def written(paths: Sequence[str | Path]) -> Iterator[str]:
    """Yield what `texts` yields, but trees, where all paths name trees: one line each, to be written to a file."""
    if not are_trees(paths):
        return texts(paths)
    return (str(tree) for tree in treebank(paths) if not _is_blank(_text(tree)))


def files(paths: Sequence[str | Path]) -> list[Path]:
    """List the files that paths name in reading order; for the errors see `texts`."""
    listed: list[Path] = []
    for path in _checked(paths):
        listed += bllip.files(*_set(path)) if path.startswith(BLLIP) else [Path(path)]
    return listed


def record(paths: Sequence[str | Path]) -> list[dict[str, object]]:
    """Describe each path for a training record: name, number of files, size in bytes, and SHA-256 of all bytes in order."""
    records: list[dict[str, object]] = []
    for path in _checked(paths):
        members, size, digest = files([path]), 0, hashlib.sha256()
        for member in members:
            try:
                with regular.opened(member, hashing.MAX_BYTES) as file:
                    while content := file.read(2**20):
                        size += len(content)
                        digest.update(content)
            except OSError as error:
                raise utf8.unreadable(member, error) from None
        name = BLLIP + _set(path)[1] if path.startswith(BLLIP) else Path(path).name
        records.append({"name": name, "files": len(members), "bytes": size, "sha256": digest.hexdigest()})
    return records


def _checked(paths: Sequence[str | Path]) -> list[str]:
    """Return the paths as strings; refuse those that can't be read before reading any of them."""
    if not paths:
        raise UsageError("corpus", "no file", "one or more")
    checked = [str(BUNDLED.get(str(path), path)) for path in paths]
    for path in checked:
        if path.startswith(BLLIP):
            bllip.sections(*_set(path))
        else:
            lines.check(Path(path))
    return checked


def _set(path: str) -> tuple[str, str]:
    address, texts = settings.asked(path, "corpus")
    return address.removeprefix(BLLIP), settings.read([_SET], texts, f"corpus {path}")["set"]


def _trees(path: str) -> Iterator[Tree]:
    return bllip.read(*_set(path)) if path.startswith(BLLIP) else trees.read(path)


def _texts(path: str) -> Iterator[str]:
    if is_treebank(path):
        return map(_text, _trees(path))
    # Some corpora have a space before and after each sentence. A BPE tokenizer would make tokens of these, but no
    # scored sentence has them.
    return (line.strip(" \t") for _, line in lines.prose(Path(path)))


def _text(tree: Tree) -> str:
    return " ".join(trees.words(tree))


def _is_blank(text: str) -> bool:
    return text == "" or text.isspace()
