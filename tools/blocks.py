"""Generated parts of pages. A part stands between two comments; the text around it is written by hand.

    <!-- NAME: written by python -m tools.TOOL -->

    content

    <!-- end of NAME -->

After the name of the tool, `; HOW` may say which part of a result is shown, on several lines if it is long.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from textwrap import wrap

_BEGIN = r"<!-- (?P<name>[^:\n]+): written by python -m tools\.(?P<tool>\w+)(?:;\s(?P<how>[^>]+?))? -->"
_BLOCK = re.compile(
    rf"^(?P<begin>{_BEGIN})\n(?P<content>.*?)^(?P<end><!-- end of (?P=name) -->)$", re.DOTALL | re.MULTILINE
)
_MARK = re.compile(r"^<!-- (?:end of [^>]*|[^>:]*: written by [^>]*) -->$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A generated part of a page.

    Arguments:
        name, tool, how: as in the comment above it; `how` is empty if there is none.
        begin, finish: the comments.
        content: what stands between them, without the empty lines around it.
        start, end: the place of the block with its comments in the text.
    """

    name: str
    tool: str
    how: str
    begin: str
    finish: str
    content: str
    start: int
    end: int


def find(text: str) -> list[Block]:
    """Return the blocks of a page.

    Raises:
        ValueError: a comment is not part of a pair.

    >>> [block.content for block in find("A\\n<!-- x: written by python -m tools.y -->\\n\\n1\\n\\n<!-- end of x -->\\n")]
    ['1']
    """
    found = [
        Block(
            place["name"], place["tool"], " ".join((place["how"] or "").split()), place["begin"], place["end"],
            place["content"].strip("\n"), place.start(), place.end(),
        )
        for place in _BLOCK.finditer(text)
    ]  # fmt: skip
    inside = [(block.start, block.end) for block in found]
    for mark in _MARK.finditer(text):
        if not any(start == mark.start() or end == mark.end() for start, end in inside):
            raise ValueError(
                f"{mark[0]} has no counterpart; a block begins and ends with a comment on a line of its own"
            )
    return found


def renewed(text: str, tool: str, write: Callable[[Block], str]) -> str:
    """Return the text of a page with the content of each block of a tool renewed by `write`."""
    for block in reversed(find(text)):
        if block.tool == tool:
            content = write(block).strip("\n")
            part = f"{block.begin}\n\n{content}\n\n{block.finish}"
            text = text[: block.start] + part + text[block.end :]
    return text


def wrapped(text: str, indent: str = "") -> list[str]:
    """Break a text into lines of at most 120 characters; lines after the first are indented."""
    return wrap(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
