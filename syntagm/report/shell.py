"""What all pages share: how templates are read, the one script and style sheet, and the policy that allows no more."""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from syntagm.errors import UsageError
from syntagm.io import atomic
from syntagm.report import numbers
from syntagm.report.policy import content_policy

CEILING = 10_000_000
# Figures together take no more bytes than this, or half of the ceiling; all verdicts as CSV no more than that.
FIGURES, DATA = 5_000_000, 1_500_000
_HERE = Path(__file__).parent


@cache
def _environment() -> Environment:
    found = Environment(
        loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    found.globals.update(number=numbers.number, between=numbers.between, citation=numbers.citation)
    return found


def rendered(template: str, shown: Mapping[str, Any]) -> str:
    """A template that extends `shell.html`, filled in."""
    script, style = ((_HERE / name).read_text("utf-8") for name in ("page.js", "page.css"))
    frame = {
        "version": version("syntagm"),
        "policy": content_policy([script], [style]),
        "script": Markup(script),
        "style": Markup(style),
    }
    return _environment().get_template(template).render(frame, **shown)


def write_first(path: Path, versions: Iterable[str], ceiling: int) -> Path:
    """Write the first of several versions of a page, each with less on it, that is no larger than the ceiling.

    Raises:
        UsageError: none is.
        RunError: it can't be written.
    """
    size = 0
    for one in versions:
        content = one.encode()
        size = len(content)
        if size <= ceiling:
            atomic.write(path, content)
            return path
    found = f"{size:,} bytes without any item"
    raise UsageError("report", found, f"at most {ceiling:,}", "Report on fewer runs at a time.")
