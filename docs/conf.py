"""Settings of the documentation site: Sphinx with MyST. `make docs` builds it."""

import inspect
import re
from importlib.metadata import version as installed
from pathlib import Path

from sphinx.application import Sphinx

import syntagm
from tools import collection_pages

project = "Syntagm"
author = "The authors of Syntagm"
copyright = "The authors of Syntagm. MIT licence"
release = version = installed("syntagm")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
suppress_warnings = [
    "myst.header",  # pages of collections, which a program writes, leave a level out
    "misc.highlighting_failure",  # tutorials show files with a mistake in them
]

# Pages link to headings as they do on GitHub.
myst_heading_anchors = 4

# Two hyphens begin an option: they are no dash.
smartquotes_action = "qe"

html_theme = "furo"
html_title = "Syntagm"
html_show_sourcelink = False
html_copy_source = False

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
add_module_names = False


def public_names(kind: str) -> str:
    """Return directives that document the public functions, types or exceptions of the package."""
    lines = ["```{eval-rst}"]
    for name in syntagm.__all__:
        public = getattr(syntagm, name)
        is_class = inspect.isclass(public)
        is_error = is_class and issubclass(public, Exception)
        if kind == ("exceptions" if is_error else "types" if is_class else "functions"):
            lines += [f".. auto{'exception' if is_error else 'class' if is_class else 'function'}:: syntagm.{name}"]
            lines += ["   :members:"] if kind == "types" else []
            lines += [""]
    return "\n".join([*lines, "```"])


def fill_in(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the public names where a page asks for them, so that no list of them is kept by hand."""
    source[0] = re.sub(r"^% public (\w+)$", lambda place: public_names(place[1]), source[0], flags=re.MULTILINE)


def code(app: Sphinx, what: str, name: str, public: object, options: object, lines: list[str]) -> None:
    """Turn single backticks, which mark code in the docstrings of the package, into those of reStructuredText."""
    # An escaped space ends the code where a letter follows it.
    text = re.sub(r"(?<!`)`([^`]+)`(?!`)", lambda span: f"``{span[1].strip()}``\\ ", "\n".join(lines))
    lines[:] = text.split("\n")


def write_collections(app: Sphinx) -> None:
    """Write the pages about the bundled collections, which are not kept in the repository."""
    collection_pages.write(Path(app.srcdir) / "reference" / "collections")


def setup(app: Sphinx) -> None:
    """Connect what is done while pages are read."""
    app.connect("builder-inited", write_collections)
    app.connect("source-read", fill_in)
    app.connect("autodoc-process-docstring", code)
