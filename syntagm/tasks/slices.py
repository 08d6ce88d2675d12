"""Cut a suite into slices of items, each a unit of work named by its content."""

import hashlib
import json

from syntagm.suite import Item, Suite, public_tags
from syntagm.tasks.task import Unit

MAX_SENTENCES = 8192
VERSION = 1


def suite_hash(suite: Suite) -> str:
    """Return the hash of a suite's content: items, formulas, the tags that say something."""
    return slices(suite, "")[0]


def slices(suite: Suite, identity: str) -> tuple[str, list[Unit]]:
    """Return the hash of a suite's content, and its units: at most `MAX_SENTENCES` sentences, never a part of an item.

    Arguments:
        identity: what else the numbers depend on: the model's fingerprint and the options.
    """
    head = _head(suite)
    whole = hashlib.sha256(head.encode())
    units: list[Unit] = []
    first, sentences, part = 0, 0, hashlib.sha256()

    def close(last: int) -> None:
        name = hashlib.sha256(f"{head}\0{identity}\0{first}\0{part.hexdigest()}".encode()).hexdigest()[:32]
        units.append(Unit(name, suite.name, first, last, sentences))

    for index, item in enumerate(suite.items):
        if sentences and sentences + len(item.sentences) > MAX_SENTENCES:
            close(index)
            first, sentences, part = index, 0, hashlib.sha256()
        content = _content(item)
        part.update(content)
        whole.update(content)
        sentences += len(item.sentences)
    if suite.items:
        close(len(suite.items))
    return whole.hexdigest()[:32], units


def _head(suite: Suite) -> str:
    formulas = [[prediction.name, prediction.formula.text] for prediction in suite.predictions]
    return json.dumps([VERSION, suite.name, suite.aggregate, formulas])


def _content(item: Item) -> bytes:
    sentences = [
        [condition, sentence.text, [[region.name, region.start, region.end] for region in sentence.regions]]
        for condition, sentence in item.sentences.items()
    ]
    return json.dumps([item.id, sentences, public_tags(item.tags)]).encode()
