"""Mending of what is mechanical in suites, and lists of items to exclude for the rest.

Mended are white space at the ends (W302) and inside (W301), forms that are not NFC (W303), and letters of a file that was
read in another encoding (W306). Nothing else is changed: neither words, nor marks, nor labels.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from syntagm.core import InputError, csv
from syntagm.suites.check import Finding, is_left_out
from syntagm.suites.check.spelling import repaired
from syntagm.suites.suite import Region, Sentence, Suite

COLUMNS = ("suite", "item", "condition", "codes", "before", "after")
# Findings of items that no mending can save: the same pair twice, both sentences the same, good in one and bad in another.
EXCLUDING = ("W202", "W204", "W212")
_WHITE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Change:
    """A sentence that was mended, with the codes of what was wrong."""

    suite: str
    item: str
    condition: str
    codes: str
    before: str
    after: str


def mended(suite: Suite) -> tuple[Suite, list[Change]]:
    """Return a suite with mended sentences, and the changes. Regions stay on their words.

    Raises:
        InputError: the regions of a sentence can't be kept.

    >>> from syntagm.suites.suite import Item
    >>> pair = Item("1", {"good": Sentence(" The  dog barks."), "bad": Sentence("The dog bark.")})
    >>> suite, changes = mended(Suite("s", (pair,), ()))
    >>> suite.items[0].sentences["good"].text, changes[0].codes
    ('The dog barks.', 'W301 W302')
    """
    changes, items = [], []
    for item in suite.items:
        sentences = {}
        for condition, sentence in item.sentences.items():
            sentences[condition], codes = _mended(
                sentence, f"suite {suite.name}, item {item.id}, condition {condition}"
            )
            if codes:
                after = sentences[condition].text
                changes.append(Change(suite.name, item.id, condition, " ".join(codes), sentence.text, after))
        items.append(replace(item, sentences=sentences))
    return replace(suite, items=tuple(items)), changes


def log(changes: Iterable[Change]) -> str:
    """Return changes as CSV, with the columns `COLUMNS`."""
    rows = [(each.suite, each.item, each.condition, each.codes, each.before, each.after) for each in changes]
    return "".join(csv.lines(COLUMNS, rows))


def to_exclude(suites: Iterable[Suite], findings: Sequence[Finding]) -> list[tuple[str, str]]:
    """Return suite and item of the items that should not count: by their findings, or as their authors left them out."""
    # Of a sentence that is good in one item and bad in another, both items are left out, as nothing says which is
    # wrong.
    found = {(each.suite, each.item): None for each in findings if each.code in EXCLUDING and each.item}
    contested = {(each.suite, each.item) for each in findings if each.code == "W212"}
    for suite in suites:
        bad = {item.sentences["bad"].text for item in suite.items if (suite.name, item.id) in contested}
        goods = ((item, item.sentences["good"].text) for item in suite.items if bad and "good" in item.sentences)
        found |= {(suite.name, item.id): None for item, text in goods if text in bad}
        found |= {(suite.name, item.id): None for item in suite.items if is_left_out(suite, item)}
    return list(found)


def _mended(sentence: Sentence, place: str) -> tuple[Sentence, list[str]]:
    steps: dict[str, Callable[[str], str]] = {
        "W306": repaired,
        "W303": lambda text: unicodedata.normalize("NFC", text),
        "W301": lambda text: _WHITE.sub(" ", text) if _WHITE.sub(" ", text.strip()) != text.strip() else text,
        "W302": str.strip,
    }
    text, codes = sentence.text, []
    for code, step in steps.items():
        if (after := step(text)) != text:
            codes.append(code)
            text = after
    if not codes or not sentence.regions:
        return Sentence(text, sentence.regions), sorted(codes)
    return Sentence(text, tuple(_moved(sentence, text, place))), sorted(codes)


def _moved(sentence: Sentence, text: str, place: str) -> Iterator[Region]:
    """Return the regions of a sentence at their words in its mended text."""
    end = 0
    for region in sentence.regions:
        old = sentence.text[region.start : region.end]
        words = _WHITE.sub(" ", unicodedata.normalize("NFC", repaired(old))).strip()
        start = text.find(words, end)
        if start < 0 or text[end:start].strip() != _WHITE.sub(" ", _between(sentence, region)).strip():
            raise InputError(place, f"the region {region.name!r} of {sentence.text!r}", "regions around whole words")
        end = start + len(words)
        yield Region(region.name, start, end)


def _between(sentence: Sentence, region: Region) -> str:
    """Return the text between a region and the one before it, which stays as it is."""
    before = max((other.end for other in sentence.regions if other.end <= region.start and other != region), default=0)
    return unicodedata.normalize("NFC", repaired(sentence.text[before : region.start]))
