"""Syntagm's templates: TOML files with slots, patterns and words, from which suites are generated.

docs/reference/templates.md describes the language. The lexicon of a template is a file in the same folder (`words.toml`
for `lexicon = "words"`) or a bundled file.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm.core import MAX_CHARACTERS, InputError, UsageError, toml, utf8
from syntagm.suites.suite import Suite
from syntagm.suites.templates.spelling import STYLES, Style

# Every format is asked whether a file is its own; only templates need what reads them.
if TYPE_CHECKING:
    from syntagm.suites.templates.lexicon import Lexicon
    from syntagm.suites.templates.template import Template
    from syntagm.suites.templates.vocabulary import Words

ENDINGS = (".toml",)
LEXICONS = Path(__file__).resolve().parent.parent / "materials" / "lexicon"
_NAME = re.compile(r"[A-Za-z0-9_-]+")
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
    """Read the templates of a file, one for each suite."""
    from syntagm.suites.templates import template
    from syntagm.suites.templates.vocabulary import Vocabulary

    def lexicon_of(name: str) -> "Lexicon":
        return _lexicon(path, name)

    words = words_of(vocabulary) if vocabulary else None
    return [
        replace(own, vocabulary=Vocabulary(words)) if words else own
        for own in template.read(utf8.read(path), str(path), path.stem, lexicon_of)
    ]


def words_of(vocabulary: str) -> "Words":
    """Return the words that the option `vocabulary` names."""
    from syntagm.suites.formats import _vocabulary

    return _vocabulary.read(Path(vocabulary))


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
