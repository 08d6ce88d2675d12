"""SyntaxGym suites (Gauthier et al. 2020), the JSON files published with Hu et al. 2020.

A sentence is assembled from the contents of its regions: they are stripped, and those that are not empty are joined
with single spaces. Regions are named by their numbers. An empty region is a span of length 0 at the end of the text
before it. With `joined=hub`, white space before `.` and `,` is deleted after joining, as in the copy on the Hugging
Face hub.

Both published forms are read: that of the main branch (square brackets in formulas, spaces around contents) and the
corrected one. `region_meta` becomes the tags `region.N`. Other strings in `meta` and in an item become tags with the
same names. Details that the types can't store (the order of keys, spaces around contents, other keys) are in the tag
`json:suite` of the suite or `json:item` of an item: the original JSON, with null in place of each value that the types
store. With these tags, `write` reproduces the file.

Deliberate differences from SyntaxGym 0.8a1: a region may have further keys, spaces around contents are allowed, and all
names in the published JSON schema are required.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from syntagm.core import InputError, UsageError, atomic, json as strict_json, shape, utf8
from syntagm.suites.formula import parse, parse_at
from syntagm.suites.suite import AGGREGATES, Aggregate, Item, Prediction, Region, Sentence, Suite

ENDINGS = (".json",)
WRITES = (".json",)
JOINED = ("main", "hub")
_KEYS = ('"meta"', '"region_meta"', '"predictions"', '"items"', '"condition_name"')
RESERVED = ("json:", "region.")
_REFERENCE = re.compile(r"\(\s*([\w-]+)(?=\s*;%)")
_BEFORE_STOP = re.compile(r"\s+(?=[.,])")


def claims(path: Path, head: str) -> bool:
    """Return whether this is a JSON file that begins with an object and has at least two keys of a suite."""
    return path.suffix == ".json" and head.lstrip().startswith("{") and sum(key in head for key in _KEYS) >= 2


def read(path: Path, *, joined: str = "") -> Iterator[Suite]:
    """Read the suite of a file.

    Arguments:
        path: the JSON file.
        joined: `main` joins contents with single spaces; `hub` then deletes white space before `.` and `,`. The default
            is the value in `meta`, which `write` adds to some files, otherwise `main`.

    Raises:
        InputError: the file is not a suite; the message names item, condition and region.
        UsageError: `joined` has any other value.
    """
    if joined not in ("", *JOINED):
        raise UsageError("joined", repr(joined), " or ".join(JOINED))
    content = utf8.read(path)
    top = shape.need(strict_json.parsed(content, path), dict, str(path))
    meta, labels = (shape.field(top, key, dict, str(path)) for key in ("meta", "region_meta"))
    predictions, listed = (shape.field(top, key, list, str(path)) for key in ("predictions", "items"))
    shape.count(len(listed), path)
    joined = joined or ("hub" if meta.get("joined") == "hub" else "main")
    items = tuple(item_of(value, f"{path}, items[{index}]", joined) for index, value in enumerate(listed))
    tags = texts(meta, ("name", "metric")) | _labels(labels, f"{path}, region_meta")
    name = shape.field(meta, "name", str, f"{path}, meta")
    suite = Suite(name, items, tuple(_predictions(predictions, path)), tags, _aggregate(meta, f"{path}, meta"))
    skeleton = strip(top | {"items": []}, _frame(suite))
    escaped = {"json:ascii": "true"} if content.isascii() and "\\u" in content else {}
    yield replace(suite, tags=tags | _json_tag("json:suite", skeleton) | escaped)


def write(suites: Sequence[Suite], path: Path) -> None:
    """Write a suite in the layout of the published files: `json.dumps` with an indent of 4 and no final newline.

    Names of regions and predictions become numbers; the names are in `region_meta` and `meta`. If punctuation follows
    without a space, `meta` gets `joined: hub`, so that reading it gives no space either.

    Raises:
        InputError: there is more than one suite, or the format can't store the suite; the message gives the reason.
    """
    if len(suites) != 1:
        cure = "A SyntaxGym file holds one suite: write each suite to a separate file."
        raise InputError(str(path), f"{len(suites)} suites", "one suite", cure)
    atomic.write(path, text_of(suites[0]).encode())


def text_of(named: Suite) -> str:
    suite = numbered(named)
    if suite is not named and any(_attached(item) for item in suite.items):
        suite = replace(suite, tags={**suite.tags, "joined": "hub"})
    top = _frame(suite)
    if "json:suite" in suite.tags:
        top = fill(json.loads(suite.tags["json:suite"]), top, f"suite {suite.name}")
    top["items"] = [item_json(item, f"suite {suite.name}, item {item.id}") for item in suite.items]
    return json.dumps(top, indent=4, ensure_ascii=suite.tags.get("json:ascii") == "true")


def _attached(item: Item) -> bool:
    """Return whether punctuation follows without a space in any of the sentences."""
    return any(
        assemble([sentence.text[region.start : region.end] for region in sentence.regions]).text != sentence.text
        for sentence in item.sentences.values()
    )


def assemble(contents: Sequence[str], joined: str = "main") -> Sentence:
    """Make a sentence from the contents of its regions, which are named by their numbers from 1.

    >>> assemble(["The keys ", "", "are here", "."], "hub").text
    'The keys are here.'
    """
    text, regions = "", []
    for number, content in enumerate(contents, 1):
        content = content.strip()
        start = len(text) + 1 if text and content else len(text)
        text = f"{text} {content}" if text and content else text + content
        regions.append(Region(str(number), start, len(text)))
    sentence = Sentence(text, tuple(regions))
    return _as_hub(sentence) if joined == "hub" else sentence


def contents(sentence: Sentence, place: str) -> list[str]:
    names = [region.name for region in sentence.regions]
    if not names or names != [str(number) for number in range(1, len(names) + 1)]:
        shown = ", ".join(names) or "none"
        raise InputError(
            place, f"regions {shown}", "regions called 1, 2, 3 ... in order", "SyntaxGym allows no other names."
        )
    return [sentence.text[region.start : region.end] for region in sentence.regions]


def _as_hub(sentence: Sentence) -> Sentence:
    kept = bytearray(b"\1") * len(sentence.text)
    for match in _BEFORE_STOP.finditer(sentence.text):
        kept[match.start() : match.end()] = bytes(match.end() - match.start())
    # The new position of each character is the number of characters before it that are not deleted.
    positions = [0, *accumulate(kept)]
    regions = (Region(region.name, positions[region.start], positions[region.end]) for region in sentence.regions)
    return Sentence(_BEFORE_STOP.sub("", sentence.text), tuple(regions))


def item_of(value: Any, place: str, joined: str) -> Item:
    item = shape.need(value, dict, place)
    number = item.get("item_number")
    if isinstance(number, bool) or not isinstance(number, int | str):
        found = "no item_number" if "item_number" not in item else f"item_number {shape.shown(number)}"
        raise InputError(place, found, "an integer", "Number the items 1, 2, 3 ...")
    place = f"{place} (item {number})"
    sentences: dict[str, Sentence] = {}
    for index, condition in enumerate(shape.field(item, "conditions", list, place)):
        condition = shape.need(condition, dict, f"{place}, conditions[{index}]")
        name = shape.field(condition, "condition_name", str, f"{place}, conditions[{index}]")
        if name in sentences:
            raise InputError(
                place, f"the condition {name!r} twice", "each condition once", "Rename or delete one of them."
            )
        sentences[name] = _sentence(condition, f"{place}, condition {name}", joined)
    tags = texts(item, ("item_number", "conditions"))
    plain = Item(str(number), sentences, tags)
    return replace(plain, tags=tags | _json_tag("json:item", strip(item, _plain_item(plain, place))))


def _sentence(condition: dict[str, Any], place: str, joined: str) -> Sentence:
    parts = []
    for index, region in enumerate(shape.field(condition, "regions", list, place), 1):
        region = shape.need(region, dict, f"{place}, region {index}")
        number = shape.field(region, "region_number", int, f"{place}, region {index}")
        if number != index:
            cure = "Number the regions 1, 2, 3 ... in the order of the sentence."
            raise InputError(f"{place}, region {index}", f"region_number {number}", str(index), cure)
        parts.append(shape.field(region, "content", str, f"{place}, region {index}"))
    shape.sentence(" ".join(parts), place)
    return assemble(parts, joined)


def _predictions(listed: list[Any], path: Path) -> Iterator[Prediction]:
    for index, value in enumerate(listed):
        place = f"{path}, prediction {index}"
        prediction = shape.need(value, dict, place)
        if (kind := shape.field(prediction, "type", str, place)) != "formula":
            raise InputError(place, f"type {kind!r}", '"formula"')
        yield Prediction(str(index), parse_at(shape.field(prediction, "formula", str, place), place))


def _labels(labels: dict[str, Any], place: str) -> dict[str, str]:
    for key in labels:
        if not re.fullmatch("[1-9][0-9]*", key):
            raise InputError(place, f"the key {key!r}", 'a region number such as "1"')
        shape.field(labels, key, str, place)
    return {f"region.{key}": label for key, label in labels.items()}


def _aggregate(meta: dict[str, Any], place: str) -> Aggregate:
    metric = shape.field(meta, "metric", str, place)
    for aggregate in AGGREGATES:
        if metric == aggregate:
            return aggregate
    raise InputError(place, f"metric {metric!r}", "one of " + ", ".join(AGGREGATES), "One suite has one metric.")


def _frame(suite: Suite) -> dict[str, Any]:
    """Return the JSON of a suite without its items and without the details in the tag `json:suite`."""
    place = f"suite {suite.name}"
    names = [prediction.name for prediction in suite.predictions]
    if names != [str(index) for index in range(len(names))]:
        cure = "SyntaxGym numbers its predictions; their names would be lost."
        raise InputError(place, "predictions " + ", ".join(names), "predictions called 0, 1, 2 ...", cure)
    meta = {"name": suite.name, "metric": suite.aggregate} | plain(suite.tags, ("name", "metric"), place)
    labels = {key.removeprefix("region."): label for key, label in suite.tags.items() if key.startswith("region.")}
    predictions = [{"type": "formula", "formula": prediction.formula.text} for prediction in suite.predictions]
    return {"meta": meta, "region_meta": labels, "predictions": predictions, "items": []}


def item_json(item: Item, place: str) -> dict[str, Any]:
    result: dict[str, Any] = _plain_item(item, place)
    if "json:item" in item.tags:
        result = dict(fill(json.loads(item.tags["json:item"]), result, place))
    for condition, sentence in zip(result["conditions"], item.sentences.values(), strict=True):
        parts = [region["content"] for region in condition["regions"]]
        if sentence.text not in (assemble(parts).text, assemble(parts, "hub").text):
            cure = "Regions must cover the sentence except for single spaces between them."
            where = f"{place}, condition {condition['condition_name']}"
            raise InputError(where, repr(sentence.text), repr(assemble(parts).text), cure)
    return result


def _plain_item(item: Item, place: str) -> dict[str, Any]:
    """Return the JSON of an item without the details in the tag `json:item`."""
    conditions = []
    for name, sentence in item.sentences.items():
        texts = contents(sentence, f"{place}, condition {name}")
        regions = [{"region_number": number, "content": content} for number, content in enumerate(texts, 1)]
        conditions.append({"condition_name": name, "regions": regions})
    tags = plain(item.tags, ("item_number", "conditions"), place)
    return {"item_number": number(item.id), "conditions": conditions} | tags


def _json_tag(tag: str, skeleton: Any) -> dict[str, str]:
    return {} if skeleton is None else {tag: json.dumps(skeleton, ensure_ascii=False)}


def numbered(suite: Suite) -> Suite:
    """Replace the names of regions and predictions with numbers. A suite with numbers is returned unchanged."""
    # The names of regions become the tags `region.N`, and those of predictions the tags `prediction.N`. A sentence
    # without regions becomes one region.
    sequences = _names(suite)
    has_names = not all(names and names == tuple(map(str, range(1, len(names) + 1))) for names in sequences)
    if not has_names and all(prediction.name == str(index) for index, prediction in enumerate(suite.predictions)):
        return suite
    if has_names and len(sequences) > 1:
        shown = "; ".join(f"{', '.join(names) or 'none'} in {place}" for names, place in list(sequences.items())[:2])
        raise InputError(f"suite {suite.name}", f"different regions: {shown}", "the same regions in all sentences")
    names = next(iter(sequences), ())
    numbers = {name: str(number) for number, name in enumerate(names, 1)}
    labels = {f"region.{number}": name for name, number in numbers.items()} if has_names else {}
    labels |= {f"prediction.{index}": prediction.name for index, prediction in enumerate(suite.predictions)}
    return replace(
        suite,
        items=tuple(
            replace(item, sentences={name: _numbered_sentence(own, numbers) for name, own in item.sentences.items()})
            for item in suite.items
        )
        if has_names
        else suite.items,
        predictions=tuple(_numbered_predictions(suite, numbers)),
        tags={**suite.tags, **labels},
    )


def _names(suite: Suite) -> dict[tuple[str, ...], str]:
    """Return the sequences of region names that occur, each with the place of its first sentence."""
    places: dict[tuple[str, ...], str] = {}
    for item in suite.items:
        for condition, sentence in item.sentences.items():
            names = tuple(region.name for region in sentence.regions)
            places.setdefault(names, f"item {item.id}, condition {condition}")
    return places


def _numbered_sentence(sentence: Sentence, numbers: Mapping[str, str]) -> Sentence:
    if not sentence.regions:
        return Sentence(sentence.text, (Region("1", 0, len(sentence.text)),))
    regions = (Region(numbers[region.name], region.start, region.end) for region in sentence.regions)
    return Sentence(sentence.text, tuple(regions))


def _numbered_predictions(suite: Suite, numbers: Mapping[str, str]) -> Iterator[Prediction]:
    for index, prediction in enumerate(suite.predictions):
        text = _REFERENCE.sub(lambda match: "(" + numbers.get(match[1], match[1]), prediction.formula.text)
        # SyntaxGym's own parser groups with round brackets only.
        yield Prediction(str(index), parse(text.replace("[", "(").replace("]", ")")))


# A skeleton is the original JSON with null in place of each value that a suite stores. `strip` makes it by comparing the
# original with the JSON that would be written without it, and `fill` puts the two back together. If a suite was changed,
# its values replace those of the skeleton.


def strip(original: Any, rebuilt: Any) -> Any:
    """Replace the parts of `original` that `rebuilt` reproduces, including the order of keys, with None.

    >>> strip({"b": 1, "a": {"x": 1}}, {"a": {"x": 1}})
    {'b': 1, 'a': None}
    """
    if json.dumps(original) == json.dumps(rebuilt):
        return None
    if isinstance(original, dict) and isinstance(rebuilt, dict):
        return {key: strip(value, rebuilt[key]) if key in rebuilt else value for key, value in original.items()}
    if isinstance(original, list) and isinstance(rebuilt, list) and len(original) == len(rebuilt):
        return [strip(value, new) for value, new in zip(original, rebuilt, strict=True)]
    return original


def fill(skeleton: Any, rebuilt: Any, place: str) -> Any:
    """Rebuild the original from its skeleton and the JSON of the suite.

    Raises:
        InputError: the suite has more or fewer conditions, regions or predictions than the skeleton.

    >>> fill({"b": 1, "a": None}, {"a": {"x": 2}}, "here")
    {'b': 1, 'a': {'x': 2}}
    """
    if skeleton is None:
        return rebuilt
    if isinstance(skeleton, dict) and isinstance(rebuilt, dict):
        filled = {key: fill(value, rebuilt[key], place) if key in rebuilt else value for key, value in skeleton.items()}
        return filled | {key: value for key, value in rebuilt.items() if key not in skeleton}
    if isinstance(skeleton, list) and isinstance(rebuilt, list):
        if len(skeleton) != len(rebuilt):
            cure = "Remove the tags that begin with json:, which belong to a different version of the suite."
            found = f"{len(rebuilt)} parts where its json: tag has {len(skeleton)}"
            raise InputError(place, found, "the same number", cure)
        return [fill(value, new, place) for value, new in zip(skeleton, rebuilt, strict=True)]
    return skeleton if _letters(skeleton) == _letters(rebuilt) else rebuilt


def texts(values: Mapping[str, Any], used: Sequence[str]) -> dict[str, str]:
    """Return the values that can be tags: non-empty texts whose names are neither in `used` nor reserved."""
    return {
        key: value
        for key, value in values.items()
        if isinstance(value, str) and value and key not in used and not key.startswith(RESERVED)
    }


def plain(tags: Mapping[str, str], used: Sequence[str], place: str) -> dict[str, str]:
    """Return the tags that are not reserved, which `texts` reads back; none may have a name in `used`."""
    public = {key: value for key, value in tags.items() if not key.startswith(RESERVED)}
    for key in used:
        if key in public:
            raise InputError(place, f"a tag called {key!r}", "another name", f"The format reserves {key!r}.")
    return public


def number(identifier: str) -> int | str:
    """Return an identifier as an integer if it is written like an integer, else unchanged.

    >>> number("12"), number("012"), number("a")
    (12, '012', 'a')
    """
    return int(identifier) if re.fullmatch(r"0|-?[1-9][0-9]{0,17}", identifier) else identifier


def _letters(value: Any) -> str:
    return "".join(str(value).split())
