"""Zorro (Huebner et al. 2021): one sentence per line, with the bad sentence of a pair before the good one.

Such a file can't be recognised, so the format must be named: `agreement.txt?format=zorro`.
"""

from collections.abc import Iterator
from pathlib import Path

from syntagm.errors import InputError
from syntagm.formats import _pair
from syntagm.io import shape, utf8
from syntagm.suite import Item, Sentence, Suite

ENDINGS = (".txt",)


def claims(path: Path, head: str) -> bool:
    """Return False, because plain text may be anything."""
    return False


def read(path: Path) -> Iterator[Suite]:
    """Read the suite in a file. The suite is named after the file, and pairs are numbered from 0.

    The part of the name before a hyphen, as in `agreement_subject_verb-across_prepositional_phrase`, becomes the tag
    `phenomenon`.

    Raises:
        InputError: a line is empty, or the number of lines is odd.
    """
    sentences = []
    for number, line in utf8.lines(utf8.read(path)):
        if not line.strip():
            raise InputError(f"{path}, line {number}", "an empty line", "a sentence")
        sentences.append(Sentence(shape.sentence(line, f"{path}, line {number}")))
    if len(sentences) % 2:
        raise InputError(
            str(path),
            f"{len(sentences)} lines",
            "an even number of lines",
            "Write each bad sentence before its good one.",
        )
    shape.count(len(sentences) // 2, path)
    phenomenon, hyphen, _ = path.stem.partition("-")
    tags = {"phenomenon": phenomenon} if hyphen else {}
    pairs = zip(sentences[::2], sentences[1::2], strict=True)
    items = [(path.stem, Item(str(index), {"good": good, "bad": bad}, tags)) for index, (bad, good) in enumerate(pairs)]
    yield from _pair.suites(items, None, str(path))
