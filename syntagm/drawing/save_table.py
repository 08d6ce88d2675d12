"""Tables as files: CSV with all digits, Markdown and LaTeX as people read them."""

from pathlib import Path

from syntagm.drawing.table import Table
from syntagm.io import atomic


def save(table: Table, stem: Path) -> list[Path]:
    """Write `stem`.csv, .md and .tex; the paths written.

    Raises:
        RunError: the folder can't be written.
    """
    contents = {"csv": table.csv(), "md": table.markdown(), "tex": table.latex()}
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in contents]
    for path, content in zip(paths, contents.values(), strict=True):
        atomic.write(path, content.encode())
    return paths
