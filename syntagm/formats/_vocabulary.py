"""Vocabularies for templates: the folder of a word-level model, or a list of words.

A model knows exactly the words of its vocabulary, in sentences that are split into words as it splits them; so a word at the
beginning of a sentence is known if it is in the vocabulary with a capital. A list has no rule for this: a word is known if it
is listed as it stands or in lower case, and so is a contraction or possessive of which all parts are. Punctuation is always
known.
"""

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from syntagm.errors import InputError, UsageError
from syntagm.io import json, shape, utf8
from syntagm.models.words import vocabulary
from syntagm.models.words.words import KINDS, split
from syntagm.templates.vocabulary import Words

MODEL, VOCABULARY = "model.json", "vocabulary.txt"


def read(source: Path) -> Words:
    """Read the words of a model folder or of a list.

    Raises:
        UsageError: there is no such file, or the folder has no word-level model.
        InputError, ModelError: the vocabulary can't be read.
    """
    expected = "the folder of a word-level model (lstm, ngram, rnng), or a text file with a word per line"
    if not source.exists():
        raise UsageError("vocabulary", f"no {source}", expected)
    if source.is_file():
        return _listed(utf8.read(source), str(source))
    if not (source / VOCABULARY).is_file():
        raise UsageError("vocabulary", f"no {VOCABULARY} in {source}", expected)
    found = json.parsed(utf8.read(source / MODEL), source / MODEL)
    tokens = found.get("tokens") if isinstance(found, dict) else None
    if tokens not in KINDS:
        raise InputError(str(source / MODEL), f"tokens {shape.shown(tokens)}", "one of " + ", ".join(KINDS))
    return _of_model(source, tokens, (source / VOCABULARY).read_bytes())


# The suites of a collection share the words, and what was looked up in them.
@lru_cache(maxsize=2)
def _of_model(folder: Path, tokens: str, content: bytes) -> Words:
    known = vocabulary.read(folder / VOCABULARY)
    about = f"{folder.resolve().name} {_short(content)}, {len(known):,} words"
    return Words(about, lambda text: split(text, tokens), known.known)


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
        found: list[str] = []
        for word in sentence.split():
            bare = word.strip('.,;:?!…()[]“”"')
            found += [bare] if known(bare) else split(bare, "treebank")
        return found

    return Words(f"{Path(place).name} {_short(text.encode())}, {len(listed):,} words", parts, known)


def _short(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:8]
