"""CLAMS (Mueller et al. 2020): lines of True or False, a tab and a sentence, with alternating good and bad sentences."""

from collections.abc import Iterator
from pathlib import Path

from syntagm.core import InputError, shape, utf8
from syntagm.suites.formats import _pair
from syntagm.suites.suite import Item, Sentence, Suite

ENDINGS = (".tsv", ".txt")
_LABELS = ("True", "False")


def claims(path: Path, head: str) -> bool:
    """Return whether the first line of the text begins with True and a tab, and the second with False."""
    return [line.split("\t")[0] for line in head.split("\n")[:2]] == list(_LABELS) and "\t" in head


def read(path: Path) -> Iterator[Suite]:
    """Read the suite in a file. The suite is named after the file, and pairs are numbered from 0.

    Raises:
        InputError: a line has the wrong label or no sentence; the message names the line.
    """
    sentences: list[Sentence] = []
    for number, line in utf8.lines(utf8.read(path)):
        label, _, text = line.partition("\t")
        expected = _LABELS[len(sentences) % 2]
        if label != expected or not text.strip():
            cure = "Good and bad sentences alternate, the good one first."
            raise InputError(f"{path}, line {number}", repr(line[:60]), f"{expected}, a tab and a sentence", cure)
        sentences.append(Sentence(shape.sentence(text.strip(), f"{path}, line {number}")))
    if len(sentences) % 2:
        raise InputError(
            str(path), f"{len(sentences)} lines", "an even number of lines", "The last pair lacks its bad sentence."
        )
    shape.count(len(sentences) // 2, path)
    pairs = zip(sentences[::2], sentences[1::2], strict=True)
    items = [(path.stem, Item(str(index), {"good": good, "bad": bad}, {})) for index, (good, bad) in enumerate(pairs)]
    yield from _pair.suites(items, None, str(path))
