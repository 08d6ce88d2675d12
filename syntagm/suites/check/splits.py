"""Sentences that stand, nearly the same, in the training and in the test part of a dataset."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from syntagm.suites.suite import Suite

_TRAIN = re.compile(r"(?:^|[^a-z])train(?:ing)?(?:[^a-z]|$)")
_TEST = re.compile(r"(?:^|[^a-z])(?:test|dev|valid(?:ation)?|eval)(?:[^a-z]|$)")


def shared(files: Mapping[str, Sequence[Suite]]) -> Iterator[tuple[str, str, str, str, str]]:
    """Find items of test files with a sentence that differs from one of a training file by at most one word."""
    # The names of files tell which they are: `train`, and `test`, `dev` or `valid`. Case and punctuation are ignored.
    train = {file: suites for file, suites in files.items() if _TRAIN.search(PurePath(file).stem.lower())}
    test = {
        file: suites
        for file, suites in files.items()
        if file not in train and _TEST.search(PurePath(file).stem.lower())
    }
    if not train or not test:
        return
    known: dict[tuple[str, ...], str] = {}
    for file, suites in train.items():
        for suite in suites:
            for item in suite.items:
                for sentence in item.sentences.values():
                    for key in _keys(sentence.text):
                        known.setdefault(key, f"{file}, item {item.id}")
    for file, suites in test.items():
        for suite in suites:
            for item in suite.items:
                for condition, sentence in item.sentences.items():
                    if place := next((known[key] for key in _keys(sentence.text) if key in known), ""):
                        yield file, suite.name, item.id, condition, place
                        break


def within(suite: Suite) -> Iterator[tuple[str, str, str, str]]:
    """Find items of a suite with a sentence that differs from one of an earlier item by at most one word."""
    known: dict[tuple[str, ...], tuple[str, str]] = {}
    for item in suite.items:
        keys = {condition: _keys(sentence.text) for condition, sentence in item.sentences.items()}
        found = ((name, known[key]) for name, own in keys.items() for key in own if key in known)
        if near := next(found, None):
            yield item.id, near[0], *near[1]
        for name, own in keys.items():
            for key in own:
                known.setdefault(key, (item.id, name))


def _keys(text: str) -> list[tuple[str, ...]]:
    """Return the words of a text, and all but one of them: texts that differ in one word have one of these in common."""
    words = tuple(re.findall(r"\w+", text.casefold()))
    if len(words) < 4:
        return [words]
    return [words, *((*words[:place], "\0", *words[place + 1 :]) for place in range(len(words)))]
