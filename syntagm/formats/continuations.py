"""Prefixes and endings (BHS, Kryvosheieva & Levy 2025): `[[good prefix, bad prefix], [good ending, bad ending]]`.

    [[["The keys", "The key"], ["are here.", "are here."]], ...]

The file is a JSON list of such pairs. An ending is scored given its prefix, as in the paper: the regions `prefix` and
`ending` are joined by one space, and the prediction `ending` compares the endings. Where the prefixes of a pair are the
same, this is the comparison of the whole sentences, too. Items are numbered from 0.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from syntagm.errors import InputError
from syntagm.formula import parse
from syntagm.io import json, shape, utf8
from syntagm.suite import Item, Prediction, Region, Sentence, Suite

ENDINGS = (".json",)
_ENDING = Prediction("ending", parse("(ending;%good%) < (ending;%bad%)"))
_EXPECTED = "[[good prefix, bad prefix], [good ending, bad ending]]"


def claims(path: Path, head: str) -> bool:
    """Return whether the text begins with three brackets and two strings, and two more strings after them."""
    return path.suffix == ".json" and head.lstrip()[:1] == "[" and _first(head) is not None


def read_as(path: Path, head: str, **options: str) -> str:
    """Say which sentence is taken as the good one."""
    return "pairs of prefixes and pairs of endings, the good one first; scored: the ending given its prefix"


def read(path: Path) -> Iterator[Suite]:
    """Read the suite in a file. The suite is named after the file.

    Raises:
        InputError: an item has another shape, or an ending is empty; the message says which.
    """
    items = []
    for index, value in enumerate(shape.need(json.parsed(utf8.read(path), path), list, str(path))):
        place = f"{path}, item {index}"
        pair = _pair(value)
        if pair is None:
            raise InputError(place, shape.shown(value), _EXPECTED)
        (good, bad), (good_ending, bad_ending) = pair
        sentences = {"good": _sentence(good, good_ending, place), "bad": _sentence(bad, bad_ending, place)}
        items.append(Item(str(index), sentences))
        shape.count(len(items), path)
    if not items:
        raise InputError(str(path), "no pairs", "at least one pair")
    yield Suite(path.stem, tuple(items), (_ENDING,))


def _first(head: str) -> Any:
    """Return the first item of a list, if it has the shape of a pair and is not cut off."""
    inner = head.lstrip()[1:].lstrip()
    depth, quoted, escaped = 0, False, False
    for place, sign in enumerate(inner[:20_000]):
        if quoted:
            escaped, quoted = (sign == "\\" and not escaped), (sign != '"' or escaped)
        elif sign == '"':
            quoted = True
        elif sign in "[{":
            depth += 1
        elif sign in "]}":
            depth -= 1
            if depth == 0:
                try:
                    return _pair(json.parsed(inner[: place + 1], Path("first item")))
                except InputError:
                    return None
        if depth == 0:
            return None
    return None


def _pair(value: Any) -> tuple[list[str], list[str]] | None:
    of_two = isinstance(value, list) and len(value) == 2
    if of_two and all(isinstance(part, list) and len(part) == 2 for part in value):
        first, second = value
        return (first, second) if all(isinstance(text, str) for text in (*first, *second)) else None
    return None


def _sentence(prefix: str, ending: str, place: str) -> Sentence:
    prefix, ending = prefix.strip(), ending.strip()
    if not ending:
        raise InputError(place, "an empty ending", "text, which is scored")
    text = shape.sentence(f"{prefix} {ending}".strip(), place)
    start = len(text) - len(ending)
    return Sentence(text, (Region("prefix", 0, len(prefix)), Region("ending", start, len(text))))
