"""Escaping for Markdown, so that texts of suites are shown unchanged and never interpreted as markup."""

import re
from collections.abc import Sequence

from syntagm.core import shown

# An underscore within a word, and an ampersand that does not begin an entity, need no escape.
_MARKUP = re.compile(r"([\\`*\[\]<|~]|(?<!\w)_|_(?!\w)|&(?=#?\w+;))")
_AT_THE_START = re.compile(r"^(\s*(?=[-+>#])|\s*\d+(?=[.)]))")


def text(plain: str) -> str:
    r"""Return a text on one line, with Markdown markup escaped.

    >>> text("*The <b> | a_b _c_ &amp; R&D\n  d")
    '\\*The \\<b> \\| a_b \\_c\\_ \\&amp; R&D d'
    >>> text("- 1"), text("1. a")
    ('\\- 1', '1\\. a')
    """
    return _AT_THE_START.sub(r"\1\\", _MARKUP.sub(r"\\\1", _line(plain)))


def bold(plain: str) -> str:
    """Return a text in bold.

    >>> bold("are"), bold(".")
    ('**are**', '<b>.</b>')
    """
    # Markdown reads stars between a letter and a punctuation mark as plain stars.
    edges = plain[:1].isalnum() and plain[-1:].isalnum()
    return f"**{text(plain)}**" if edges else f"<b>{text(plain)}</b>"


def code(plain: str) -> str:
    """Return a text as code, or as plain text if it has characters that code in a table can't contain.

    >>> code("match_sing"), code("a|b")
    ('`match_sing`', 'a\\\\|b')
    """
    line = _line(plain)
    return text(line) if set("`|") & set(line) or not line.strip() else f"`{line}`"


def link(heading: str) -> str:
    """Return a link to the heading on the same page that consists of this text as code.

    >>> link("npz_ambig")
    '[`npz_ambig`](#npz_ambig)'
    """
    anchor = re.sub(r"[^\w\- ]", "", _line(heading).lower()).replace(" ", "-")
    return f"[{code(heading)}](#{anchor})"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; its cells are Markdown.

    >>> print(table(("a", "b"), [("1", "2")]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = [head, *rows]
    shown = [f"| {' | '.join(cells)} |" for cells in lines]
    return "\n".join([shown[0], "|" + "---|" * len(head), *shown[1:]])


def join(parts: Sequence[str]) -> str:
    """Join parts of a sentence by commas, the last two by "and".

    >>> join(["a"]), join(["a", "b"]), join(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def _line(plain: str) -> str:
    return shown(re.sub(r"\s+", " ", plain))
