"""Functions for minimal pairs, shared by the formats of pairs.

A pair is an item with the conditions `good` and `bad`. If a dataset has prefixes, both sentences have the regions
`prefix`, `critical` and `rest`, which cover the sentence except for the spaces between them. The critical region is the
word (or words) whose probability given the prefix is compared: two words after one prefix (`one_prefix`), or one word
after two prefixes (`two_prefix`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from syntagm.core import InputError, shape, utf8
from syntagm.suites.formula import parse
from syntagm.suites.suite import Item, Prediction, Region, Sentence, Suite

FULL = Prediction("full_sentence", parse("(*;%good%) < (*;%bad%)"))
CRITICAL = parse("(critical;%good%) < (critical;%bad%)")
FIELDS = {
    "one_prefix": ("one_prefix_prefix", "one_prefix_word_good", "one_prefix_word_bad"),
    "two_prefix": ("two_prefix_prefix_good", "two_prefix_prefix_bad", "two_prefix_word"),
}


def split(text: str, prefix: str, word: str, place: str) -> Sentence:
    """Split a sentence that begins with a prefix and a critical word, whose surrounding white space is ignored, into regions.

    >>> sentence = split("The dogs bark.", "The dogs", " bark", "here")
    >>> [sentence.content(name) for name in ("prefix", "critical", "rest")]
    ['The dogs', 'bark', '.']
    """
    prefix, word = prefix.strip(), word.strip()
    for space in (" ", "") if prefix else ("",):
        beginning = prefix + space + word
        if word and text.startswith(beginning):
            start, end = len(prefix) + len(space), len(beginning)
            rest = end + len(text[end:]) - len(text[end:].lstrip())
            rest = end if rest == len(text) else rest
            spans = Region("prefix", 0, len(prefix)), Region("critical", start, end), Region("rest", rest, len(text))
            return Sentence(text, spans)
    expected = (
        f"a sentence that begins with {(prefix + ' ' + word).strip()!r}"
        if word
        else "a critical word that is not empty"
    )
    raise InputError(
        place, f"the sentence {text!r}", expected, "The sentence must begin with the prefix and the critical word."
    )


def regions(good: str, bad: str, method: str, fields: Sequence[str], place: str) -> dict[str, Sentence]:
    """Return the sentences of a pair with their regions. `fields` are the prefix fields in the order of `FIELDS`."""
    first, second, third = fields
    if method == "one_prefix":
        return {"good": split(good, first, second, place), "bad": split(bad, first, third, place)}
    return {"good": split(good, first, third, place), "bad": split(bad, second, third, place)}


def suites(items: Sequence[tuple[str, Item]], method: str | None, place: str) -> Iterator[Suite]:
    """Yield the suites of a file, in the order in which their names first appear."""
    # A tag that all items of a suite share becomes a tag of the suite. `items` are pairs of the name of a suite and an
    # item, and `method` is None if the sentences have no regions.
    grouped: dict[str, list[Item]] = {}
    for name, item in items:
        grouped.setdefault(name, []).append(item)
    if not grouped:
        raise InputError(place, "no pairs", "at least one pair")
    predictions = (FULL, Prediction(method, CRITICAL)) if method else (FULL,)
    for name, members in grouped.items():
        shared = _shared([item.tags for item in members])
        rest = [{key: value for key, value in item.tags.items() if key not in shared} for item in members]
        suite_items = tuple(replace(item, tags=tags) for item, tags in zip(members, rest, strict=True))
        yield Suite(name, suite_items, predictions, shared)


def alternating(path: Path, first: str) -> Iterator[Suite]:
    """Read lines without a header, of which each two are a pair. The suite is named after the file."""
    # The part of the name before a hyphen, as in `agreement_subject_verb-across_prepositional_phrase`, becomes the tag
    # `phenomenon`. Pairs are numbered from 0. `first` is `good` or `bad`, the first sentence of each pair.
    sentences = []
    for number, line in utf8.lines(utf8.read(path)):
        if not line.strip():
            raise InputError(f"{path}, line {number}", "an empty line", "a sentence")
        sentences.append(Sentence(shape.sentence(line, f"{path}, line {number}")))
    if len(sentences) % 2:
        cure = f"Write each {first} sentence before its {'good' if first == 'bad' else 'bad'} one."
        raise InputError(str(path), f"{len(sentences)} lines", "an even number of lines", cure)
    shape.count(len(sentences) // 2, path)
    phenomenon, hyphen, _ = path.stem.partition("-")
    tags = {"phenomenon": phenomenon} if hyphen else {}
    goods, bads = (sentences[::2], sentences[1::2]) if first == "good" else (sentences[1::2], sentences[::2])
    pairs = enumerate(zip(goods, bads, strict=True))
    items = [(path.stem, Item(str(index), {"good": good, "bad": bad}, tags)) for index, (good, bad) in pairs]
    yield from suites(items, None, str(path))


def neighbours(head: str) -> list[tuple[str, str]]:
    """Return the first 200 lines of a text in twos, without a line that is cut off."""
    whole = head if len(head) < 16_384 else head[: head.rfind("\n", 0, 16_384) + 1]
    lines = [line for _, line in utf8.lines(whole)][:200]
    return list(zip(lines[::2], lines[1::2], strict=False))


_EXPECTED = (
    f"the predictions of minimal pairs: {FULL.name} = {FULL.formula}, alone or followed by one_prefix or two_prefix = "
    f"{CRITICAL}"
)


def _shared(tags: Sequence[Mapping[str, str]]) -> dict[str, str]:
    shared = dict(tags[0])
    for other in tags:
        for key in [key for key, value in shared.items() if other.get(key) != value]:
            del shared[key]
    return shared


def method(suite: Suite) -> str | None:
    """Return the prefix method of a suite, or None; InputError if it does not consist of minimal pairs."""
    place = f"suite {suite.name}"
    names = [prediction.name for prediction in suite.predictions]
    formulas = {prediction.name: prediction.formula for prediction in suite.predictions}
    prefix_method = names[1] if len(names) == 2 and names[1] in FIELDS else None
    expected = {FULL.name: FULL.formula} | ({prefix_method: CRITICAL} if prefix_method else {})
    if names[:1] != [FULL.name] or formulas != expected:
        found = "the predictions " + (", ".join(names) or "none")
        if set(names) <= {FULL.name, *FIELDS}:
            found = "; ".join(f"{prediction.name} = {prediction.formula}" for prediction in suite.predictions) or found
        raise InputError(place, found, _EXPECTED, "Rename or remove predictions.")
    if suite.aggregate != "sum":
        raise InputError(
            place, f"the aggregate {suite.aggregate}", "sum", "A file of pairs can't store any other aggregate."
        )
    for item in suite.items:
        if list(item.sentences) != ["good", "bad"]:
            conditions = ", ".join(item.sentences)
            raise InputError(f"{place}, item {item.id}", f"the conditions {conditions}", "good and bad, in this order")
    return prefix_method


def parts(item: Item, method: str | None, place: str) -> dict[str, str]:
    """Return the prefix fields of an item under BLiMP's names; none without a method."""
    good, bad = item.sentences["good"], item.sentences["bad"]
    place = f"{place}, item {item.id}"
    if method is None:
        if good.regions or bad.regions:
            raise InputError(place, "regions, but no prefix method", "no regions", "The file would lose them.")
        return {}
    for sentence in (good, bad):
        rebuilt = split(
            sentence.text, _content(sentence, "prefix", place), _content(sentence, "critical", place), place
        )
        if rebuilt != sentence:
            raise InputError(place, f"regions of {sentence.text!r}", "prefix, critical and rest, covering the sentence")
    prefixes, words = ([sentence.content(name) for sentence in (good, bad)] for name in ("prefix", "critical"))
    same, differ = (prefixes, words) if method == "one_prefix" else (words, prefixes)
    if same[0] != same[1]:
        raise InputError(place, f"{same[0]!r} and {same[1]!r}", f"the same text in both sentences ({method})")
    names = FIELDS[method]
    return dict(zip(names, (same[0], *differ) if method == "one_prefix" else (*differ, same[0]), strict=True))


def _content(sentence: Sentence, name: str, place: str) -> str:
    try:
        return sentence.content(name)
    except KeyError:
        raise InputError(place, f"no region {name} in {sentence.text!r}", "prefix, critical and rest") from None
