"""Templates of our own, TOML files: a suite as slots, patterns and words (docs/reference/templates.md).

A lexicon that a template names is the file of that name beside it (`words.toml` for `lexicon = "words"`) or a bundled one.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from syntagm.errors import InputError, UsageError
from syntagm.io import utf8
from syntagm.io.toml import MAX_CHARACTERS, shown
from syntagm.suite import Suite
from syntagm.templates import make, template
from syntagm.templates.lexicon import LexicalClass
from syntagm.templates.spelling import STYLES, Style

ENDINGS = (".toml",)
LEXICONS = Path(__file__).resolve().parent.parent / "materials" / "lexicon"
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_SECTIONS = re.compile(
    r"^[ \t]*(?:\[\[[ \t]*suite[ \t]*\]\]|\[[ \t]*(?:suite[ \t]*\.[ \t]*)?(?:conditions|predictions|items)[ \t]*\])",
    re.MULTILINE,
)


def claims(path: Path, head: str) -> bool:
    """A TOML file with a section of a template; words that stand before it can be many."""
    if path.suffix != ".toml":
        return False
    return _SECTIONS.search(head) is not None or (len(head) >= 1000 and _SECTIONS.search(_whole(path)) is not None)


def _whole(path: Path) -> str:
    return utf8.beginning(path, MAX_CHARACTERS).decode("utf-8", errors="replace")


def read(path: Path, *, n: str = "", seed: str = "1", style: str = "natural", suite: str = "") -> Iterator[Suite]:
    """The suites that a template makes.

    Arguments:
        path: the TOML file.
        n: how many items of each suite at most, if not those that the template says.
        seed: of the draws, where items are drawn.
        style: `natural`, or `published`: lower case and no punctuation.
        suite: the name of one suite, if the file makes several and only one is wanted.

    Raises:
        InputError: no template, or one that can't be filled; with section, slot or row.
        UsageError: an option that can't be taken.
    """
    if style not in STYLES:
        raise UsageError("style", shown(style), " or ".join(STYLES))
    number, start = None if not n else _number("n", n, 1), _number("seed", seed, 0)
    spelled: Style = "published" if style == "published" else "natural"
    yield from make.suites(templates(path), suite, number, start, spelled)


def templates(path: Path) -> list[template.Template]:
    """The templates of a file, one for each suite that it makes; InputError if it holds none."""

    def classes_of(name: str) -> Mapping[str, LexicalClass]:
        return _lexicon(path, name)

    return template.read(utf8.read(path), str(path), path.stem, classes_of)


def _lexicon(path: Path, name: str) -> Mapping[str, LexicalClass]:
    # A name only, never a path: a template that comes from elsewhere must not read other places.
    if not _NAME.fullmatch(name):
        raise InputError(f"{path}, lexicon", shown(name), "a name of letters, digits, _ and -, without .toml")
    for place in (path.parent, LEXICONS):
        if (file := place / f"{name}.toml").is_file():
            return template.classes(utf8.read(file), str(file))
    known = ", ".join(sorted(file.stem for file in LEXICONS.glob("*.toml"))) or "none"
    found = f"no {name}.toml beside the template and no bundled lexicon of this name"
    raise InputError(f"{path}, lexicon", found, f"a file, or one of the bundled: {known}")


def _number(option: str, text: str, least: int) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) < least:
        raise UsageError(option, shown(text), f"a number from {least} to 999,999,999")
    return int(text)
