"""The texts of an experimenter as HTML: headings, paragraphs, lists and emphasis of Markdown, and nothing else."""

import re
from collections.abc import Iterator

from markupsafe import Markup, escape

_STRONG = re.compile(r"\*\*(.+?)\*\*")
_EMPHASIS = re.compile(r"(?<![*\w])[*_](?! )(.+?)(?<! )[*_](?![*\w])")


def html(text: str) -> Markup:
    """Return a text as HTML. Everything in it is escaped, so that it can't contain markup of its own.

    >>> print(html("# Hello\\n\\nYou *may* stop <now>.\\n\\n* one\\n* two"))
    <h1>Hello</h1>
    <p>You <em>may</em> stop &lt;now&gt;.</p>
    <ul><li>one</li><li>two</li></ul>
    """
    return Markup("\n").join(_blocks(text))


def _blocks(text: str) -> Iterator[Markup]:
    for block in re.split(r"\n\s*\n", text.strip()):
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        if not lines:
            continue
        if heading := re.fullmatch(r"(#{1,3}) +(.+)", lines[0]):
            level = len(heading[1])
            yield Markup("<h%d>%s</h%d>") % (level, _inline(heading[2]), level)
            lines = lines[1:]
        if lines and all(re.match(r"[*-] ", line) for line in lines):
            yield Markup("<ul>%s</ul>") % Markup().join(Markup("<li>%s</li>") % _inline(line[2:]) for line in lines)
        elif lines:
            yield Markup("<p>%s</p>") % _inline(" ".join(lines))


def _inline(text: str) -> Markup:
    marked = _STRONG.sub(r"<strong>\1</strong>", str(escape(text)))
    return Markup(_EMPHASIS.sub(r"<em>\1</em>", marked))
