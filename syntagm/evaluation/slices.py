"""Slices of suites: units of work that are named by a hash of their content."""

import hashlib
import json

from syntagm.evaluation.task import Unit
from syntagm.suites import Item, Suite, public_tags

MAX_SENTENCES = 8192
VERSION = 1


def suite_hash(suite: Suite) -> str:
    """Return the hash of a suite's content: items, formulas and public tags."""
    return slices(suite, "")[0]


def slices(suite: Suite, identity: str) -> tuple[str, list[Unit]]:
    """Return the hash of a suite's content and its units."""
    # A unit has at most `MAX_SENTENCES` sentences (unless a single item has more). No item is divided between units.
    head = _head(suite)
    suite_digest = hashlib.sha256(head.encode())
    units: list[Unit] = []
    first, count, unit_digest = 0, 0, hashlib.sha256()

    def close(last: int) -> None:
        name = hashlib.sha256(f"{head}\0{identity}\0{first}\0{unit_digest.hexdigest()}".encode()).hexdigest()[:32]
        units.append(Unit(name, suite.name, first, last, count))

    for index, item in enumerate(suite.items):
        if count and count + len(item.sentences) > MAX_SENTENCES:
            close(index)
            first, count, unit_digest = index, 0, hashlib.sha256()
        content = _content(item)
        unit_digest.update(content)
        suite_digest.update(content)
        count += len(item.sentences)
    if suite.items:
        close(len(suite.items))
    return suite_digest.hexdigest()[:32], units


def _head(suite: Suite) -> str:
    formulas = [[prediction.name, prediction.formula.text] for prediction in suite.predictions]
    return json.dumps([VERSION, suite.name, suite.aggregate, formulas])


def _content(item: Item) -> bytes:
    sentences = [
        [condition, sentence.text, [[region.name, region.start, region.end] for region in sentence.regions]]
        for condition, sentence in item.sentences.items()
    ]
    return json.dumps([item.id, sentences, public_tags(item.tags)]).encode()
