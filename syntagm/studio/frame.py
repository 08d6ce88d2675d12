"""The frame of the studio's pages: its templates, its style sheet and scripts, and the ways between pages."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape
from starlette.responses import Response

from syntagm.io import utf8
from syntagm.report import shell
from syntagm.serve.routes import page

PAGES = Path(__file__).resolve().parent / "pages"
STYLE, SCRIPT = (utf8.read(PAGES / name) for name in ("studio.css", "studio.js"))


# The pages of the studio; the last two need a folder to write to.
TRY, WRITE, JOBS = ("Try", "/try"), ("Write", "/write"), ("Jobs", "/jobs")


class Raw:
    """Text of a suite on a page, character by character.

    What hides or reorders text is replaced by its code on every page. In the field in which a suite is edited it must
    stay as it is, or saving would change it.
    """

    def __init__(self, text: str) -> None:
        self.text, self.mark = text, secrets.token_hex(16)

    def __html__(self) -> str:
        """Return the mark in whose place the text is put; templates call this."""
        return self.mark


@dataclass(frozen=True, slots=True)
class Ways:
    """The pages to which every page of the studio leads.

    Arguments:
        listed: label and path of each.
    """

    listed: tuple[tuple[str, str], ...]


def respond(
    ways: Ways, here: str, template: str, title: str, variables: Mapping[str, Any], status: int = 200
) -> Response:
    """Return an answer with a page of the studio.

    Arguments:
        here: the path of the page, or of the one that it belongs to, among the ways.
        template: the template of what stands below the title, in the folder `pages`.
        title: the title of the page.
    """
    style = Markup('<link rel="stylesheet" href="/studio.css">')
    script = Markup('<script src="/studio.js" defer></script>')
    shown = [(label, path, path == here) for label, path in ways.listed]
    inner = shell.render_part(template, {**variables, "ways": shown}, PAGES)
    around = shell.Frame(shell.LINKED.style + style, shell.LINKED.script + script)
    html = shell.render("plain.html", {"heading": title, "content": Markup(inner)}, around)
    for value in variables.values():
        if isinstance(value, Raw):
            html = html.replace(value.mark, str(escape(value.text)))
    return page(html, status)
