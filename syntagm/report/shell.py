"""The frame of every page: templates, the script, the style sheet, the content policy and the size limit."""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from syntagm.core import atomic, counted, extras, utf8, visible
from syntagm.report import numbers

# Text from materials and models is untrusted. Templates escape it. Data for scripts is JSON in which no character can
# end the script element or begin another. The policy names each script and style sheet by its hash.
_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def embed(value: object) -> str:
    """Return a value as JSON that is safe inside a script element.

    >>> embed({"text": "</script>"})
    '{"text":"\\\\u003c/script\\\\u003e"}'
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(_ESCAPES)


def content_policy(scripts: Sequence[str], styles: Sequence[str]) -> str:
    """Return the Content-Security-Policy of a page, given the text of its script and style elements."""
    allowed = {"script-src": scripts, "style-src": styles}
    named = [
        f"{kind} {' '.join(map(_source, sources)) or chr(39) + 'none' + chr(39)}" for kind, sources in allowed.items()
    ]
    return "; ".join(["default-src 'none'", *named, "base-uri 'none'", "form-action 'none'"])


def _source(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


CEILING = 10_000_000
# The most bytes for all figures together (or half of the ceiling, if that is less), and for all verdicts as CSV.
FIGURES, DATA = 5_000_000, 1_500_000
_HERE = Path(__file__).parent
_TEMPLATES = _HERE / "templates"


class _Loader(FileSystemLoader):
    """A loader of templates, in which an indented line continues the line above it."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        source, path, is_current = super().get_source(environment, template)
        return re.sub(r"\n +", " ", source), path, is_current


@cache
def _environment(folder: Path) -> Environment:
    environment = Environment(
        loader=_Loader(folder), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(breakable=numbers.breakable, counted=counted)
    return environment


def render_part(template: str, variables: Mapping[str, Any], folder: Path = _TEMPLATES) -> str:
    return _environment(folder).get_template(template).render(variables)


@dataclass(frozen=True, slots=True)
class Frame:
    style: Markup  # `style`, `script`: the elements with the style sheet and the script
    script: Markup
    policy: str = ""  # the content policy of the page; "" if a server sends it as a header
    remark: str = ""  # what the foot of the page says about it


def link(folder: str, policy: str = "", remark: str = "") -> Frame:
    """Return the frame of a page whose style sheet and script are files in a folder."""
    return Frame(
        Markup('<link rel="stylesheet" href="%sstyle.css">') % folder,
        Markup('<script src="%sscript.js" defer></script>') % folder,
        policy,
        remark,
    )


STYLE, SCRIPT = (utf8.read(_HERE / name) for name in ("page.css", "page.js"))
# The frame of a page that is one file, and of one that a server sends.
WHOLE = Frame(
    Markup("<style>%s</style>") % Markup(STYLE),
    Markup("<script>%s</script>") % Markup(SCRIPT),
    content_policy([SCRIPT], [STYLE]),
    "This page is one file and loads nothing else.",
)
LINKED = link("/")


def render(template: str, variables: Mapping[str, Any], frame: Frame = WHOLE) -> str:
    """Render a template that extends `shell.html`. Nothing on the page, or in the data of its script, hides or reorders text."""
    around = {"version": extras.version("syntagm"), "frame": frame}
    return visible(_environment(_TEMPLATES).get_template(template).render(around, **variables))


def write_first(path: Path, versions: Iterable[str], ceiling: int) -> int:
    """Write the first version of a page that is no larger than the ceiling; return its size."""
    # If all are too large, write nothing, and return the size of the last one.
    size = 0
    for page in versions:
        content = page.encode()
        size = len(content)
        if size <= ceiling:
            atomic.write(path, content)
            break
    return size
