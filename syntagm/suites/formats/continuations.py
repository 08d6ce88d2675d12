"""Prefixes and endings: BHS (Kryvosheieva & Levy 2025), the sets of Gulordava et al. 2018, tasks of BIG-bench.

An ending is scored given its prefix, as in the papers. What follows it is not read.

    [[["The keys", "The key"], ["are here.", "are here."]], ...]        BHS, the good one first
    {"examples": [{"input": "The key", "target_scores": {"is": 1, "are": 0}}, ...]}     a task of BIG-bench with two targets
    4	is	are	1       NAME.gold: the place of a form in its line of NAME.text, the right form and the wrong one
    constr_id	sent_id	form	class	prefix	...    generated.tab: a row correct and a row wrong of each sentence

Prefix and ending are regions joined by one space, and the prediction `ending` compares the endings. Where the prefixes of a
pair are the same, this is the comparison of the whole sentences, too. Items are numbered from 0, but in `generated.tab`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from json import JSONDecoder
from pathlib import Path
from typing import Any, TypeAlias

from syntagm.core import InputError, json, shape, utf8
from syntagm.suites.formats import _table
from syntagm.suites.formula import parse
from syntagm.suites.suite import Item, Prediction, Region, Sentence, Suite

ENDINGS = (".json", ".gold", ".tab")
_ENDING = Prediction("ending", parse("(ending;%good%) < (ending;%bad%)"))
_EXPECTED = "[[good prefix, bad prefix], [good ending, bad ending]]"
_GOLD = re.compile(r"\d{1,5}\t[^\t]+\t[^\t]+(\t\d+)?\s*")
_FORMS = ("constr_id", "sent_id", "form", "class", "prefix")
_UNREAD = (*_FORMS, "pattern", "sent", "freq", "len_context", "len_prefix")
_CLASSES = ("correct", "wrong")

_Texts: TypeAlias = tuple[str, str]
# The place of an item, its prefixes and its endings, the good one first, its id ("" for its number) and its tags.
_Row: TypeAlias = tuple[str, _Texts, _Texts, str, Mapping[str, str]]
_Layout: TypeAlias = Callable[[str, Path], Iterator[_Row]]


def claims(path: Path, head: str) -> bool:
    """Return whether the text begins as one of the layouts; `.gold` needs its `.text` beside it."""
    return _layout(path, head) is not None


def read_as(path: Path, head: str, **options: str) -> str:
    return f"{_SAID[_layout(path, head) or _of_list]}; scored: the ending given its prefix"


def read(path: Path) -> Iterator[Suite]:
    """Read the suite in a file. The suite is named after the file.

    Raises:
        InputError: an item has another shape, or an ending is empty; the message says which.
    """
    content, items = utf8.read(path), list[Item]()
    for place, prefixes, endings, identifier, tags in (_layout(path, content) or _of_list)(content, path):
        good, bad = (_sentence(prefix, ending, place) for prefix, ending in zip(prefixes, endings, strict=True))
        items.append(Item(identifier or str(len(items)), {"good": good, "bad": bad}, tags))
        shape.count(len(items), path)
    if not items:
        raise InputError(str(path), "no pairs", "at least one pair")
    yield Suite(path.stem, tuple(items), (_ENDING,))


def _layout(path: Path, head: str) -> _Layout | None:
    first, start = head.partition("\n")[0], head.lstrip()[:1]
    if path.suffix == ".json" and start == "{":
        return _of_task if all(f'"{key}"' in head for key in ("examples", "input", "target_scores")) else None
    if path.suffix == ".json" and start == "[":
        return _of_list if _first(head) is not None else None
    if path.suffix == ".gold":
        return _of_gold if _GOLD.fullmatch(first) and path.with_suffix(".text").is_file() else None
    return _of_forms if path.suffix == ".tab" and {*_FORMS} <= {*first.strip().split("\t")} else None


def _of_list(content: str, path: Path) -> Iterator[_Row]:
    for index, value in enumerate(shape.need(json.parsed(content, path), list, str(path))):
        place = f"{path}, item {index}"
        if (pair := _pair(value)) is None:
            raise InputError(place, shape.shown(value), _EXPECTED)
        yield place, *pair, "", {}


def _of_task(content: str, path: Path) -> Iterator[_Row]:
    task = shape.need(json.parsed(content, path), dict, str(path))
    for index, value in enumerate(shape.field(task, "examples", list, str(path))):
        place = f"{path}, example {index}"
        example = shape.need(value, dict, place)
        text, scores = shape.field(example, "input", str, place), shape.field(example, "target_scores", dict, place)
        if len(scores) != 2 or {*map(type, scores.values())} - {int, float} or len({*scores.values()}) != 2:
            found = ", ".join(f"{target!r}: {shape.shown(score)}" for target, score in list(scores.items())[:4])
            raise InputError(f"{place}, target_scores", found or "no targets", "two targets with different scores")
        good, bad = sorted(scores, key=lambda target: -scores[target])
        yield place, (text, text), (good, bad), "", {}


def _of_gold(content: str, path: Path) -> Iterator[_Row]:
    texts = [line.split() for _, line in utf8.lines(utf8.read(path.with_suffix(".text")))]
    lines = [line for _, line in utf8.lines(content)]
    if len(texts) != len(lines):
        raise InputError(str(path), f"{len(lines)} lines, and {len(texts)} in {path.stem}.text", "as many in both")
    if wrong := next((number for number, line in enumerate(lines, 1) if not _GOLD.fullmatch(line)), 0):
        raise InputError(f"{path}, line {wrong}", repr(lines[wrong - 1][:60]), "place, right form and wrong form")
    rows = [line.strip().split("\t") for line in lines]
    # Places count from 0 or, as the published ones do, from -1; the forms show which.
    fits = [
        [words[int(row[0]) + more :][:1] == [row[1]] for words, row in zip(texts, rows, strict=True)] for more in (0, 1)
    ]
    more = max(0, 1, key=lambda more: sum(fits[more]))
    for number, (words, row) in enumerate(zip(texts, rows, strict=True), 1):
        if not fits[more][number - 1]:
            found = f"{row[1]!r} at {row[0]} of {' '.join(words)[:60]!r}"
            raise InputError(f"{path}, line {number}", found, "the form at its place, which all lines count alike")
        prefix = " ".join(words[: int(row[0]) + more])
        tags = {"attractors": row[3]} if len(row) > 3 else {}
        yield f"{path}, line {number}", (prefix, prefix), (row[1], row[2]), "", tags


def _of_forms(content: str, path: Path) -> Iterator[_Row]:
    table = _table.under(None, content, path, "\t", quote=False)
    groups: dict[str, list[tuple[int, dict[str, str]]]] = {}
    for number, row in table.rows:
        key = "-".join(row[name] for name in ("pattern", "constr_id", "sent_id") if name in row)
        groups.setdefault(key, []).append((number, row))
    for key, rows in groups.items():
        place, sides = table.place(rows[0][0]), {row["class"]: row for _, row in rows}
        if len(rows) != 2 or {*sides} != {*_CLASSES}:
            found = f"{', '.join(repr(row['class']) for _, row in rows[:4])} of the sentence {key}"
            raise InputError(place, found, "a row correct and a row wrong")
        good, bad = (sides[name] for name in _CLASSES)
        tags = {name: cell for name, cell in _table.tags(good, _UNREAD).items() if bad[name] == cell}
        yield place, (good["prefix"], bad["prefix"]), (good["form"], bad["form"]), key, tags


_SAID: Mapping[_Layout, str] = {
    _of_list: "pairs of prefixes and pairs of endings, the good one first",
    _of_task: "the input and its two targets, the one with the higher score is good",
    _of_gold: "the words before the place, then the right or the wrong form",
    _of_forms: "prefix and form, the one of the class correct is good",
}


def _first(head: str) -> tuple[_Texts, _Texts] | None:
    """Return the first item of a list, if it has the shape of a pair and is not cut off."""
    try:
        return _pair(JSONDecoder().raw_decode(head.lstrip()[1:].lstrip()[:20_000])[0])
    except (ValueError, RecursionError):
        return None


def _pair(value: Any) -> tuple[_Texts, _Texts] | None:
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
