"""Counts of words in books and treebanks: frequency, preceding word, tags, and objects of verbs."""

import gzip
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from syntagm.training.corpora import trees
from syntagm.training.corpora.trees import Tree

WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?", re.IGNORECASE)


def word_sets() -> dict[str, frozenset[str]]:
    """Read the sets of words in word_sets.txt, by name."""
    sets: dict[str, frozenset[str]] = {}
    for line in Path(__file__).with_name("word_sets.txt").read_text(encoding="utf-8").splitlines():
        name, _, words = line.partition(": ")
        sets |= {} if line[:1] in ("#", "") else {name: sets.get(name, frozenset()) | set(words.split())}
    return sets


SETS = word_sets()


def lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text, gzipped or not."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        yield from file


def words(paths: Iterable[Path]) -> tuple[Counter[str], Counter[tuple[str, str]]]:
    """Count words, and pairs of a word and the word before it. Capitalized words count only at the start of a line."""
    single: Counter[str] = Counter()
    double: Counter[tuple[str, str]] = Counter()
    for path in paths:
        for line in lines(path):
            before = ""
            for word in WORD.findall(line.replace("’", "'")):
                if word.islower() or not before:
                    single[word.lower()] += 1
                    double[before, word.lower()] += 1
                before = word.lower()
    return single, double


def tagged(paths: Iterable[Path]) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, bool]]]:
    """Count (word, tag) pairs in the trees, and (verb form, has an object) pairs.

    An object is a noun phrase after the verb in its verb phrase. A past participle in the phrase of a form of `be` is a
    passive and counts as having an object.
    """
    tags: Counter[tuple[str, str]] = Counter()
    objects: Counter[tuple[str, bool]] = Counter()
    for path in paths:
        for tree in trees.read(path):
            _walk(tree, False, tags, objects)
    return tags, objects


def _walk(tree: Tree, passive: bool, tags: Counter[tuple[str, str]], objects: Counter[tuple[str, bool]]) -> None:
    nodes = [child for child in tree.children if isinstance(child, Tree)]
    after_be = any(_word(node) in SETS["be"] for node in nodes)
    for place, node in enumerate(nodes):
        word = _word(node)
        if not word:
            _walk(node, after_be and node.label == "VP", tags, objects)
            continue
        tags[word, node.label] += 1
        if node.label.startswith("VB") and tree.label.startswith("VP"):
            object_beside = any(map(_is_object, nodes[place + 1 :]))
            objects[word, object_beside or (passive and node.label == "VBN")] += 1


def _word(node: Tree) -> str:
    first = node.children[0]
    if not isinstance(first, str):
        return ""
    return first if node.label.startswith("NNP") else first.lower()


def _is_object(node: Tree) -> bool:
    label, *functions = node.label.split("-")
    if label != "NP" or {"TMP", "ADV", "EXT", "PRD", "LOC", "DIR", "MNR", "VOC"} & set(functions):
        return False
    words_of_phrase = trees.words(node)
    return not words_of_phrase or words_of_phrase[-1].lower() not in SETS["adverbial"]
