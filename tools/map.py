"""Generator of docs/map.md, the map of the package: each file with the first sentence of its docstring.

python -m tools.map
"""

import argparse
import ast
import re
from pathlib import Path

from tools import blocks

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "syntagm"
PAGE = ROOT / "docs" / "map.md"
# To parse whole files takes seconds.
DOCSTRING = re.compile(r'r?""".*?"""', re.DOTALL)
HEAD = """# Map of the package

For contributors: every file with the first sentence of its docstring. `python -m tools.map` writes this page.

"""


def summary(path: Path) -> str:
    """Return the first sentence of a module's docstring, on one line."""
    literal = DOCSTRING.match(path.read_text(encoding="utf-8"))
    docstring: str = ast.literal_eval(literal[0]) if literal else ""
    return " ".join(docstring.split("\n\n")[0].split())


def entries(folder: Path, depth: int = 0) -> list[str]:
    """List a folder and its contents as nested items of a Markdown list."""
    indent = "  " * depth
    lines = item(f"{indent}- **{folder.name}/** {summary(folder / '__init__.py')}")
    for path in sorted(path for path in folder.glob("*.py") if path.name != "__init__.py"):
        lines += item(f"{indent}  - `{path.name}` {summary(path)}")
    for inner in sorted(path.parent for path in folder.glob("*/__init__.py")):
        lines += entries(inner, depth + 1)
    return lines


def item(text: str) -> list[str]:
    """Break an item of a list into lines."""
    indent = " " * (text.index("-") + 2)
    return blocks.wrapped(text, indent)


def page() -> str:
    """Return the whole page."""
    return HEAD + "\n".join(entries(PACKAGE)) + "\n"


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    PAGE.write_text(page(), encoding="utf-8")
