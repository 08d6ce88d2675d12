"""Reading of tagged sentences: words with CCG supertags, or any other tags.

A file has one of these layouts; its lines are checked against that of its first one:

* `word|tag word|tag`: a sentence per line;
* `word<TAB>tag`: a word per line, with an empty line between sentences;
* `.auto` files of CCGbank: a derivation per line after a line with its ID, in which `<L category tag tag word category>`
  is a word;
* files of Penn-style trees (`.trees`, `.ptb`, `.mrg`, `.parse`), whose words get simplified categories; see `categories`.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from syntagm.core import InputError, UsageError, lines
from syntagm.training.corpora import corpus, trees
from syntagm.training.multitask import categories
from syntagm.training.multitask.settings import Tagging

Tagged = list[tuple[str, str]]
AUTO = ".auto"
# Every `<L` begins a word; what does not continue in this way is a mistake.
_LEAF = re.compile(r"<L(?: ([^\s<>]+) [^\s<>]+ [^\s<>]+ (\S+) [^\s<>]+>)?")
_CURE = "Correct it, or remove its sentence."


def files(tagging: Tagging, corpus: Sequence[str], valid: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the files of the tagged training text and of the tagged held-out text."""
    return _files(tagging.tags, corpus, "tags"), _files(tagging.valid_tags, valid, "valid-tags")


def _files(given: str, texts: Sequence[str], option: str) -> list[str]:
    if given:
        return [given]
    if other := [path for path in map(str, texts) if not path.removesuffix(".gz").endswith(trees.SUFFIXES)]:
        expected = "a tagged text: word|tag, word<TAB>tag, .auto or trees"
        cure = f"Use --{option} FILE (in an experiment: --set multitask.{option.replace('-', '_')}=FILE)."
        raise UsageError(option, f"none given, and {other[0]} has no trees", expected, cure)
    return list(map(str, texts))


def sentences(paths: Sequence[str | Path]) -> Iterator[Tagged]:
    """Yield the words and tags of each sentence."""
    for path in paths:
        lines.check(Path(path))
    for path in map(str, paths):
        empty = True
        for sentence in _sentences(path):
            empty = False
            yield sentence
        if empty:
            raise InputError(path, "no tagged words", "word|tag, word<TAB>tag, CCGbank's .auto files, or trees")


def _sentences(path: str) -> Iterator[Tagged]:
    plain = path.removesuffix(".gz")
    if plain.endswith(trees.SUFFIXES):
        for number, tree in enumerate(corpus.treebank([path]), 1):
            if sentence := categories.tagged(tree, f"{path}, tree {number}"):
                yield sentence
    elif plain.endswith(AUTO):
        yield from _derivations(path)
    else:
        first = next((line for _, line in lines.read(Path(path)) if line.strip()), "")
        yield from _columns(path) if "\t" in first else _rows(path)


def _rows(path: str) -> Iterator[Tagged]:
    """Read sentences of `word|tag`; a word may contain the sign, a tag may not."""
    for number, line in lines.read(Path(path)):
        sentence: Tagged = []
        for pair in line.split():
            word, _, tag = pair.rpartition("|")
            if not (word and tag):
                raise InputError(f"{path}, line {number}", repr(pair[:40]), "word|tag", _CURE)
            sentence.append((word, tag))
        if sentence:
            yield sentence


def _columns(path: str) -> Iterator[Tagged]:
    """Read a word and its tag per line."""
    sentence: Tagged = []
    for number, line in lines.read(Path(path)):
        if line.strip():
            word, *tags = line.split("\t")
            # Words are divided at white space, so a word with a space in it would get another tag's words.
            if len(tags) != 1 or [word, tags[0]] != line.split():
                raise InputError(f"{path}, line {number}", repr(line[:40]), "a word, a tab and a tag", _CURE)
            sentence.append((word, tags[0]))
        elif sentence:
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def _derivations(path: str) -> Iterator[Tagged]:
    """Read the words of CCGbank's derivations."""
    for number, line in lines.read(Path(path)):
        if not line.strip() or line.startswith("ID="):
            continue
        place, leaves = f"{path}, line {number}", list(_LEAF.finditer(line))
        if not line.startswith("(") or not leaves:
            expected = "a line with ID=, or a derivation: (<T ...> (<L category tag tag word category>) ...)"
            raise InputError(place, repr(line[:40]), expected, _CURE)
        for leaf in leaves:
            if leaf[1] is None:
                found = repr(line[leaf.start() : leaf.start() + 40])
                raise InputError(place, found, "<L category tag tag word category>", _CURE)
        if (opened := line.count("(<")) != (closed := len(re.findall(r"\)(?= |$)", line))):
            found = f"{opened} opening and {closed} closing brackets"
            raise InputError(place, found, "as many closing as opening brackets", _CURE)
        yield [(leaf[2], leaf[1]) for leaf in leaves]
