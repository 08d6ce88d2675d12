"""The editor of templates: CodeMirror in one file, which is made when the package is built.

Its packages are pinned in `pages/package-lock.json`, and `npm run build` there makes the file. Without it, templates are
edited in a plain field.
"""

from syntagm.studio.frame import PAGES

BUNDLE = PAGES / "lib" / "editor.js"


def is_built() -> bool:
    """Return whether this installation has the editor."""
    return BUNDLE.is_file()
