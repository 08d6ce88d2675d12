"""Vocabularies for templates: the folder of a word-level model, or a list of words.

A model knows exactly the words of its vocabulary; so a word at the beginning of a sentence is known if it is in the
vocabulary with a capital. Its file `vocabulary.txt` is read here without the model: a line of JSON, then a word per line,
in which rare characters are written `\\u{HEX}`. The model's `tokens`, in `model.json`, say whether sentences are split at
white space or as in the Penn Treebank.

A list has no rule for capitals: a word is known if it is listed as it stands or in lower case. So is a contraction or a
possessive of which all parts are listed. Punctuation is always known.
"""

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from syntagm.core import InputError, UsageError, json, shape, utf8
from syntagm.suites.templates.vocabulary import Words

MODEL, VOCABULARY = "model.json", "vocabulary.txt"
_EXPECTED = "the folder of a word-level model (lstm, ngram, rnng), or a text file with a word per line"
_ESCAPE = re.compile(r"\\u\{([0-9a-f]{1,5})\}")
_ENDINGS = r"['’](?:s|d|m|ll|re|ve)\b"
# The words of sentences without quotation marks and numbers, as in the Penn Treebank.
_TREEBANK = re.compile(
    rf"\w+(?=n['’]t\b)|n['’]t\b|{_ENDINGS}|can(?=not\b)|\w+(?:-\w+|(?!{_ENDINGS})['’]\w+)*|[^\w\s]", re.IGNORECASE
)


def read(source: Path) -> Words:
    """Read the words of a model folder or of a list.

    Raises:
        UsageError: there is no such file, or the folder has no vocabulary.
        InputError: the vocabulary can't be read.
    """
    if source.is_file():
        return _listed(utf8.read(source), str(source))
    if not (source / VOCABULARY).is_file():
        found = f"no {VOCABULARY} in {source}" if source.exists() else f"no {source}"
        raise UsageError("vocabulary", found, _EXPECTED)
    record = json.parsed(utf8.read(source / MODEL), source / MODEL)
    tokens = record.get("tokens") if isinstance(record, dict) else None
    if tokens not in ("auto", "blanks", "treebank"):
        raise InputError(str(source / MODEL), f"tokens {shape.shown(tokens)}", "auto, blanks or treebank")
    return _of_model(utf8.read(source / VOCABULARY), source.resolve().name, tokens == "blanks")


def treebank(sentence: str) -> Sequence[str]:
    """Split a sentence into words, contractions and possessives into two, as in the Penn Treebank.

    >>> treebank("The cook's well-fed dog wasn't here, and can't be.")
    ['The', 'cook', "'s", 'well-fed', 'dog', 'was', "n't", 'here', ',', 'and', 'ca', "n't", 'be', '.']
    """
    return _TREEBANK.findall(sentence)


# The suites of a collection share the words, and what was looked up in them.
@lru_cache(maxsize=2)
def _of_model(text: str, name: str, at_blanks: bool) -> Words:
    known = frozenset(_ESCAPE.sub(lambda match: chr(int(match[1], 16)), line) for line in text.split("\n")[1:-1])
    return Words(_about(name, text, len(known)), str.split if at_blanks else treebank, known.__contains__)


@lru_cache(maxsize=2)
def _listed(text: str, place: str) -> Words:
    listed = frozenset(word for line in text.splitlines() if (word := line.strip()))
    for word in listed:
        if len(word.split()) > 1:
            raise InputError(place, f"several words in a line: {word[:80]!r}", "a word per line")
    if not listed:
        raise InputError(place, "no words", "a word per line")

    def known(word: str) -> bool:
        return word in listed or word.lower() in listed or not any(sign.isalnum() for sign in word)

    def parts(sentence: str) -> Sequence[str]:
        bare = [word.strip('.,;:?!…()[]“”"') for word in sentence.split()]
        return [part for word in bare for part in ([word] if known(word) else treebank(word))]

    return Words(_about(Path(place).name, text, len(listed)), parts, known)


def _about(name: str, text: str, words: int) -> str:
    return f"{name} {hashlib.sha256(text.encode()).hexdigest()[:8]}, {words:,} words"
