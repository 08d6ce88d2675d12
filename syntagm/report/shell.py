"""The frame of every page: templates, the script, the style sheet, the content policy and the size limit."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from syntagm.display import visible
from syntagm.io import atomic, utf8
from syntagm.io.number import counted
from syntagm.report import numbers
from syntagm.report.policy import content_policy

CEILING = 10_000_000
# The most bytes for all figures together (or half of the ceiling, if that is less), and for all verdicts as CSV.
FIGURES, DATA = 5_000_000, 1_500_000
_HERE = Path(__file__).parent


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


def render_part(template: str, variables: Mapping[str, Any], folder: Path = _HERE) -> str:
    """Render a template of a part of a page.

    Arguments:
        folder: the folder of the templates.
    """
    return _environment(folder).get_template(template).render(variables)


def render(template: str, variables: Mapping[str, Any]) -> str:
    """Render a template that extends `shell.html`. Nothing on the page, or in the data of its script, hides or reorders text."""
    script, style = (utf8.read(_HERE / name) for name in ("page.js", "page.css"))
    frame = {
        "version": version("syntagm"),
        "policy": content_policy([script], [style]),
        "script": Markup(script),
        "style": Markup(style),
    }
    return visible(_environment(_HERE).get_template(template).render(frame, **variables))


def write_first(path: Path, versions: Iterable[str], ceiling: int) -> int:
    """Write the first version of a page that is no larger than the ceiling; return its size.

    If all are too large, write nothing, and return the size of the last one.

    Arguments:
        versions: versions of the page, each with less content than the previous one.
        ceiling: the maximum size of the page in bytes.

    Raises:
        RunError: the page can't be written.
    """
    size = 0
    for page in versions:
        content = page.encode()
        size = len(content)
        if size <= ceiling:
            atomic.write(path, content)
            break
    return size
