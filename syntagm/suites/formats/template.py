"""Syntagm's templates: TOML files with slots, patterns and words, from which suites are generated.

docs/reference/templates.md describes the language. The lexicon of a template is a file in the same folder (`words.toml`
for `lexicon = "words"`) or a bundled file.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm.core import MAX_CHARACTERS, InputError, UsageError, json, shape, toml, utf8
from syntagm.suites.suite import Suite
from syntagm.suites.templates.spelling import STYLES, Style

# Every format is asked whether a file is its own; only templates need what reads them.
if TYPE_CHECKING:
    from syntagm.suites.templates.lexicon import Lexicon, Words
    from syntagm.suites.templates.template import Template

ENDINGS = (".toml",)
LEXICONS = Path(__file__).resolve().parent.parent / "materials" / "lexicon"
_NAME = re.compile(r"[A-Za-z0-9_-]+")
MODEL, VOCABULARY = "model.json", "vocabulary.txt"
_EXPECTED = "the folder of a word-level model (lstm, ngram, rnng), or a text file with a word per line"
_ESCAPE = re.compile(r"\\u\{([0-9a-f]{1,5})\}")
_ENDINGS = r"['’](?:s|d|m|ll|re|ve)\b"
# The words of sentences without quotation marks and numbers, as in the Penn Treebank.
_TREEBANK = re.compile(
    rf"\w+(?=n['’]t\b)|n['’]t\b|{_ENDINGS}|can(?=not\b)|\w+(?:-\w+|(?!{_ENDINGS})['’]\w+)*|[^\w\s]", re.IGNORECASE
)
_SECTIONS = re.compile(
    r"^[ \t]*(?:\[\[[ \t]*suite[ \t]*\]\]|\[[ \t]*(?:suite[ \t]*\.[ \t]*)?(?:conditions|predictions|items)[ \t]*\])",
    re.MULTILINE,
)


def claims(path: Path, head: str) -> bool:
    """Return whether this is a TOML file with a template section, which a long list of words may precede."""
    if path.suffix != ".toml":
        return False
    if not (found := _SECTIONS.search(head)) and len(head) >= 1000:
        found = _SECTIONS.search(utf8.beginning(path, MAX_CHARACTERS).decode(errors="replace"))
    return found is not None


def read(
    path: Path, *, n: str = "", seed: str = "1", style: str = "natural", suite: str = "", vocabulary: str = ""
) -> Iterator[Suite]:
    """Generate the suites of a template.

    Arguments:
        path: the TOML file.
        n: the maximum number of items per suite; the default is the number in the template.
        seed: the seed of the random draws.
        style: `natural`, or `published` for lower case without punctuation.
        suite: the name of the suite to generate; all suites by default.
        vocabulary: the folder of a word-level model, or a text file with a word per line. Only sentences of these words are
            generated.

    Raises:
        InputError: the file is not a template, or can't be filled; the message names the section, slot or row.
        UsageError: an option has a value that is not allowed.
    """
    if style not in STYLES:
        raise UsageError("style", toml.shown(style), " or ".join(STYLES))
    from syntagm.suites.templates import make

    number, first_seed = None if not n else _number("n", n, 1), _number("seed", seed, 0)
    checked_style: Style = "published" if style == "published" else "natural"
    yield from make.suites(templates(path, vocabulary), suite, number, first_seed, checked_style)


def templates(path: Path, vocabulary: str = "") -> "list[Template]":
    from syntagm.suites.templates import template
    from syntagm.suites.templates.lexicon import Vocabulary

    words = words_of(vocabulary) if vocabulary else None
    return [
        replace(own, vocabulary=Vocabulary(words)) if words else own
        for own in template.read(utf8.read(path), str(path), path.stem, partial(_lexicon, path))
    ]


def _lexicon(path: Path, name: str) -> "Lexicon":
    from syntagm.suites.templates import schema, template

    # Only a name is allowed, not a path, so that a template from an untrusted source can't read other folders.
    if not _NAME.fullmatch(name):
        raise InputError(f"{path}, lexicon", toml.shown(name), "a name of letters, digits, _ and -, without .toml")
    for place in (path.parent, LEXICONS):
        if (place / name / schema.SCHEMA).is_file():
            return schema.read(place / name)
        if (file := place / f"{name}.toml").is_file():
            return template.read_lexicon(utf8.read(file), str(file))
    bundled = [*LEXICONS.glob("*.toml"), *(file.parent for file in LEXICONS.glob(f"*/{schema.SCHEMA}"))]
    known = ", ".join(sorted({file.stem for file in bundled})) or "none"
    found = f"no {name}.toml and no folder {name} beside the template, and no bundled lexicon of this name"
    raise InputError(f"{path}, lexicon", found, f"a file or folder, or a bundled lexicon: {known}")


def _number(option: str, text: str, least: int) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) < least:
        raise UsageError(option, toml.shown(text), f"a whole number from {least} to 999999999")
    return int(text)


def words_of(vocabulary: str) -> "Words":
    """Return the words that the option `vocabulary` names: of the folder of a word-level model, or of a list."""
    # A model knows exactly the words of its vocabulary; so a word at the beginning of a sentence is known if it is in the
    # vocabulary with a capital. Its file `vocabulary.txt` is read here without the model: a line of JSON, then a word per
    # line, in which rare characters are written `\u{HEX}`. The model's `tokens`, in `model.json`, say whether sentences are
    # split at white space or as in the Penn Treebank.
    # A list has no rule for capitals: a word is known if it is listed as it stands or in lower case. So is a contraction or
    # a possessive of which all parts are listed. Punctuation is always known.
    source = Path(vocabulary)
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
def _of_model(text: str, name: str, at_blanks: bool) -> "Words":
    from syntagm.suites.templates.lexicon import Words

    known = frozenset(_ESCAPE.sub(lambda match: chr(int(match[1], 16)), line) for line in text.split("\n")[1:-1])
    return Words(_about(name, text, len(known)), str.split if at_blanks else treebank, known.__contains__)


@lru_cache(maxsize=2)
def _listed(text: str, place: str) -> "Words":
    from syntagm.suites.templates.lexicon import Words

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
