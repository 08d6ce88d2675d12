"""The frame of the studio's pages: its templates, its style sheet and scripts, and the ways between pages."""

import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape
from starlette.responses import Response

from syntagm.core import utf8
from syntagm.report import html_page, shell

PAGES = Path(__file__).resolve().parent / "pages"
STYLE, SCRIPT = (utf8.read(PAGES / name) for name in ("studio.css", "studio.js"))


# The pages of the studio; the last two need a folder to write to.
TRY, WRITE, JOBS = ("Try", "/try"), ("Write", "/write"), ("Jobs", "/jobs")


# No text from elsewhere contains it: the text of a field stands behind it until the page is rendered.
_MARK = f"raw-{secrets.token_hex(16)}-"
_MARKED = re.compile(f"{_MARK}([0-9a-f]*)\\.")


class Raw:
    """Text in a field, character by character."""

    # What hides or reorders text is replaced by its code on every page. In a field whose content is sent back it must
    # stay as it is, or sending would change it.

    def __init__(self, text: str) -> None:
        self.text = text

    def __html__(self) -> str:
        """Return what is replaced by the text when the page is rendered; templates call this."""
        return f"{_MARK}{self.text.encode().hex()}."


def _unmarked(marked: re.Match[str]) -> str:
    return str(escape(bytes.fromhex(marked[1]).decode()))


def options(names: Iterable[str], chosen: str) -> Markup:
    """Return what a field offers.

    >>> print(options(["a", "b"], "b"))
    <option>a</option><option selected>b</option>
    """
    listed = (Markup("<option%s>%s</option>") % (Markup(" selected" if name == chosen else ""), name) for name in names)
    return Markup("").join(listed)


@dataclass(frozen=True, slots=True)
class Ways:
    """The pages to which every page of the studio leads."""

    listed: tuple[tuple[str, str], ...]  # label and path of each


def respond(
    ways: Ways, here: str, template: str, title: str, variables: Mapping[str, Any], status: int = 200
) -> Response:
    style = Markup('<link rel="stylesheet" href="/studio.css">')
    script = Markup('<script src="/studio.js" defer></script>')
    shown = [(label, path, path == here) for label, path in ways.listed]
    inner = shell.render_part(template, {**variables, "ways": shown}, PAGES)
    around = shell.Frame(shell.LINKED.style + style, shell.LINKED.script + script)
    html = shell.render("plain.html", {"heading": title, "content": Markup(inner)}, around)
    return html_page(_MARKED.sub(_unmarked, html), status)
