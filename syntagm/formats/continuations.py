"""Prefixes and endings: an ending is scored given its prefix, as in the papers. Nothing after it is read.

    [[["The keys", "The key"], ["are here.", "are here."]], ...]        BHS (Kryvosheieva & Levy 2025), the good one first
    {"examples": [{"input": "The key", "target_scores": {"is": 1, "are": 0}}, ...]}     a task of BIG-bench with two targets
    4	is	are	1                                      sets.gold: the place of a form in its line of sets.text, the right and
                                                       the wrong form (Linzen et al. 2016, as Gulordava et al. 2018 use it)
    constr_id	sent_id	form	class	prefix	...   generated.tab (Gulordava et al. 2018): the rows correct and wrong

Prefix and ending are regions joined by one space, and the prediction `ending` compares the endings. Where the prefixes of a
pair are the same, this is the comparison of the whole sentences, too. Items are numbered from 0, but in `generated.tab`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from syntagm.errors import InputError
from syntagm.formats import _table
from syntagm.formula import parse
from syntagm.io import json, shape, utf8
from syntagm.suite import Item, Prediction, Region, Sentence, Suite

ENDINGS = (".json", ".gold", ".tab")
_ENDING = Prediction("ending", parse("(ending;%good%) < (ending;%bad%)"))
_EXPECTED = "[[good prefix, bad prefix], [good ending, bad ending]]"
_TASK = ("examples", "input", "target_scores")
_GOLD = re.compile(r"\d{1,5}\t[^\t]+\t[^\t]+(\t\d+)?\s*")
_FORMS = ("constr_id", "sent_id", "form", "class", "prefix")
_UNREAD = (*_FORMS, "pattern", "sent", "freq", "len_context", "len_prefix")
_CLASSES = ("correct", "wrong")


@dataclass(frozen=True, slots=True)
class _Pair:
    """The prefixes and the endings of an item, the good one first, with the place of the item for messages."""

    place: str
    prefixes: tuple[str, str]
    endings: tuple[str, str]
    id: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)


def claims(path: Path, head: str) -> bool:
    """Return whether the text begins as one of the layouts; `.gold` needs its `.text` beside it."""
    return _layout(path, head) is not None


def read_as(path: Path, head: str, **options: str) -> str:
    """Say which sentence is taken as the good one."""
    what = {
        _of_task: "the input and its two targets, the one with the higher score is good",
        _of_gold: f"the words of {path.stem}.text before the place, then the right or the wrong form",
        _of_forms: "prefix and form, the form of the class correct is good",
    }.get(_layout(path, head) or _of_list, "pairs of prefixes and pairs of endings, the good one first")
    return f"{what}; scored: the ending given its prefix"


def read(path: Path) -> Iterator[Suite]:
    """Read the suite in a file. It is named after the file, or as a task of BIG-bench says.

    Raises:
        InputError: an item has another shape, or an ending is empty; the message says which.
    """
    content = utf8.read(path)
    name, pairs = (_layout(path, content) or _of_list)(content, path)
    items = []
    for index, pair in enumerate(pairs):
        texts = zip(("good", "bad"), pair.prefixes, pair.endings, strict=True)
        sentences = {side: _sentence(prefix, ending, pair.place) for side, prefix, ending in texts}
        items.append(Item(pair.id or str(index), sentences, pair.tags))
        shape.count(len(items), path)
    if not items:
        raise InputError(str(path), "no pairs", "at least one pair")
    yield Suite(name, tuple(items), (_ENDING,))


_Layout = Callable[[str, Path], tuple[str, Iterator[_Pair]]]


def _layout(path: Path, head: str) -> _Layout | None:
    first, start = head.partition("\n")[0], head.lstrip()[:1]
    if path.suffix == ".json" and start == "{":
        return _of_task if all(f'"{key}"' in head for key in _TASK) else None
    if path.suffix == ".json" and start == "[":
        return _of_list if _first(head) is not None else None
    if path.suffix == ".gold" and _GOLD.fullmatch(first):
        return _of_gold if path.with_suffix(".text").is_file() else None
    return _of_forms if path.suffix == ".tab" and {*_FORMS} <= {*first.strip().split("\t")} else None


def _of_list(content: str, path: Path) -> tuple[str, Iterator[_Pair]]:
    def pairs() -> Iterator[_Pair]:
        for index, value in enumerate(shape.need(json.parsed(content, path), list, str(path))):
            place = f"{path}, item {index}"
            if (pair := _pair(value)) is None:
                raise InputError(place, shape.shown(value), _EXPECTED)
            yield _Pair(place, *pair)

    return path.stem, pairs()


def _of_task(content: str, path: Path) -> tuple[str, Iterator[_Pair]]:
    top = shape.need(json.parsed(content, path), dict, str(path))

    def pairs() -> Iterator[_Pair]:
        for index, value in enumerate(shape.field(top, "examples", list, str(path))):
            place = f"{path}, example {index}"
            example = shape.need(value, dict, place)
            scores = shape.field(example, "target_scores", dict, place)
            text = shape.sentence(example.get("input"), f"{place}, input")
            if len(scores) != 2 or {*map(type, scores.values())} - {int, float} or len({*scores.values()}) != 2:
                found = ", ".join(f"{target!r}: {shape.shown(score)}" for target, score in list(scores.items())[:4])
                raise InputError(f"{place}, target_scores", found or "no targets", "two targets with different scores")
            good, bad = sorted(scores, key=lambda target: -scores[target])
            yield _Pair(place, (text, text), (good, bad))

    name = top.get("name")
    return name if isinstance(name, str) and name else path.stem, pairs()


def _of_gold(content: str, path: Path) -> tuple[str, Iterator[_Pair]]:
    texts = [line.split() for _, line in utf8.lines(utf8.read(path.with_suffix(".text")))]
    rows = [(number, line.strip().split("\t")) for number, line in utf8.lines(content)]
    if len(texts) != len(rows):
        raise InputError(str(path), f"{len(rows)} lines, and {len(texts)} in {path.stem}.text", "as many in both")
    for number, row in rows:
        if not _GOLD.fullmatch("\t".join(row)):
            raise InputError(f"{path}, line {number}", repr("\t".join(row)[:60]), "place, right form and wrong form")
    # The published places count what precedes the sentence, or don't; the forms show which.
    shifts = {
        shift: [words[int(row[0]) + shift :][:1] == [row[1]] for words, (_, row) in zip(texts, rows, strict=True)]
        for shift in (0, 1)
    }
    shift = max(shifts, key=lambda shift: sum(shifts[shift]))

    def pairs() -> Iterator[_Pair]:
        for words, (number, row), fits in zip(texts, rows, shifts[shift], strict=True):
            place = f"{path}, line {number}"
            if not fits:
                found = f"{row[1]!r} at {row[0]}, where {path.stem}.text has {' '.join(words)[:60]!r}"
                raise InputError(place, found, "the form at its place, which all lines count alike")
            prefix = " ".join(words[: int(row[0]) + shift])
            tags = {"attractors": row[3]} if len(row) > 3 else {}
            yield _Pair(place, (prefix, prefix), (row[1], row[2]), tags=tags)

    return path.stem, pairs()


def _of_forms(content: str, path: Path) -> tuple[str, Iterator[_Pair]]:
    table = _table.under(None, content, path, "\t", quote=False)
    groups: dict[str, dict[str, dict[str, str]]] = {}
    places: dict[str, str] = {}
    for number, row in table.rows:
        key = "-".join(row[name] for name in ("pattern", "constr_id", "sent_id") if name in row)
        place = places.setdefault(key, table.place(number))
        if row["class"] not in _CLASSES or row["class"] in groups.setdefault(key, {}):
            raise InputError(table.place(number), f"{row['class']!r}", "a row correct and a row wrong of each sentence")
        groups[key][row["class"]] = row

    def pairs() -> Iterator[_Pair]:
        for key, rows in groups.items():
            place = places[key]
            if len(rows) != 2:
                raise InputError(place, f"only {next(iter(rows))!r}", "a row correct and a row wrong of each sentence")
            good, bad = (rows[name] for name in _CLASSES)
            tags = {name: cell for name, cell in _table.tags(good, _UNREAD).items() if bad[name] == cell}
            yield _Pair(place, (good["prefix"], bad["prefix"]), (good["form"], bad["form"]), key, tags)

    return path.stem, pairs()


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


def _pair(value: Any) -> tuple[tuple[str, str], tuple[str, str]] | None:
    of_two = isinstance(value, list) and len(value) == 2
    if of_two and all(isinstance(part, list) and len(part) == 2 for part in value):
        (good, bad), (good_ending, bad_ending) = value
        texts = (good, bad), (good_ending, bad_ending)
        return texts if all(isinstance(text, str) for pair in texts for text in pair) else None
    return None


def _sentence(prefix: str, ending: str, place: str) -> Sentence:
    prefix, ending = prefix.strip(), ending.strip()
    if not ending:
        raise InputError(place, "an empty ending", "text, which is scored")
    text = shape.sentence(f"{prefix} {ending}".strip(), place)
    start = len(text) - len(ending)
    return Sentence(text, (Region("prefix", 0, len(prefix)), Region("ending", start, len(text))))
