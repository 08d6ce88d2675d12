"""BLiMP (Warstadt et al. 2020) and similar datasets: JSON lines with `sentence_good` and `sentence_bad`.

This format reads the published files, the copy on the Hugging Face hub (`pair_id`, no prefix fields), ZhoBLiMP, SLING,
BLiMP-NL, and the BabyLM supplement (only the two sentences). The field `UID` or `paradigm`, whose case is
ignored, has the name of the suite; the default is the name of the file.

A field with the same value in all lines of a suite becomes a tag of the suite; other fields become tags of the items.
Values are kept as in the file (`syntax/semantics` is not changed). A value that is not a string is written as JSON
(`true`, `5`). The tag `json:fields` lists the fields of a line in order, and marks those that were not strings with
`json`. Without this tag, only the flags of the published files (`simple_LM_method` and so on) are written as JSON.
Spaces around a critical word (1,134 of the published words begin with a space) are ignored, and kept in a `json:` tag.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from syntagm.core import InputError, UsageError, atomic, json as strict_json, shape, utf8
from syntagm.suites.formats import _pair, _table, refining_tse
from syntagm.suites.suite import Item, Sentence, Suite, published

ENDINGS = (".jsonl",)
WRITES = (".jsonl",)
IDS = ("pairID", "pair_id", "pair_ID", "id", "ID")
NAMES = ("UID", "paradigm")
_ONE, _TWO = _pair.FIELDS["one_prefix"], _pair.FIELDS["two_prefix"]
_FLAGS = ("simple_LM_method", "one_prefix_method", "two_prefix_method", "lexically_identical")
_SENTENCE_FIELDS = ("sentence_good", "sentence_bad", *_ONE, *_TWO)


def claims(path: Path, head: str) -> bool:
    """Return whether these are JSON lines with both sentences, but without the label of the format `refining_tse`."""
    first = head.lstrip().split("\n", 1)[0]
    pair = first.startswith("{") and '"sentence_good"' in first and '"sentence_bad"' in first
    return pair and not refining_tse.claims(path, head)


def unscored(path: Path, head: str, **options: str) -> list[str]:
    """Return the fields that are not those of the published files; they become tags."""
    used = {*_SENTENCE_FIELDS, *IDS, *NAMES, *_FLAGS, "field", "linguistics_term", options.get("suite")}
    return [name for name in _table.excerpt(path, head).columns if name not in used]


def read(path: Path, *, suite: str = "") -> Iterator[Suite]:
    """Read the suites of a file, one for each paradigm.

    Arguments:
        path: the file.
        suite: the field with the name of the suite, if it is neither `UID` nor `paradigm`.

    Raises:
        InputError: a field is missing or not a string, or the sentence doesn't begin with prefix and word; the message
            names the line.
        UsageError: a line lacks the field that `suite` names.
    """
    content = utf8.read(path)
    rows = []
    for line, row in strict_json.objects(content, path):
        rows.append((line, row))
        shape.count(len(rows), path)
    method = _method(rows[0][1]) if rows else None
    escaped = {"json:ascii": "true"} if content.isascii() and "\\u" in content else {}
    items = []
    for index, (line, row) in enumerate(rows):
        place = f"{path}, line {line}"
        if _method(row) != method:
            found = f"the fields of {other}" if (other := _method(row)) else "fields that match no prefix method"
            raise InputError(place, found, f"the same fields as in line {rows[0][0]}")
        if (_naming(row, suite) is None) != (_naming(rows[0][1], suite) is None):
            cure = "Name the field of the suite in each line, or choose another with suite=FIELD."
            raise InputError(place, f"{' or '.join(NAMES)} in some lines only", "the same in all lines", cure)
        items.append((_name(row, suite, path, place), _item(row, index, method, place, escaped)))
    yield from _pair.suites(items, method, str(path))


def write(suites: Sequence[Suite], path: Path) -> None:
    """Write minimal pairs as JSON lines. Suites that were read from such a file are written unchanged.

    Raises:
        InputError: a suite does not consist of minimal pairs, or a tag has the name of a sentence field.
    """
    lines = []
    for suite in map(published, suites):
        method = _pair.method(suite)
        lines += [_line(suite, item, method) for item in suite.items]
    atomic.write(path, "".join(line + "\n" for line in lines).encode())


def _method(row: dict[str, Any]) -> str | None:
    return (
        "one_prefix" if any(key in row for key in _ONE) else "two_prefix" if any(key in row for key in _TWO) else None
    )


def _naming(row: dict[str, Any], option: str) -> str | None:
    """Return the field with the name of the suite, whose case is ignored unless an option names it."""
    known = (option,) if option else tuple(key for name in NAMES for key in row if key.lower() == name.lower())
    return next((key for key in known if key in row), None)


def _name(row: dict[str, Any], option: str, path: Path, place: str) -> str:
    key = _naming(row, option)
    if option and key is None:
        raise UsageError(place, f"no field {option!r}", "one of " + ", ".join(row))
    return path.stem if key is None else shape.plain(row[key])


def _item(row: dict[str, Any], index: int, method: str | None, place: str, escaped: dict[str, str]) -> Item:
    texts = {key: shape.sentence(row[key], f"{place}, {key}") for key in _SENTENCE_FIELDS if key in row}
    for key in ("sentence_good", "sentence_bad", *(_pair.FIELDS[method] if method else ())):
        if key not in texts:
            raise InputError(
                place, f"no {key!r}", "both sentences" if key in _SENTENCE_FIELDS[:2] else f"all fields of {method}"
            )
    if any(key in row for key in _ONE) and any(key in row for key in _TWO):
        raise InputError(place, "the fields of both prefix methods", "the fields of one method")
    good, bad = (texts[key] for key in _SENTENCE_FIELDS[:2])
    if method:
        sentences = _pair.regions(good, bad, method, [texts[key] for key in _pair.FIELDS[method]], place)
    else:
        sentences = {"good": Sentence(good), "bad": Sentence(bad)}
    key = next((key for key in IDS if key in row), None)
    tags = {name: shape.plain(value) for name, value in row.items() if name not in (*_SENTENCE_FIELDS, key)}
    if reserved := next((name for name in tags if name.startswith("json:")), None):
        raise InputError(place, f"a field {reserved!r}", "a name that doesn't begin with json:", "Rename the field.")
    spaced = {
        f"json:{name}": text
        for name, text in texts.items()
        if name not in _SENTENCE_FIELDS[:2] and text != text.strip()
    }
    fields = {
        "json:fields": json.dumps({name: "" if isinstance(value, str) else "json" for name, value in row.items()})
    }
    return Item(shape.plain(row[key]) if key else str(index), sentences, tags | spaced | fields | escaped)


def _line(suite: Suite, item: Item, method: str | None) -> str:
    tags = {**suite.tags, **item.tags}
    plain = {key: value for key, value in tags.items() if not key.startswith("json:")}
    texts = {"sentence_good": item.sentences["good"].text, "sentence_bad": item.sentences["bad"].text}
    for key, text in _pair.parts(item, method, f"suite {suite.name}").items():
        published = tags.get(f"json:{key}", text)
        texts[key] = published if published.strip() == text else text
    fields = json.loads(tags.get("json:fields", "{}"))
    identifier = next((key for key in IDS if key in fields and key not in plain), "pairID" if not fields else None)
    name_field = {} if fields or any(key in plain for key in NAMES) else {"UID": suite.name}
    values = texts | plain | name_field | ({identifier: item.id} if identifier else {})
    order = [*(key for key in fields if key in values), *(key for key in values if key not in fields)]
    typed = fields or dict.fromkeys(_FLAGS, "json")
    row = {key: _value(values[key]) if typed.get(key) == "json" else values[key] for key in order}
    return json.dumps(row, ensure_ascii=tags.get("json:ascii") == "true")


def _value(tag: str) -> Any:
    try:
        return json.loads(tag)
    except json.JSONDecodeError:
        return tag  # The tag was changed to something that is not JSON.
